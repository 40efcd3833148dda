"""Rate limits, and what happens to jobs that take too much or fail."""

from __future__ import annotations

import json
import os

import pytest
from sqlalchemy import select, update

from capeval_server.accounts.access import Role
from capeval_server.jobs import jobs
from capeval_server.jobs.child import ChildFailedError, ResourceLimits, run_child
from capeval_server.store.models import Job, SubmissionScore, now
from capeval_server.web.errors import Refused
from capeval_server.web.limits import RateLimit
from capeval_server_testing.benchmark import SYSTEMS, make, submit, submitted
from capeval_server_testing.world import World


def test_a_rate_limit_counts_by_key_and_forgets_with_time():
    clock = [0.0]
    limit = RateLimit(2, 10, clock=lambda: clock[0])
    limit.take("a")
    limit.take("a")
    limit.take("b")
    with pytest.raises(Refused) as refusal:
        limit.take("a")
    assert (refusal.value.status, refusal.value.retry_after) == (429, 11)
    clock[0] = 10.5
    limit.take("a")
    limit.forgive("a")
    limit.take("a")
    limit.take("a")


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
    limits = ResourceLimits(seconds=20, memory=4096)
    assert run_child("child_work:sleep", {"seconds": 1.5}, [b""], limits, beats.append) == {"files": 1}
    assert beats
    with pytest.raises(ChildFailedError, match="longer than the 1 seconds"):
        run_child("child_work:sleep", {"seconds": 30}, [], ResourceLimits(1, 4096), beats.append)
    with pytest.raises(ChildFailedError, match="more than the 2000 MiB"):
        run_child("child_work:eat", {"bytes": 3 * 2**30}, [], ResourceLimits(20, 2000), beats.append)
    with pytest.raises(ChildFailedError, match="unexpected") as failure:
        run_child("child_work:fail", {}, [], limits, beats.append)
    assert "hidden" not in str(failure.value)


def test_a_team_is_not_told_why_hidden_data_failed_but_the_owner_is(tmp_path):
    world = World(tmp_path, job_memory=400)
    make(world, quota_day=1)
    number = submitted(world, "careful")
    with world.database.write() as session:
        session.execute(update(Job).values(state="failed", message="reference 'a secret caption' is odd"))
    page = world.browser(Role.MEMBER).get(f"/submissions/{number}").text
    assert "secret" not in page
    assert "could not be scored" in page
    assert "a secret caption" in world.browser(Role.ORGANISER).get(f"/submissions/{number}").text
    submitted(world, "plain")
    world.state.close()


def test_a_job_of_a_dead_server_is_taken_and_its_answer_stored_once(any_world):
    make(any_world)
    submitted(any_world, "careful")
    state = any_world.state
    assert state.jobs._take() is not None
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
    job_id, *_ = world.state.jobs._take()
    with world.database.write() as session:
        session.execute(update(Job).values(runner="elsewhere:1:x"))
    world.state.jobs._end(job_id, "done", store=lambda _: pytest.fail("stored twice"))


def test_metrics_count_requests_and_jobs(world):
    make(world)
    submitted(world, "careful")
    world.run_jobs()
    text = world.api(Role.ADMIN).get("/metrics").text
    assert 'capeval_jobs{kind="score",state="done"} 1.0' in text
    assert 'capeval_requests_total{method="POST",route="/benchmarks/{slug}/submit",status="303"} 1.0' in text
    assert world.api(Role.ORGANISER).get("/metrics").status_code == 403
    assert world.browser().get("/healthz").text == "ok\n"


def test_the_log_is_json_without_names_of_strangers(world, caplog):
    with caplog.at_level("INFO", "capeval_server"):
        world.browser().get("/benchmarks/hello?token=secret")
    from capeval_server.web.observability import JsonLines

    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert lines[-1]["route"] == "/benchmarks/{slug}"
    assert "secret" not in json.dumps(lines)
    assert SYSTEMS
