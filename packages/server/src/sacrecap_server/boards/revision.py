"""The revision of a benchmark: a number that grows with whatever changes its board, in the same transaction.

What is computed from a board is kept under it, in every server process. It grows by itself: events of the session see
rows of these tables being added, changed and deleted, by whichever part of the server.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import event, select, update
from sqlalchemy.orm import ORMExecuteState, Session

from sacrecap_server.store.models import Benchmark, BenchmarkSplit, Submission, SubmissionPair, SubmissionScore, Team

_WATCHED = (Benchmark, BenchmarkSplit, Submission, SubmissionPair, SubmissionScore, Team)


def touch(session: Session, benchmarks: Any) -> None:
    """Raises the revision of the benchmarks: their ids, or a query of them."""
    table = Benchmark.__table__
    session.execute(update(table).where(table.c.id.in_(benchmarks)).values(revision=table.c.revision + 1))  # type: ignore[arg-type]


@event.listens_for(Session, "after_flush")
def _changed(session: Session, _: object) -> None:
    """Of each benchmark that the flushed rows belong to."""
    changed = [row for row in (*session.new, *session.deleted, *session.dirty) if _counts(session, row)]
    benchmarks = {row.benchmark_id for row in changed if isinstance(row, (Submission, BenchmarkSplit))}
    benchmarks |= {row.id for row in changed if isinstance(row, Benchmark)}
    submissions = {row.submission_id for row in changed if isinstance(row, SubmissionScore)}
    submissions |= {row.a_id for row in changed if isinstance(row, SubmissionPair)}
    teams = {row.id for row in changed if isinstance(row, Team)}
    if submissions or teams:
        benchmarks.update(_of(session, Submission.id.in_(submissions) | Submission.team_id.in_(teams)))
    if benchmarks:
        # In one order, so that two transactions never wait for each other.
        touch(session, sorted(benchmarks))


def _counts(session: Session, row: object) -> bool:
    """Whether a flushed row may be seen on a board: not a team that is new, nor a submission that is not scored."""
    if row in session.dirty:
        return isinstance(row, _WATCHED) and session.is_modified(row)
    if row in session.new and (isinstance(row, Team) or (isinstance(row, Submission) and row.scored is None)):
        return False
    return isinstance(row, _WATCHED)


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
