"""What is kept ends after as many days as the settings say, once a day, and the page of what is stored says so."""

from __future__ import annotations

import datetime as dt
import threading

import pytest
from sqlalchemy import update
from study_world import Person, triplet_file
from study_world import make as make_study
from test_people import rows

from sacrecap.errors import DataError
from sacrecap_server.accounts import retention
from sacrecap_server.accounts.access import Role
from sacrecap_server.jobs.chores import CHORES, Chore, queue_due
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store import personal
from sacrecap_server.store.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Base,
    Job,
    KeyValue,
    Letter,
    LoginSession,
    OneTimeCode,
    RateCount,
    Study,
    now,
)
from sacrecap_server_testing.world import World


def ago(days):
    return now() - dt.timedelta(days=days)


def run(world, **settings):
    with world.database.write() as session:
        return retention.forget(session, ServerSettings(**settings))


def test_the_audit_log_and_its_addresses_end(strict_world):
    with strict_world.database.write() as session:
        for days in (400, 364, 91, 89):
            session.add(AuditEntry(at=ago(days), account_id=None, address="192.0.2.1", action=f"{days}", subject=""))
    found = run(strict_world)
    assert (found["audit_entries"], found["addresses"]) == (1, 2)
    assert sorted(rows(strict_world, AuditEntry.action)) == ["364", "89", "91"]
    assert rows(strict_world, AuditEntry.action, AuditEntry.address != "") == ["89"]
    run(strict_world, keep_audit=0, keep_addresses=0)
    assert len(rows(strict_world, AuditEntry.id, AuditEntry.address != "")) == 1
    run(strict_world, keep_audit=90, keep_addresses=0)
    assert rows(strict_world, AuditEntry.action) == ["89"]


def test_sign_ins_that_have_expired_go(world):
    world.browser(Role.MEMBER), world.browser(Role.ADMIN)
    with world.database.write() as session:
        session.execute(
            update(LoginSession).where(LoginSession.account_id == world.account(Role.MEMBER)).values(expires=ago(0.1))
        )
    assert run(world)["sign_ins"] == 1
    assert rows(world, LoginSession.account_id) == [world.account(Role.ADMIN)]


def test_links_limits_and_messages_end_as_the_page_says(world):
    """Where nobody makes a new link, or sends mail any more, what is left of the old ones ends too."""
    number = world.account(Role.MEMBER)
    with world.database.write() as session:
        for name, days in (("old", 1), ("new", -1)):
            session.add(OneTimeCode(code_hash=name, account_id=number, purpose="reset", expires=ago(days)))
            session.add(RateCount(key=name, count=1, ends=ago(days), expires=ago(days)))
            session.add(Letter(address="a@example.org", subject=name, text="", created=ago(days + 1.5)))
    found = run(world)
    assert [found[each] for each in ("links", "limits", "letters")] == [1, 1, 1]
    for column in (OneTimeCode.code_hash, RateCount.key, Letter.subject):
        assert rows(world, column) == ["new"]


def test_what_a_platform_calls_people_is_forgotten_after_the_study(strict_world):
    study = make_study(strict_world, triplet_file())
    for worker in ("anna", "ben"):
        Person(strict_world, study, worker).begin().answer(choice="b")
    assert run(strict_world, keep_worker_ids=30)["worker_ids"] == 0
    owner = strict_world.browser(Role.ORGANISER)
    owner.post(f"/studies/{study.id}/state", state="closed")
    assert run(strict_world, keep_worker_ids=30)["worker_ids"] == 0
    with strict_world.database.write() as session:
        session.execute(update(Study).values(closed=ago(31)))
    assert "worker_ids" not in run(strict_world)
    assert run(strict_world, keep_worker_ids=30)["worker_ids"] == 2
    numbers = rows(strict_world, Annotator.id)
    assert rows(strict_world, Annotator.worker) == [f"person {number}" for number in numbers]
    assert not any(rows(strict_world, Annotator.cookie_hash))
    assert len(rows(strict_world, Assignment.id, Assignment.state == "answered")) == 2
    assert run(strict_world, keep_worker_ids=30)["worker_ids"] == 0
    assert owner.get(f"/api/v1/studies/{study.id}/answers.csv").status_code == 200
    owner.post(f"/studies/{study.id}/state", state="open")
    assert rows(strict_world, Study.closed) == [None]


def test_a_chore_is_done_once_a_day_however_many_servers_there_are(any_world):
    others = [World(None, any_world.database.url) for _ in range(3)]
    worlds = [any_world, *others]
    threads = [threading.Thread(target=queue_due, args=(world.database,)) for world in worlds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(any_world, Job.kind) == [retention.KIND]
    for world in worlds:
        world.run_jobs()
        queue_due(world.database)
    assert rows(any_world, Job.state) == ["done"]
    with any_world.database.write() as session:
        session.execute(update(KeyValue).where(KeyValue.name == "next retention").values(value=ago(0).isoformat()))
    for world in worlds:
        queue_due(world.database)
    assert rows(any_world, Job.state) == ["done", "queued"]
    for world in others:
        world.state.close()


def test_a_running_server_does_what_is_due(new_world, monkeypatch):
    done = threading.Event()

    def work(session, settings):
        done.set()
        return {"days": settings.keep_audit}

    monkeypatch.setitem(CHORES, "test", Chore(dt.timedelta(days=1), work))
    world = new_world(workers=1)
    world.state.jobs.start()
    assert done.wait(60)


# The page of what is stored


def test_of_every_column_it_is_said_whether_it_is_about_a_person():
    assert personal.undeclared() == []
    tables = {name.partition(".")[0] for name in personal.PERSONAL}
    assert tables == set(personal.KINDS)
    other = {f"{table}.{column}" for table, columns in personal.OTHER.items() for column in columns.split()}
    assert not other & set(personal.PERSONAL)


def test_the_page_names_every_table_and_column_about_people(world):
    text = world.browser().get("/privacy").text.replace("&#39;", "'")
    for table in Base.metadata.sorted_tables:
        mentioned = [personal.PERSONAL.get(f"{table.name}.{column.name}") for column in table.c]
        for words in filter(None, mentioned):
            assert words in text
            assert personal.KINDS[table.name].title in text
    assert 'href="/privacy"' in world.browser().get("/").text


def test_the_page_says_the_settings_as_they_are(tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("Ask <data@example.org>.\n")
    settings = {"keep_audit": 1000, "keep_addresses": 1, "keep_worker_ids": 7, "privacy_file": str(own)}
    world = World(tmp_path, **settings)
    text = world.browser().get("/privacy").text
    for words in ("Entries 1,000 days, IP addresses 1 day.", "forgotten 7 days after", "Ask &lt;data@example.org&gt;."):
        assert words in text
    world.state.close()
    world = World(tmp_path, keep_audit=0)
    assert "as long as the server runs" in world.browser().get("/privacy").text
    world.state.close()
    with pytest.raises(DataError, match="--privacy-file"):
        World(tmp_path, privacy_file=str(tmp_path / "none.txt"))
