"""Comparing two submissions: which ones a caller may choose, and the paired test for pairs without one."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Caller
from sacrecap_server.boards import catalogue, quota, scoring
from sacrecap_server.boards.board_cache import BoardCache
from sacrecap_server.boards.board_view import Entry
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.jobs import jobs
from sacrecap_server.store.models import Benchmark, ComparisonRequest, Job


def choices(session: Session, cache: BoardCache, caller: Caller, benchmark: Benchmark) -> dict[int, Entry]:
    """The scored submissions whose scores the caller may see: the board's first, then their team's, or everybody's."""
    found: dict[int, Entry] = {}
    if catalogue.sees_board(caller, benchmark):
        found |= {row.entry.id: row.entry for row in cache.board(session, benchmark)}
    owner = caller.owns(benchmark.owner_id)
    if owner or (caller.team_id is not None and catalogue.sees_scores(caller, benchmark)):
        for entry in cache.entries(session, benchmark):
            if owner or entry.team_id == caller.team_id:
                found.setdefault(entry.id, entry)
    return found


def two(
    session: Session, cache: BoardCache, caller: Caller, benchmark: Benchmark, a: int, b: int
) -> tuple[Entry, Entry]:
    """Both submissions; raises `Refused` (404) if one is not among the caller's choices."""
    found = choices(session, cache, caller, benchmark)
    if a not in found or b not in found:
        raise not_found("pair of submissions")
    return found[a], found[b]


def ask(session: Session, caller: Caller, benchmark: Benchmark, a: int, b: int) -> None:
    """Queues the paired test of the two, unless it waits or runs already; the first time it counts in the quota.

    Raises `Refused` (429) if the quota is used up.
    """
    if a == b:
        raise Refused(422, "A submission does not differ from itself. Choose two.")
    session.execute(select(Benchmark.id).where(Benchmark.id == benchmark.id).with_for_update())
    job = asked(session, a, b)
    if job is not None and job.state in ("queued", "running"):
        return
    comparison = session.execute(_query(a, b)).scalar_one_or_none()
    if comparison is None:
        if not caller.owns(benchmark.owner_id):
            quota.check(session, caller, benchmark)
            quota.spend(session, caller, benchmark)
        comparison = ComparisonRequest(a_id=min(a, b), b_id=max(a, b))
        session.add(comparison)
        session.flush()
    jobs.add(session, scoring.ASKED, comparison.id, share=caller.team_id or 0)


def asked(session: Session, a: int, b: int) -> Job | None:
    """The newest job that compares the two because somebody asked."""
    ours = _query(a, b).with_only_columns(ComparisonRequest.id).scalar_subquery()
    query = select(Job).where(Job.kind == scoring.ASKED, Job.subject_id == ours).order_by(Job.id.desc()).limit(1)
    return session.execute(query).scalar_one_or_none()


def _query(a: int, b: int) -> Select[Any]:
    return select(ComparisonRequest).where(ComparisonRequest.a_id == min(a, b), ComparisonRequest.b_id == max(a, b))
