"""No log has a parameter, an address or a hash. `conftest.py` looks through the logs of all tests; this shows how."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import warnings

import pytest
from httpx2 import Client
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from sacrecap_server import log
from sacrecap_server.store.schema import KeyValue
from sacrecap_server.studies import repository
from sacrecap_server.web.context import Role
from sacrecap_server_testing import logs
from sacrecap_server_testing.transport import InProcess
from sacrecap_server_testing.world import ORIGIN

SECRET = "correct horse battery of a person"  # noqa: S105


def twice(session, *_):
    for _ in range(2):
        session.execute(insert(KeyValue).values(name=SECRET, value="1"))


def test_a_race_is_not_told_to_the_log(world, monkeypatch):
    """The same value twice at once was a 500 with the parameters in the log."""
    monkeypatch.setattr(repository, "listed", twice)
    with logs.captured() as written:
        answer = world.api(Role.OWNER).get("/api/v1/studies")
    assert answer.status_code == 409
    assert not logs.leaks(written.getvalue())
    error = next(line for line in map(json.loads, written.getvalue().splitlines()) if line["event"] == "error")
    assert (error["level"], error["error"], error["status"]) == ("error", "IntegrityError", 409)
    assert error["id"] == answer.headers["x-request-id"]
    assert any("/api.py" in frame for frame in error["at"])
    with pytest.raises(IntegrityError) as raised, world.database.write() as session:
        twice(session)
    assert "hide_parameters=True" in str(raised.value)


def test_an_unexpected_error_has_every_header_and_no_text(world, monkeypatch):
    """It was raised again to the web server, which logged its text; its page had no security headers."""
    monkeypatch.setattr(repository, "listed", lambda _: 1 / 0)
    with logs.captured() as written:
        page = world.browser(Role.OWNER).get("/studies")
    assert page.status_code == 500
    assert page.headers["x-request-id"] in page.text
    for name in ("content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy"):
        assert name in page.headers
    assert "division" not in written.getvalue() + page.text
    monkeypatch.setattr("sacrecap_server.web.context.RequestContext.render", lambda *_, **__: 1 / 0)
    broken = world.browser(Role.OWNER).get("/studies")
    assert (broken.status_code, "x-frame-options" in broken.headers) == (500, True)


@pytest.mark.parametrize("name", ["uvicorn.error", "sqlalchemy.engine", "asyncio", "py.warnings"])
def test_libraries_say_only_what_they_always_say(name):
    secret = "somebody@example.org"  # noqa: S105
    with logs.captured() as written:
        logger = logging.getLogger(name)
        try:
            raise ValueError(secret)
        except ValueError as error:
            logger.exception("failed for %s", secret)
            logger.error(f"failed\nfor {error}")
            logger.error(error)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["failed for %s", "failed", "ValueError"]
    assert lines[0]["error"] == "ValueError"
    assert not logs.leaks(written.getvalue())


def test_tasks_threads_and_warnings_that_nobody_catches(monkeypatch, capsys):
    async def fail() -> None:
        raise ValueError("somebody@example.org")

    async def forgotten() -> None:
        task = asyncio.ensure_future(fail())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task

    for module, name in ((warnings, "showwarning"), (threading, "excepthook")):
        monkeypatch.setattr(module, name, getattr(module, name))
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    log.log_to_stderr()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        log.warnings.showwarning = log._log_warning
        warnings.warn("somebody@example.org", stacklevel=1)
    thread = threading.Thread(target=lambda: (_ for _ in ()).throw(ValueError("somebody@example.org")))
    thread.start()
    thread.join()
    # In a thread: a browser test may keep a loop in this one.
    loop = threading.Thread(target=lambda: asyncio.run(forgotten()))
    loop.start()
    loop.join()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["warning", "thread ended", "Task exception was never retrieved"]
    assert not logs.leaks(json.dumps(lines))


@pytest.mark.parametrize(
    "line",
    [
        "registered somebody@example.org",
        f'"{"0f" * 32}"',
        "[parameters: {'a': 1}]",
        "DETAIL: Key (email)",
        '{"client": "192.0.2.1"}',
        "ValueError: a caption",
        logs.PLANTED[0],
        logs.PLANTED[2],
    ],
)
def test_the_search_finds_what_it_is_for(line):
    assert logs.leaks(f'{{"event": "request"}}\n{line}\n') != []
    assert logs.leaks('{"event": "request", "id": "0123456789ab", "at": ["/a/b.py:1 f"]}') == []


def test_requests_are_logged_without_addresses(world):
    with logs.captured() as written:
        world.client().get("/s/none?PROLIFIC_PID=somebody@example.org", headers={"User-Agent": logs.PLANTED[0]})
    line = json.loads(written.getvalue().splitlines()[-1])
    assert line.keys() == {"time", "level", "event", "id", "method", "route", "status", "ms"}
    assert (line["route"], line["status"]) == ("/s/{code}", 404)


@pytest.mark.parametrize(("peer", "times"), [("172.30.0.1", 0), ("10.88.0.7", 1)])
def test_a_proxy_that_the_settings_do_not_name_is_said_once(world, peer, times):
    """As of rootless podman: the limits would take everybody for one person."""
    app = ProxyHeadersMiddleware(world.app, trusted_hosts="172.30.0.1")
    with logs.captured() as written, Client(transport=InProcess(app, peer), base_url=ORIGIN) as client:
        for number in range(3):
            client.get("/healthz", headers={"X-Forwarded-For": f"203.0.113.{number}"})
    told = [line for line in written.getvalue().splitlines() if "unknown proxy" in line]
    assert len(told) == times
    assert all("--behind-proxy" in line for line in told)
