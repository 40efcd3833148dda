"""While the database is away, locked or full, answers are quick and in words; afterwards all goes on as before."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from study_world import make, triplet_file

from sacrecap_server.store.database import _BUSY_SECONDS
from sacrecap_server.web.context import Role


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
        while len(world.database._turns._queue) < 30:
            time.sleep(0.01)
        with quickly():
            assert world.client().get("/privacy").status_code == 200
            assert world.client().get("/healthz").status_code == 200
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
        while not world.database._turns._queue:
            time.sleep(0.01)
        other.execute("ROLLBACK")
    writer.join()
    assert ended == [303]


def test_writers_take_turns_in_the_order_in_which_they_came(world):
    """However long the queue: a lock lets whoever happens to ask go first, and some of many waited in vain."""
    turns, ended = world.database._turns, []

    def write(number):
        with turns.take():
            ended.append(number)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(20)]
    with turns.take():
        turns.begun()
        for number, writer in enumerate(writers):
            writer.start()
            while len(turns._queue) < number + 2:
                time.sleep(0.001)
        time.sleep(0.5)
    for writer in writers:
        writer.join()
    assert ended == list(range(20))


@pytest.mark.parametrize(("said", "waits"), [("database is locked", True), ("database or disk is full", False)])
def test_only_a_lock_of_another_program_is_a_reason_to_wait_less(world, said, waits):
    """Whatever else went wrong for a writer tells nothing of the next one."""
    turns = world.database._turns
    with pytest.raises(OperationalError), turns.take():
        raise OperationalError("INSERT", {}, sqlite3.OperationalError(said))
    assert (turns._since is not None) == waits


def test_a_full_disk_is_said_and_nothing_is_lost(world):
    owner, kept = world.browser(Role.OWNER), make(world, triplet_file(title="Kept"))
    with world.database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    @partial(event.listen, world.database.engine, "checkout")
    def limit(connection, *_):
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def send():
        return owner.post("/studies", files={"file": ("a.json", json.dumps(triplet_file(pairs=500, title="New")))})

    full = send()
    assert is_outage(full, 507)
    assert "no space left" in full.text
    assert full.headers["x-frame-options"] == "DENY"
    assert owner.get(f"/studies/{kept.id}").status_code == 200
    pages = 10**6
    assert "New" not in owner.get("/studies").text
    assert send().status_code == 303
