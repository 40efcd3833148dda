"""The revision of a benchmark: a number that grows with whatever changes its board, in the same transaction.

What is computed from a board is kept under it, in every server process. It grows by itself: events of the session see
rows of these tables being added, changed and deleted, by whichever part of the server.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import event, select, update
from sqlalchemy.orm import ORMExecuteState, Session

from capeval_server.store.models import (
    Benchmark,
    BenchmarkSplit,
    Submission,
    SubmissionPair,
    SubmissionScore,
    Team,
)

_WATCHED = (Benchmark, BenchmarkSplit, Submission, SubmissionPair, SubmissionScore, Team)


def touch(session: Session, benchmarks: Any) -> None:
    """Raises the revision of the benchmarks: their ids, or a query of them."""
    table = Benchmark.__table__
    session.execute(update(table).where(table.c.id.in_(benchmarks)).values(revision=table.c.revision + 1))  # type: ignore[arg-type]


@event.listens_for(Session, "after_flush")
def _changed(session: Session, _: object) -> None:
    """Of each benchmark that the flushed rows belong to."""
    benchmarks: set[int] = set()
    submissions: set[int] = set()
    teams: set[int] = set()
    for row in (*session.new, *session.dirty, *session.deleted):
        if row in session.dirty and not session.is_modified(row):
            continue
        if isinstance(row, Benchmark):
            benchmarks.add(row.id)
        elif isinstance(row, BenchmarkSplit):
            benchmarks.add(row.benchmark_id)
        elif isinstance(row, SubmissionScore):
            submissions.add(row.submission_id)
        elif isinstance(row, SubmissionPair):
            submissions.add(row.a_id)
        elif isinstance(row, Submission):
            # One that waits to be scored is on no board.
            if row not in session.new or row.scored is not None:
                benchmarks.add(row.benchmark_id)
        elif isinstance(row, Team) and row not in session.new:
            teams.add(row.id)
    if submissions:
        benchmarks.update(_of(session, Submission.id.in_(submissions)))
    if teams:
        benchmarks.update(_of(session, Submission.team_id.in_(teams)))
    if benchmarks:
        # In one order, so that two transactions never wait for each other.
        touch(session, sorted(benchmarks))


def _of(session: Session, submissions: Any) -> list[int]:
    return list(session.execute(select(Submission.benchmark_id).where(submissions).distinct()).scalars())


@event.listens_for(Session, "do_orm_execute")
def _changed_in_bulk(state: ORMExecuteState) -> None:
    """Statements that change rows without loading them may concern any board."""
    if not (state.is_update or state.is_delete or state.is_insert):
        return
    mapper = state.bind_mapper
    if mapper is not None and mapper.class_ in _WATCHED:
        touch(state.session, select(Benchmark.__table__.c.id))


