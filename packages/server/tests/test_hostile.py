"""Input that means harm: script in names, paths in file names, files that are too large, too deep, or packed."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import socket
from urllib.parse import urlsplit

import pytest
from study_world import Person, make, triplet_file

from sacrecap_server.web.context import Role
from sacrecap_studies.answers import no_formula

SCRIPT = "<script>alert(1)</script>"


def test_script_is_only_ever_text(world):
    """Title, instructions, systems, sentences, worker ids, addresses: none of it is a tag on any page."""
    file = triplet_file(title=SCRIPT, instructions=SCRIPT + "\n{{ 7 * 7 }}", contact=SCRIPT)
    for item in file["items"]:
        item |= {"b_system": SCRIPT, "b": SCRIPT}
    study = make(world, file)
    Person(world, study, worker=SCRIPT).begin().answer(choice="b")
    paths = [f"/studies/{study.id}{path}" for path in ("", "/quality", "/answers", "/people", "/edit", "/preview")]
    paths += ["/", "/studies", f"/s/{study.code}", f"/studies/{SCRIPT}", f"/{SCRIPT}", f"/sign-in?next={SCRIPT}"]
    paths += [f"/sign-in?notice={SCRIPT}", f"/studies/{study.id}/answers?image={SCRIPT}", "/studies?notice=saved"]
    for browser, path in itertools.product([world.browser(role) for role in Role], paths):
        page = browser.get(path)
        assert page.status_code < 500
        assert "<script>" not in page.text
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "unsafe" not in page.headers["content-security-policy"]
        assert " style=" not in page.text
        assert " onclick=" not in page.text


def test_script_in_a_wrong_file_is_text(world):
    files = {"file": (f"{SCRIPT}.json", json.dumps({SCRIPT: SCRIPT}))}
    answer = world.browser(Role.OWNER).post("/studies", files=files)
    assert answer.status_code == 422
    assert "<script>" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_static_files_stay_in_their_folder(world):
    browser = world.browser()
    assert browser.get("/static/site.css").status_code == 200
    for path in ("../__init__.py", "..%2f__init__.py", "%2e%2e/__init__.py", "%2e%2e%2f__init__.py", "/etc/passwd"):
        assert browser.get(f"/static/{path}").status_code == 404, path


def test_no_file_is_more_than_refused(world):
    owner, api = world.browser(Role.OWNER), world.api(Role.OWNER)
    for data in (
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"study": "triplet", "items": [' + b"[" * 10_000 + b"]" * 10_000 + b"]}",
        b"",
        b"\xff\xfe\x00",
        b"\x00" * 1000,
        b'{"study": NaN}',
        b"[1e999]",
        b'"' + b"a" * 100_000 + b'"',
        b'{"study": "triplet", "title": "\\ud800", "items": []}',
        json.dumps({"study": "triplet", "judgments": 10**400}).encode(),
        gzip.compress(b"[" + b" " * 20_000_000 + b"]"),
    ):
        page = owner.post("/studies", files={"file": ("a.json", data)})
        assert page.status_code == 422, data[:50]
        assert len(page.text) < 500_000
        answer = api.post("/api/v1/studies", content=data)
        assert answer.status_code == 422, data[:50]
        assert answer.json()["error"]["problems"]


def test_uploads_of_a_hundred_megabytes_are_refused(site):
    """Refused by what they say of their size, and, where they do not say it, by what arrives."""
    for header in ("Content-Length: 104857600", "Transfer-Encoding: chunked"):
        with socket.create_connection(("127.0.0.1", urlsplit(site.url).port)) as connection:
            start = f"POST /sign-in HTTP/1.1\r\nHost: localhost\r\n{header}\r\n"
            connection.sendall(start.encode() + b"Content-Type: multipart/form-data; boundary=x\r\n\r\n")
            if "chunked" in header:
                chunk = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'.ljust(0x100000)
                with contextlib.suppress(OSError):
                    for _ in range(100):
                        connection.sendall(b"100000\r\n" + chunk + b"\r\n")
                        chunk = b"a" * 0x100000
            assert b" 413 " in connection.recv(1000).splitlines()[0]


def test_forms_of_very_many_fields_are_refused(world):
    """A field is an object in memory, even an empty one: their number is limited, not only their bytes."""
    browser = world.browser()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert browser.client.post("/sign-in", content=b"a=&" * 1_000_000, headers=kind).status_code == 413
    for piece, status in ((b"a=&" * 10_000, 400), (b"a=".ljust(10_000, b"a"), 413)):
        pieces = (piece for _ in range(100))
        assert browser.client.post("/sign-in", content=pieces, headers=kind).status_code == status
    parts = b"".join(b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' for _ in range(2000)) + b"--x--"
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    assert browser.client.post("/sign-in", content=parts, headers=kind).status_code == 400


def test_a_foreign_host_name_is_refused(world):
    """A page of elsewhere whose name leads here (DNS rebinding) gets nothing."""
    assert world.browser().get("/", headers={"Host": "evil.example"}).status_code == 421
    assert world.browser().get("/", headers={"Host": "localhost:8080"}).status_code == 303


def test_headers_are_on_every_answer(world):
    for path in ("/", "/nope", "/static/site.css", "/api/v1/studies", "/healthz", "/studies"):
        headers = world.browser().get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert world.browser().get("/sign-in").headers["cache-control"] == "no-store"


def test_over_https_cookies_and_transport_are_strict(new_world):
    public = {"public_url": "https://evaluation.example.org", "behind_proxy": "127.0.0.1"}
    world = new_world(**public)
    answer = world.browser().get("/sign-in", headers={"Host": "evaluation.example.org"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-sacrecap=")
    for part in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert part in cookie
    assert "max-age" in answer.headers["strict-transport-security"]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_cells_that_a_spreadsheet_would_run(sign):
    assert no_formula(f"{sign}1+1") == f"'{sign}1+1"
    assert no_formula(f"1{sign}1") == f"1{sign}1"


def test_static_files_are_asked_for_again_and_sent_once(world):
    client = world.client()
    answer = client.get("/static/site.css")
    assert (answer.headers["content-type"], answer.status_code) == ("text/css; charset=utf-8", 200)
    assert answer.headers["cache-control"] == "no-cache"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    again = client.get("/static/site.css", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_head_is_get_without_the_body(world):
    """Monitors and link checkers ask with HEAD."""

    def lasting(answer):
        return {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "set-cookie")}

    for path in ("/", "/sign-in", "/static/site.css", "/api/v1/studies", "/healthz", "/nope", "/studies"):
        client = world.client()
        head, got = client.head(path), client.get(path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert lasting(head) == lasting(got), path


def test_monitors_come_by_any_host_name(world):
    """Probes of a cluster ask by address or by the service's name."""
    for host in ("10.0.0.3:8080", "sacrecap:8080"):
        assert world.client().get("/healthz", headers={"Host": host}).status_code == 200
        assert world.client().get("/", headers={"Host": host}).status_code == 421
