"""Whatever is sent, no answer is a 500: addresses, queries, forms, files, the API."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from typing import Any, NamedTuple

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from study_world import Person, make, triplet_file

from sacrecap_server.web.context import Role
from sacrecap_server_testing.routes import every_route
from sacrecap_server_testing.world import ORIGIN, World

MARK = "\"><b id=planted>'<script>planted()</script>"
HOSTILE = (
    MARK,
    "\x00",
    "a\x00b",
    "\U0010ffff\ufffe\u202e\u200b",
    "9" * 400,
    "-" + "9" * 30,
    "9" * 20 + ".0",
    "1e999",
    "NaN",
    "١٢",
    "a" * 9_999,
    "{{7*7}}${7*7}%s%n",
    "../../../etc/passwd",
    "'; DROP TABLE account; --",
    "",
    "2026-99-99T99:99",
    "0001-01-01T00:00",
    "9999-12-31T23:59+14:00",
    "[" * 500,
    "\r\nSet-Cookie: a=b",
)
NAMED = {"code": "none", "image": "none"}


class Form(NamedTuple):
    """A form of a page."""

    action: str
    fields: dict[str, str]
    files: frozenset[str]


class Forms(HTMLParser):
    """The forms with method "post" of a page."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.found: list[Form] = []
        self._files: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "form" and given.get("method") == "post":
            self._files = set()
            self.found.append(Form(given.get("action") or self.path, {}, frozenset()))
        name = given.get("name")
        if tag in ("input", "select", "textarea", "button") and name and self.found:
            if given.get("type") == "file":
                self._files.add(name)
                self.found[-1] = self.found[-1]._replace(files=frozenset(self._files))
            else:
                self.found[-1].fields.setdefault(name, given.get("value") or "")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world with something on every page."""
    world = World(tmp_path_factory.mktemp("no500"))
    for limit in (world.state.sign_ins, world.state.beginnings):
        limit.times = 10**9
    Person(world, make(world, triplet_file()), worker="W").begin().answer(choice="b")
    yield world
    world.state.close()


def pages() -> list[str]:
    """An address for each page that is got."""
    return [
        re.sub(r"\{(\w+)\}", lambda found: NAMED.get(found[1], "1"), route.path_format)
        for route, guard in every_route()
        if "GET" in route.methods and not guard.api
    ]


def check(answer: Any, *what: object) -> None:
    assert answer.status_code < 500, (what, answer.text[:300])
    assert "Traceback" not in answer.text, what
    if "json" not in answer.headers.get("content-type", "") and "attachment" not in str(answer.headers):
        assert "<b id=planted" not in answer.text, what
        assert "<script>planted" not in answer.text, what
    assert "planted=1" not in answer.headers.get("set-cookie", ""), what


def test_every_form_with_hostile_values(full):
    """Each form of each page, for whoever sees it: all of its fields hostile, and each of them alone."""
    assert every_form(full, HOSTILE) > 12


def every_form(world: World, values: Sequence[str]) -> int:
    """The number of different forms that were sent with the values."""
    seen: set[object] = set()
    for role in Role:
        browser = world.browser(role)
        for path in pages():
            page = browser.get(path)
            check(page, path)
            if "html" not in page.headers.get("content-type", ""):
                continue
            parser = Forms(path)
            parser.feed(page.text)
            for form in parser.found:
                known = (re.sub(r"\d+", "1", form.action), *form.fields, *form.files)
                if known not in seen:
                    seen.add(known)
                    send_hostile(world, role, form, values)
    return len(seen)


def send_hostile(world: World, role: Role, form: Form, hostile: Sequence[str]) -> None:
    browser = world.browser(role)
    csrf = browser.csrf()
    names = [name for name in form.fields if name != "csrf"]
    tries = [dict.fromkeys(names, value) for value in hostile]
    tries += [{**form.fields, name: value} for name in names for value in hostile[:2]]
    for values in tries if names or form.files else ():
        text = next(iter(values.values()), MARK)
        files = {name: (f"{text[:50]}.json", json.dumps({"title": text, text: [text]})) for name in form.files}
        check(browser.client.post(form.action, data={**values, "csrf": csrf}, files=files or None), form.action, values)


NUL_ROUTES = [
    "/studies/%00",
    "/api/v1/studies/1/answers?image=a%00b",
    "/studies/1/answers?image=%00",
    "/s/%00",
    "/images/%00",
    "/sign-in?next=%00",
    "/s/none?PROLIFIC_PID=%00",
]
NUL_FORMS = [
    ("/sign-in", "token"),
    ("/studies/1/edit", "title"),
    ("/studies/1/clone", "title"),
    ("/studies/1/links", "workers"),
]


def test_nul_is_refused_where_it_enters(full):
    """Addresses, queries and fields with NUL are refused."""
    browser = full.browser(Role.OWNER)
    for path in NUL_ROUTES:
        assert browser.get(path).status_code == 400, path
    csrf = browser.csrf()
    for path, field in NUL_FORMS:
        for value in ("\x00", "a\x00b"):
            fields = {field: value, "csrf": csrf}
            assert browser.client.post(path, data=fields).status_code == 422, path
            assert browser.client.post(path, data=fields, files={"file": ("a", b"")}).status_code == 422, path
    file = {"file": ("a\x00.json", json.dumps(triplet_file()))}
    assert browser.client.post("/studies", data={"csrf": csrf}, files=file).status_code in (303, 422)


@pytest.mark.parametrize("text", ["\x00", "\ud800"])
def test_files_with_text_that_cannot_be_stored(full, text):
    """In JSON they are written \\u0000 and \\ud800."""
    owner = full.browser(Role.OWNER)
    for file in (
        triplet_file(title=f"T{text}"),
        triplet_file(instructions=f"T{text}"),
        {**triplet_file(), text: 1},
        json.loads(json.dumps(triplet_file()).replace("kettle", json.dumps(text)[1:-1])),
    ):
        sent = owner.post("/studies", files={"file": ("a.json", json.dumps(file))})
        check(sent, file)
        if sent.status_code == 303:
            check(owner.get(sent.headers["location"].partition("?")[0]), file)
            check(owner.get(sent.headers["location"].partition("?")[0] + "/preview"), file)


def test_a_form_in_another_encoding_is_refused(full):
    """Other codecs of Python make NUL and half surrogates of harmless bytes."""
    browser = full.browser(Role.OWNER)
    body = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n\\ud800\\x00\r\n--x--\r\n'
    headers = {"X-CSRF-Token": browser.csrf()}
    for charset in ("unicode_escape", "utf-7", "idna", '"utf-16"'):
        headers["Content-Type"] = f"multipart/form-data; boundary=x; charset={charset}"
        assert browser.client.post("/studies/1/clone", content=body, headers=headers).status_code == 400
    headers["Content-Type"] = "multipart/form-data; boundary=x; charset=UTF-8"
    assert browser.client.post("/studies/1/clone", content=body, headers=headers).status_code == 303


def test_headers_and_cookies_with_odd_bytes(full):
    client = full.client()
    names = ("Cookie", "Authorization", "X-CSRF-Token", "Content-Type", "Accept-Language", "Referer", "If-None-Match")
    odd = (
        b"\x00",
        b"\xff\xfe",
        b'sacrecap="\\000\\377"',
        b"sacrecap=" + b"a" * 5000,
        b"bearer \xff",
        b"Bearer",
        b"\xed\xa0\x80",
    )
    for name in names:
        for value in odd:
            for path in ("/", "/studies", "/api/v1/studies", "/static/site.css"):
                check(client.get(path, headers=[(name.encode(), value)]), name, value, path)
            check(client.post("/sign-out", headers=[(name.encode(), value)], content=b"csrf=x"), name, value)


def test_the_api_as_schemathesis_tries_it(full):
    """Every operation with what its description allows, and with what it does not; answers are as described."""
    schema = schemathesis.openapi.from_dict(full.app.openapi())
    client = full.api(Role.OWNER)
    tried = 0

    def call(case: Any) -> None:
        nonlocal tried
        made = case.as_transport_kwargs(base_url=ORIGIN)
        data = made.get("data")
        request = client.build_request(
            made["method"],
            made["url"],
            params=made.get("params"),
            json=made.get("json"),
            content=data if isinstance(data, (bytes, str)) else None,
        )
        answer = client.send(request)
        check(answer, case.operation.label, request.url)
        assert str(answer.status_code) in case.operation.definition.raw["responses"] or answer.status_code in (404, 405)
        tried += 1

    bounded = settings(
        max_examples=int(os.environ.get("SACRECAP_API_EXAMPLES", "3")),  # `make soak` tries more
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for operation in (each.ok() for each in schema.get_all_operations()):
        for mode in schemathesis.GenerationMode:
            with contextlib.suppress(Unsatisfiable):  # an operation without parameters cannot be called wrongly
                bounded(given(case=operation.as_strategy(generation_mode=mode))(call))()
    assert tried > 40
