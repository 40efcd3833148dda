"""The benchmarks of this server: found by name, open or not, and who sees what of them."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from capeval_server.accounts.access import Caller, Role
from capeval_server.store.models import Benchmark, Submission, now
from capeval_server.web.errors import Refused, not_found

BOARDS = {
    "public": "everybody",
    "teams": "signed-in teams",
    "closed": "nobody else before the closing date, everybody afterwards",
}
"""Who sees the board."""


def find(session: Session, slug: str) -> Benchmark:
    """The benchmark of a short name; raises `Refused` (404)."""
    benchmark = session.execute(select(Benchmark).where(Benchmark.slug == slug)).scalar_one_or_none()
    if benchmark is None:
        raise not_found("benchmark")
    return benchmark


def visible(session: Session, caller: Caller, slug: str) -> Benchmark:
    """The same for its board; raises `Refused` (403) where the caller may not see it now."""
    benchmark = find(session, slug)
    if not sees_board(caller, benchmark):
        raise Refused(403, "The board of this benchmark is not shown to you now.")
    return benchmark


def owned(session: Session, caller: Caller, slug: str) -> Benchmark:
    """The same to manage; raises `Refused` (403) where it is somebody else's."""
    benchmark = find(session, slug)
    if not caller.owns(benchmark.owner_id):
        raise Refused(403, "This benchmark belongs to somebody else.")
    return benchmark


def every(session: Session) -> list[Benchmark]:
    """All benchmarks, the newest first."""
    return list(session.execute(select(Benchmark).order_by(Benchmark.created.desc(), Benchmark.id.desc())).scalars())


def with_counts(session: Session) -> list[tuple[Benchmark, int]]:
    """The same, each with the number of its submissions."""
    counts = select(Submission.benchmark_id, func.count()).group_by(Submission.benchmark_id)
    count = {row[0]: row[1] for row in session.execute(counts)}
    return [(benchmark, count.get(benchmark.id, 0)) for benchmark in every(session)]


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
