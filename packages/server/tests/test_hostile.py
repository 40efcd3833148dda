"""Input that means harm: script in names, paths in file names, files that are too large, too deep, or packed."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import json
import re
import socket
import zipfile
from urllib.parse import urlsplit

import pytest

from sacrecap_server.accounts.access import Role, new_token
from sacrecap_server.store.models import Account, Team
from sacrecap_server_testing.benchmark import SYSTEMS, make, submit
from sacrecap_studies.export import no_formula

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def hostile(world):
    """A world in which team, affiliation, system, file, benchmark and captions are script."""
    make(world, title=SCRIPT, description=SCRIPT + "\n{{ 7 * 7 }}")
    world.account(Role.MEMBER)
    with world.database.write() as session:
        team = session.get_one(Team, session.get_one(Account, world.accounts[Role.MEMBER]).team_id)
        team.name = team.affiliation = SCRIPT
    captions = json.loads(SYSTEMS["careful"])
    captions[next(iter(captions))] = SCRIPT
    sent = submit(world, json.dumps(captions).encode(), system=SCRIPT, name=SCRIPT + ".json")
    assert sent.status_code == 303, sent.text
    world.run_jobs()
    return world


def test_script_is_only_ever_text(hostile):
    paths = (
        "/",
        "/account",
        "/benchmarks",
        "/benchmarks/ours",
        "/benchmarks/ours/history",
        "/benchmarks/ours/submit",
        "/benchmarks/ours/edit",
        "/benchmarks/ours/submissions",
        "/benchmarks/ours/compare?a=1&b=1",
        "/submissions",
        "/submissions/1",
        "/admin",
        "/admin/audit",
        f"/benchmarks/{SCRIPT}",
        f"/{SCRIPT}",
        f"/sign-in?next={SCRIPT}",
        f"/benchmarks/ours?sort={SCRIPT}",
        f"/sign-in?notice={SCRIPT}",
        "/benchmarks/ours?notice=saved",
    )
    for browser, path in itertools.product([hostile.browser(role) for role in Role], paths):
        page = browser.get(path)
        assert page.status_code < 500
        assert "<script>" not in page.text
        assert "49" not in page.text.replace("&#", "") or "{{ 7" in page.text or path != "/benchmarks/ours"
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "unsafe" not in page.headers["content-security-policy"]
        assert " style=" not in page.text
        assert " onclick=" not in page.text


def test_script_in_a_wrong_file_is_text(world):
    make(world)
    answer = submit(world, json.dumps({SCRIPT: SCRIPT}).encode())
    assert answer.status_code == 422
    assert "<script>" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_file_names_are_only_shown(world, tmp_path):
    make(world, quota_day=9)
    before = sorted(path.name for path in tmp_path.iterdir())
    api = world.api(Role.MEMBER)
    for name in ["../../etc/passwd", "..\\..\\boot.ini", "/etc/passwd", "a\x07b.json", "x" * 5000, ""]:
        answer = api.post(
            "/api/v1/benchmarks/ours/submissions",
            params={"system": "x", "file_name": name[:200]},
            content=SYSTEMS["careful"] + b" " * len(name),
        )
        assert answer.status_code == 201
        assert not {"/", "\\", "\x07"} & set(answer.json()["file_name"])
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_static_files_stay_in_their_folder(world):
    browser = world.browser()
    assert browser.get("/static/site.css").status_code == 200
    for path in ("../__init__.py", "..%2f__init__.py", "%2e%2e/__init__.py", "%2e%2e%2f__init__.py", "/etc/passwd"):
        assert browser.get(f"/static/{path}").status_code == 404, path


def test_no_file_is_more_than_refused(world):
    make(world)
    api = world.api(Role.ADMIN)
    for data in (
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'[{"image_id":' + b"[" * 10_000 + b"]" * 10_000 + b',"caption":"x"}]',
        b"",
        b"\xff\xfe\x00",
        b"\x00" * 1000,
        b'{"image_id": NaN}',
        b"[1e999]",
        b'"' + b"a" * 100_000 + b'"',
        b'[{"image_id": 1, "caption": "\\ud800"}]',
        json.dumps([{"image_id": 10**400, "caption": "x"}]).encode(),
        gzip.compress(b"[" + b" " * 50_000_000 + b"]"),
    ):
        page = submit(world, data)
        assert page.status_code == 422, data[:50]
        assert len(page.text) < 500_000
        answer = api.post("/api/v1/benchmarks/ours/submissions?system=x", content=data)
        assert answer.status_code == 422, data[:50]
        assert answer.json()["error"]["problems"]


def test_a_zip_bomb_is_not_opened(world):
    make(world)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("captions.json", b" " * 20_000_000)
    answer = submit(world, packed.getvalue())
    assert answer.status_code == 422
    assert "This is a zip file" in answer.text


def test_a_long_caption_is_a_problem(world):
    make(world)
    captions = json.loads(SYSTEMS["careful"])
    captions[next(iter(captions))] = "a " * 5000
    assert "longer than 2000 characters" in submit(world, json.dumps(captions).encode()).text


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
    assert world.browser().get("/", headers={"Host": "localhost:8080"}).status_code == 200


def test_headers_are_on_every_answer(world):
    for path in ("/", "/nope", "/static/site.css", "/api/v1/benchmarks", "/healthz", "/account"):
        headers = world.browser().get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert world.browser().get("/sign-in").headers["cache-control"] == "no-store"


def test_over_https_cookies_and_transport_are_strict(new_world):
    public = {"public_url": "https://evaluation.example.org", "behind_proxy": "127.0.0.1"}
    world = new_world(**public, registration="invitation")
    answer = world.browser().get("/sign-in", headers={"Host": "evaluation.example.org"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-sacrecap=")
    for part in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert part in cookie
    assert "max-age" in answer.headers["strict-transport-security"]


def test_names_that_a_spreadsheet_would_run_are_inert(world):
    make(world)
    submit(world, SYSTEMS["careful"], system='=HYPERLINK("http://evil.example")')
    world.run_jobs()
    assert "'=HYPERLINK" in world.browser().get("/benchmarks/ours/board.csv").text


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_cells_that_a_spreadsheet_would_run(sign):
    assert no_formula(f"{sign}1+1") == f"'{sign}1+1"
    assert no_formula(f"1{sign}1") == f"1{sign}1"


def test_what_breaks_inside_says_nothing(world, monkeypatch, capsys):
    monkeypatch.setattr("sacrecap_server.boards.catalogue.every", lambda *_: 1 / 0)
    answer = world.api().get("/api/v1/benchmarks")
    assert answer.status_code == 500
    assert "Zero" not in answer.text


def test_static_files_are_kept_by_browsers_and_change_their_address(world):
    page = world.browser().get("/").text
    address = re.search(r'href="(/static/site\.css\?v=[0-9a-f]+)"', page)[1]
    client = world.client()
    for path, kept in ((address, "immutable"), ("/static/site.css", "no-cache"), (address + "0", "no-cache")):
        answer = client.get(path)
        assert kept in answer.headers["cache-control"]
        assert (answer.headers["content-type"], answer.status_code) == ("text/css; charset=utf-8", 200)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    plain = client.get(address, headers={"Accept-Encoding": "identity"})
    assert plain.text == answer.text
    assert "content-encoding" not in plain.headers
    again = client.get(address, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_head_is_get_without_the_body(world):
    """Monitors and link checkers ask with HEAD."""

    def lasting(answer):
        return {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "set-cookie")}

    for path in ("/", "/benchmarks", "/static/site.css", "/api/v1/benchmarks", "/healthz", "/nope", "/account"):
        client = world.client()
        head, got = client.head(path), client.get(path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert lasting(head) == lasting(got), path


def test_monitors_come_by_any_host_name_and_with_a_token_of_their_own(world):
    """Probes of a cluster ask by address or by the service's name; their token opens the metrics and nothing else."""
    admin = world.account(Role.ADMIN)
    with world.database.write() as session:
        token = new_token(session, admin, "monitor", ["metrics"])
    client = world.client()
    client.headers["Authorization"] = f"Bearer {token}"
    for host in ("10.0.0.3:8080", "sacrecap:8080"):
        assert client.get("/healthz", headers={"Host": host}).status_code == 200
        assert client.get("/readyz", headers={"Host": host}).status_code == 200
        assert "sacrecap_requests_total" in client.get("/metrics", headers={"Host": host}).text
        assert client.get("/", headers={"Host": host}).status_code == 421
    assert client.get("/api/v1/submissions").status_code == 403
    assert world.client().get("/metrics").status_code == 401
