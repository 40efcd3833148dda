"""Rate limits, and what happens to jobs that take too much or fail."""

from __future__ import annotations

import datetime as dt
import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update

from sacrecap_server.accounts.access import Role
from sacrecap_server.accounts.limits import Pauses, RateLimit, Window, neighbourhood
from sacrecap_server.errors import Refused
from sacrecap_server.jobs import jobs
from sacrecap_server.jobs.child import ChildFailedError, ResourceLimits, run_child
from sacrecap_server.store.models import Job, RateCount, SubmissionScore, now
from sacrecap_server_testing.benchmark import SYSTEMS, make, submit, submitted
from sacrecap_server_testing.world import World


@pytest.fixture
def clock(any_world):
    """Seconds that the limits believe have passed, in a list."""
    passed, start = [0.0], now()
    any_world.state.limits.clock = lambda: start + dt.timedelta(seconds=passed[0])
    return passed


def waits(limit: RateLimit, key: str) -> int | None:
    """The seconds to wait before another; None where one was counted."""
    try:
        limit.take(key)
    except Refused as refusal:
        assert refusal.status == 429
        return refusal.retry_after
    return None


def test_a_rate_limit_counts_by_key_and_forgets_with_time(any_world, clock):
    limit = RateLimit(any_world.state.limits, "test", Window(2, 10))
    assert [waits(limit, key) for key in "aab"] == [None] * 3
    clock[0] = 3
    assert [waits(limit, key) for key in "aab"] == [8, 8, None]
    clock[0] = 10.5
    assert waits(limit, "a") is None
    with any_world.database.write() as session:
        any_world.state.limits.forget(session, limit.of("a"))
    assert [waits(limit, "a") for _ in range(3)] == [None, None, 11]


def test_pauses_double_and_are_forgotten_after_a_day(any_world, clock):
    limit = RateLimit(any_world.state.limits, "test", Pauses(free=3, longest=100))
    pauses = []
    for _ in range(12):
        wait = waits(limit, "a")
        if wait is not None:
            pauses.append(wait)
            clock[0] += wait
            assert waits(limit, "a") is None
    # One more than the pause: whole seconds, rounded up.
    assert pauses == [2, 3, 5, 9, 17, 33, 65, 101, 101]
    clock[0] += 86400
    assert [waits(limit, "a") for _ in range(4)] == [None, None, None, 2]


def test_two_servers_share_limits_and_a_restart_keeps_them(any_world, tmp_path):
    other = World(tmp_path, any_world.database.url)
    try:
        for each in [any_world, other] * 10:
            assert waits(each.state.limits.submit_account, "1") is None
        assert waits(any_world.state.limits.submit_account, "1")
        assert waits(other.state.limits.submit_account, "1")
    finally:
        other.state.close()
    started_again = World(tmp_path, any_world.database.url)
    assert waits(started_again.state.limits.submit_account, "1")
    started_again.state.close()


def test_many_at_once_are_no_more_than_the_limit(any_world):
    limit = any_world.state.limits.submit_account
    with ThreadPoolExecutor(8) as pool:
        refused = list(pool.map(lambda _: waits(limit, "one"), range(40)))
    assert refused.count(None) == 20


def test_rows_that_mean_nothing_any_more_are_deleted(any_world, clock):
    limits = any_world.state.limits
    for number in range(5):
        limits.submit_account.take(f"{number}")
    clock[0] = 61
    limits.submit_account.take("new")
    with any_world.database.write() as session:
        limits.prune(session)
    with any_world.database.read() as session:
        rows = session.execute(select(RateCount)).scalars().all()
    assert [row.key for row in rows] == [limits.submit_account.of("new").row]


def test_what_is_stored_names_nobody(world):
    world.browser(address="192.0.2.77").post("/sign-in", email="somebody@example.org", password="a wrong one")  # noqa: S106
    with world.database.read() as session:
        keys = session.execute(select(RateCount.key)).scalars().all()
    assert len(keys) == 3
    assert all(re.fullmatch("[0-9a-f]{64}", key) for key in keys)


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_customer_is_one_address(address, kept):
    assert neighbourhood(address) == kept


