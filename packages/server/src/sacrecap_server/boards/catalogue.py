"""The benchmarks of this server: found by name, open or not, and who sees what of them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Caller, Role
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.models import Benchmark, Submission, now

BOARDS = {
    "public": "everybody",
    "teams": "signed-in teams",
    "closed": "nobody else before the closing date, everybody afterwards",
}
"""Who sees the board."""
VISIBILITIES = {
    "draft": "you alone, until you publish it",
    "unlisted": "everybody who has its address",
    "public": "everybody, in the list of benchmarks",
}
"""Who finds the benchmark."""


def find(session: Session, caller: Caller, slug: str) -> Benchmark:
    """The benchmark of a short name; raises `Refused` (404), also for a draft of somebody else."""
    benchmark = session.execute(select(Benchmark).where(Benchmark.slug == slug)).scalar_one_or_none()
    if benchmark is None or not _finds(caller, benchmark):
        raise not_found("benchmark")
    return benchmark


def _finds(caller: Caller, benchmark: Benchmark) -> bool:
    return benchmark.visibility != "draft" or caller.owns(benchmark.owner_id)


def _lists(caller: Caller, benchmark: Benchmark) -> bool:
    return benchmark.visibility == "public" or caller.owns(benchmark.owner_id)


def visible(session: Session, caller: Caller, slug: str) -> Benchmark:
    """The same for its board; raises `Refused` (403) if the caller may not see it now."""
    benchmark = find(session, caller, slug)
    if not sees_board(caller, benchmark):
        raise Refused(403, "The board of this benchmark is not shown to you now.")
    return benchmark


def owned(session: Session, caller: Caller, slug: str) -> Benchmark:
    """The same to manage; raises `Refused` (403) if it is somebody else's."""
    benchmark = find(session, caller, slug)
    if not caller.owns(benchmark.owner_id):
        raise Refused(403, "This benchmark belongs to somebody else.")
    return benchmark


def every(session: Session, caller: Caller) -> list[Benchmark]:
    """The benchmarks that the caller's list shows, the newest first: public ones, and the caller's own."""
    query = select(Benchmark).order_by(Benchmark.created.desc(), Benchmark.id.desc())
    return [benchmark for benchmark in session.execute(query).scalars() if _lists(caller, benchmark)]


def with_counts(session: Session, caller: Caller) -> list[tuple[Benchmark, int]]:
    """The same, each with the number of its submissions."""
    counts = select(Submission.benchmark_id, func.count()).group_by(Submission.benchmark_id)
    count = {row[0]: row[1] for row in session.execute(counts)}
    return [(benchmark, count.get(benchmark.id, 0)) for benchmark in every(session, caller)]


def phases(session: Session, caller: Caller, benchmark: Benchmark) -> list[Benchmark]:
    """The phases of the benchmark's challenge that the caller finds, in order of time; empty if it has no others."""
    if not benchmark.challenge:
        return []
    query = select(Benchmark).where(
        Benchmark.owner_id == benchmark.owner_id, Benchmark.challenge == benchmark.challenge
    )
    found = [each for each in session.execute(query).scalars() if each is benchmark or _lists(caller, each)]
    return sorted(found, key=lambda each: (each.opens or each.created, each.id)) if len(found) > 1 else []


@dataclass(frozen=True)
class BenchmarkStage:
    """Where a benchmark is between its dates."""

    word: str
    """soon, open or closed."""
    when: dt.datetime | None
    """The date that matters: since when, from when, until when."""


def stage(benchmark: Benchmark) -> BenchmarkStage:
    """Where the benchmark is now."""
    if is_over(benchmark):
        return BenchmarkStage("closed", benchmark.closes)
    return BenchmarkStage("open", benchmark.closes) if is_open(benchmark) else BenchmarkStage("soon", benchmark.opens)


def is_open(benchmark: Benchmark) -> bool:
    """Whether it takes submissions now."""
    return (benchmark.opens is None or benchmark.opens <= now()) and not is_over(benchmark)


def is_over(benchmark: Benchmark) -> bool:
    """Whether its closing date has passed."""
    return benchmark.closes is not None and benchmark.closes <= now()


def sees_board(caller: Caller, benchmark: Benchmark) -> bool:
    """Whether the caller may see all teams' scores."""
    if caller.owns(benchmark.owner_id):
        return True
    if benchmark.board == "closed":
        return is_over(benchmark)
    return benchmark.board == "public" or caller.role >= Role.MEMBER


def sees_scores(caller: Caller, benchmark: Benchmark) -> bool:
    """Whether the caller may see the scores of a submission of their own team."""
    return benchmark.own_scores or is_over(benchmark) or caller.owns(benchmark.owner_id)
