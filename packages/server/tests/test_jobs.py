"""The queue of jobs, without processes."""

from __future__ import annotations

from sqlalchemy import select

from sacrecap_server.jobs import jobs
from sacrecap_server.jobs.child import ChildFailedError
from sacrecap_server.store.models import Job
from sacrecap_server_testing.benchmark import SYSTEMS, make, submit


def test_a_job_put_back_when_a_server_stops_has_not_used_up_an_attempt(world, monkeypatch):
    """However often servers are started anew while it runs."""
    make(world, metrics="bleu-1")
    submit(world, SYSTEMS["careful"])

    def stopped(*_):
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "run_child", stopped)
        for _ in range(jobs.ATTEMPTS + 2):
            assert world.state.jobs.run_one()
    world.run_jobs()
    with world.database.read() as session:
        job = session.execute(select(Job)).scalar_one()
    assert (job.state, job.attempts) == ("done", 1)


def test_a_job_whose_child_failed_is_failed_and_says_why(world, monkeypatch):
    make(world, metrics="bleu-1")
    submit(world, SYSTEMS["careful"])

    def failed(*_):
        raise ChildFailedError("It took longer than the 600 seconds allowed.")

    monkeypatch.setattr(jobs, "run_child", failed)
    world.run_jobs()
    with world.database.read() as session:
        job = session.execute(select(Job)).scalar_one()
    assert (job.state, job.message) == ("failed", "It took longer than the 600 seconds allowed.")