def test_submissions_are_limited_by_account(world):
    """On the page and through the API together, whether the files are right or wrong."""
    make(world)
    for number in range(20):
        if number % 2:
            assert submit(world, b"[]").status_code == 422
        else:
            api = world.api(Role.MEMBER).post("/api/v1/benchmarks/ours/submissions?system=x", content=b"[]")
            assert api.status_code == 422
    refused = submit(world, SYSTEMS["careful"])
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    api = world.api(Role.MEMBER).post("/api/v1/benchmarks/ours/submissions?system=x", content=SYSTEMS["careful"])
    assert api.status_code == 429
    assert int(api.headers["retry-after"]) > 0
    assert submit(world, SYSTEMS["careful"], role=Role.ADMIN).status_code == 303


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", __file__.rpartition("/")[0], prepend=os.pathsep)


def test_a_child_ends_with_its_time_its_memory_or_its_failure():
    beats: list[str] = []
    limits = ResourceLimits(seconds=300, memory=4096)
    assert run_child("child_work:sleep", {"seconds": 1.5}, [b""], limits, beats.append) == {"files": 1}
    assert beats
    with pytest.raises(ChildFailedError, match="longer than the 1 seconds"):
        run_child("child_work:sleep", {"seconds": 300}, [], ResourceLimits(1, 4096), beats.append)
    with pytest.raises(ChildFailedError, match="more than the 2000 MiB"):
        run_child("child_work:eat", {"bytes": 3 * 2**30}, [], ResourceLimits(300, 2000), beats.append)
    with pytest.raises(ChildFailedError, match="unexpected") as failure:
        run_child("child_work:fail", {}, [], limits, beats.append)
    assert "hidden" not in str(failure.value)


def test_a_team_is_not_told_why_hidden_data_failed_but_the_owner_is(new_world):
    world = new_world(job_memory=400)
    make(world, quota_day=1)
    number = submitted(world, "careful")
    with world.database.write() as session:
        session.execute(update(Job).values(state="failed", message="reference 'a secret caption' is odd"))
    page = world.browser(Role.MEMBER).get(f"/submissions/{number}").text
    assert "secret" not in page
    assert "could not be scored" in page
    assert "a secret caption" in world.browser(Role.ORGANISER).get(f"/submissions/{number}").text
    submitted(world, "plain")


def test_a_job_of_a_dead_server_is_taken_and_its_answer_stored_once(any_world):
    make(any_world)
    submitted(any_world, "careful")
    state = any_world.state
    assert state.jobs._take(remote=None) is not None
    assert not state.jobs.run_one()
    with any_world.database.write() as session:
        session.execute(update(Job).values(lease=now() - jobs.LEASE, runner="elsewhere:1:x"))
    assert state.jobs.run_one()
    any_world.run_jobs()
    with any_world.database.read() as session:
        assert len(session.execute(select(SubmissionScore)).scalars().all()) == 3
        assert session.execute(select(Job.attempts).order_by(Job.id)).scalars().first() == 2


def test_an_answer_that_comes_after_the_lease_ran_out_is_not_stored(world):
    make(world)
    submitted(world, "careful")
    job_id, *_ = world.state.jobs._take(remote=None)
    with world.database.write() as session:
        session.execute(update(Job).values(runner="elsewhere:1:x"))
    world.state.jobs._end(job_id, "done", store=lambda _: pytest.fail("stored twice"))


def test_metrics_count_requests_and_jobs(world):
    make(world)
    submitted(world, "careful")
    world.run_jobs()
    text = world.api(Role.ADMIN).get("/metrics").text
    assert 'sacrecap_jobs{kind="score",state="done"} 1.0' in text
    assert 'sacrecap_requests_total{method="POST",route="/benchmarks/{slug}/submit",status="303"} 1.0' in text
    assert world.api(Role.ORGANISER).get("/metrics").status_code == 403
    assert world.browser().get("/healthz").text == "ok\n"
