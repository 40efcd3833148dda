"""While the database is away, locked or full, answers are quick and in words; afterwards all goes on as before."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace

import pytest
from sqlalchemy import event, select, text
from sqlalchemy.exc import OperationalError

from sacrecap_server.accounts.access import Role
from sacrecap_server.boards import catalogue
from sacrecap_server.store.database import _BUSY_SECONDS
from sacrecap_server.store.models import Job
from sacrecap_server.web import readiness
from sacrecap_server_testing import postgres
from sacrecap_server_testing.benchmark import METRICS, REFERENCES, make, submitted
from sacrecap_server_testing.world import World


@contextlib.contextmanager
def quickly() -> Iterator[None]:
    """Whoever waited for the lock would take longer; a busy machine does not."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < _BUSY_SECONDS


def is_outage(answer, status=503):
    return answer.status_code == status and int(answer.headers["retry-after"]) > 0 and "x-request-id" in answer.headers


def test_readers_do_not_wait_for_writers_that_wait_for_another_program(world):
    """While more writers than there are threads wait for the lock on the file, pages are still read."""
    browser = world.browser()
    csrf = browser.csrf()
    ended: list[object] = []

    # Each of them is in the queue of the event loop, or of the database, before the page is asked for.
    def write() -> None:
        ended.append(browser.post("/sign-out", csrf=csrf))

    writers = [threading.Thread(target=write, daemon=True) for _ in range(60)]
    with contextlib.closing(sqlite3.connect(world.database.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for writer in writers:
            writer.start()
        while world.database._turns._waiting < 30:
            time.sleep(0.01)
        with quickly():
            assert world.client().get("/benchmarks").status_code == 200
            assert world.client().get("/healthz").status_code == 200
        with quickly():
            assert is_outage(world.client().get("/readyz"))
        with quickly():
            assert is_outage(browser.post("/sign-out", csrf=csrf))
        other.execute("ROLLBACK")
    for writer in writers:
        writer.join()
    # On a busy machine even the first may have waited in vain.
    assert {503} <= {answer.status_code for answer in ended} <= {303, 503}
    assert world.browser().post("/sign-out").status_code == 303


def test_a_writer_that_waits_for_another_program_goes_on_when_that_is_done(world):
    browser = world.browser()
    csrf = browser.csrf()
    ended: list[int] = []
    writer = threading.Thread(target=lambda: ended.append(browser.post("/sign-out", csrf=csrf).status_code))
    with contextlib.closing(sqlite3.connect(world.database.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer.start()
        while not world.database._turns._lock.locked():
            time.sleep(0.01)
        other.execute("ROLLBACK")
    writer.join()
    assert ended == [303]


@pytest.mark.parametrize(("said", "waits"), [("database is locked", True), ("database or disk is full", False)])
def test_only_a_lock_of_another_program_is_a_reason_to_wait_less(world, said, waits):
    """Whatever else went wrong for a writer tells nothing of the next one."""
    turns = world.database._turns
    with pytest.raises(OperationalError), turns.take():
        raise OperationalError("INSERT", {}, sqlite3.OperationalError(said))
    assert (turns._since is not None) == waits


@pytest.fixture
def server() -> Iterator[postgres.PostgresServer]:
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL (apt-get install postgresql)")
    with postgres.server("fsync=off") as running:
        yield running


def test_a_stopped_postgresql_is_said_and_comes_back_without_a_restart(server, tmp_path):
    """Pages, the API and forms say 503, and jobs wait; once the database is back, everything goes on."""
    world = World(tmp_path, postgres.create(server.url, "outage"), workers=1)
    make(world)
    number = submitted(world, "careful")
    browser = world.browser(Role.MEMBER)
    csrf = browser.csrf()
    server.stop()
    world.state.jobs.start()
    try:
        for call in (
            lambda: browser.get("/benchmarks"),
            lambda: browser.get("/account"),
            lambda: world.client().get("/readyz"),
            lambda: world.client().get("/api/v1/benchmarks"),
            lambda: browser.post("/sign-out", csrf=csrf),
        ):
            with quickly():
                assert is_outage(call())
        assert world.client().get("/healthz").status_code == 200
        server.start()
        assert browser.get("/account").status_code == 200
        with world.database.read() as session:
            while session.execute(select(Job.state).where(Job.subject_id == number)).scalars().first() != "done":
                session.rollback()
                time.sleep(0.05)
        assert world.state.jobs.alive()
    finally:
        world.state.close()


@pytest.mark.parametrize(
    ("state", "status"),
    [("53100", 507), ("57014", 503), ("40P01", 503), ("25006", 503), ("23505", 409), ("22003", 422), ("42P01", 500)],
)
def test_what_postgresql_reports_becomes_a_status(on_postgresql, monkeypatch, state, status):
    """Full disk, cancelled, deadlock, standby, duplicate, out of range, and a bug of ours."""
    words = "the secret of somebody@example.org"
    raised = text(f"DO $$ BEGIN RAISE EXCEPTION '{words}' USING ERRCODE = '{state}'; END $$")
    monkeypatch.setattr(catalogue, "every", lambda session, _: session.execute(raised))
    answer = on_postgresql.client().get("/api/v1/benchmarks")
    assert answer.status_code == status
    assert words not in answer.text


@pytest.fixture(scope="module")
def on_postgresql(postgres_url, _migrated, tmp_path_factory):
    world = World(tmp_path_factory.mktemp("states"), postgres.create(postgres_url, "states", template=_migrated))
    yield world
    world.state.close()


def test_a_full_disk_is_said_and_nothing_is_lost(world):
    make(world)
    organiser = world.browser(Role.ORGANISER)
    with world.database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    @partial(event.listen, world.database.engine, "checkout")
    def limit(connection, *_):
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def send():
        references = ("references.json", REFERENCES + b" " * 50_000)
        fields = {"slug": "other", "title": "Other", "metrics": METRICS, "own_scores": "yes"}
        return organiser.post("/benchmarks/new", files={"references": references}, **fields)

    full = send()
    assert is_outage(full, 507)
    assert "no space left" in full.text
    assert full.headers["x-frame-options"] == "DENY"
    assert world.client().get("/benchmarks/ours").status_code == 200
    assert world.client().get("/readyz").text == "The disk of the database is full.\n"
    pages = 10**6
    assert world.client().get("/benchmarks/other").status_code == 404
    assert send().status_code == 303


def test_ready_is_not_live(world, monkeypatch):
    """The check is made again after some seconds only, and its words say nothing of the place."""
    clock = [0.0]
    world.state.readiness._clock = lambda: clock[0]
    assert world.client().get("/readyz").text == "ok\n"
    monkeypatch.setattr(readiness.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    assert world.client().get("/readyz").status_code == 200
    clock[0] += 10
    for _ in range(2):
        answer = world.client().get("/readyz")
        assert is_outage(answer)
        assert answer.text == "The disk of the database is nearly full.\n"
    assert world.client().get("/healthz").text == "ok\n"
    monkeypatch.undo()
    clock[0] += 10
    assert world.client().get("/readyz").status_code == 200


def test_a_runner_that_has_ended_is_seen(new_world):
    world = new_world(workers=1)
    runner = world.state.jobs._threads[0]
    runner._target = lambda: None
    runner._args = ()
    world.state.jobs.start()
    runner.join()
    answer = world.client().get("/readyz")
    assert (answer.status_code, "runner has ended" in answer.text) == (503, True)
