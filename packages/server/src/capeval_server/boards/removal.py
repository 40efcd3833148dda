"""Submissions, teams and benchmarks that are deleted: with scores, comparisons, jobs and files."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from capeval_server.accounts.access import Caller
from capeval_server.boards import catalogue, scoring
from capeval_server.boards.board import board
from capeval_server.jobs import jobs
from capeval_server.store.models import (
    Account,
    Base,
    Benchmark,
    ComparisonRequest,
    Job,
    RemovedSubmission,
    Submission,
    SubmissionPair,
    Team,
    now,
)
from capeval_server.store.removal import remove
from capeval_server.web.errors import Refused


def remove_submission(session: Session, submission: Submission, benchmark: Benchmark) -> None:
    """Deletes a submission; it goes on counting for the quota, and the board is made anew without it."""
    scored = select(Job.state).where(Job.kind == scoring.KIND, Job.subject_id == submission.id)
    if session.execute(scored).scalars().first() != "failed":
        session.add(
            RemovedSubmission(
                benchmark_id=benchmark.id, team_id=submission.team_id, created=submission.created
            )
        )
    number, team_id = benchmark.id, submission.team_id
    _remove_submissions(session, [submission.id])
    changed(session, [number])
    _compare_best(session, session.get_one(Benchmark, number), team_id)


def _remove_submissions(session: Session, numbers: Sequence[int]) -> None:
    """With their jobs first: what still runs then stores nothing."""
    asked = select(ComparisonRequest.id).where(
        ComparisonRequest.a_id.in_(numbers) | ComparisonRequest.b_id.in_(numbers)
    )
    on_it = Job.kind.in_([scoring.KIND, scoring.COMPARE]) & Job.subject_id.in_(numbers)
    session.execute(delete(Job).where(on_it | ((Job.kind == scoring.ASKED) & Job.subject_id.in_(asked))))
    remove(session, Base.metadata.tables["submission"], numbers)


def _compare_best(session: Session, benchmark: Benchmark, team_id: int) -> None:
    """Queues what the board needs now: the team's next best may not be compared with the others yet."""
    rows = [row.entry for row in board(session, benchmark)]
    best = next((entry.id for entry in rows if entry.team_id == team_id), None)
    others = {entry.id for entry in rows} - {best}
    pairs = select(SubmissionPair.a_id, SubmissionPair.b_id)
    known = session.execute(pairs.where((SubmissionPair.a_id == best) | (SubmissionPair.b_id == best))).all()
    if best is not None and others - {number for pair in known for number in pair}:
        jobs.add(session, scoring.COMPARE, best)


def problem_with_team_removal(session: Session, team_id: int) -> str | None:
    """Why its captain cannot delete the team."""
    query = (
        select(Benchmark.title)
        .join(Submission, Submission.benchmark_id == Benchmark.id)
        .where(Submission.team_id == team_id, Benchmark.closes <= now())
        .limit(1)
    )
    title = session.execute(query).scalar_one_or_none()
    if title is None:
        return None
    return f"The team has submitted to {title}, which has closed, and its results stay. Ask an administrator."


def remove_team(session: Session, team: Team) -> None:
    """Deletes a team with all that it submitted; its people stay, without a team."""
    number = team.id
    affected = session.execute(select(Submission.benchmark_id).where(Submission.team_id == number)).scalars().all()
    for account in session.execute(select(Account).where(Account.team_id == number)).scalars():
        account.team_id = None
    session.flush()
    submitted = select(Submission.id).where(Submission.team_id == number)
    _remove_submissions(session, session.execute(submitted).scalars().all())
    remove(session, Base.metadata.tables["team"], [number])
    changed(session, affected)


def remove_benchmark(session: Session, benchmark: Benchmark) -> int:
    """Deletes a benchmark with everything that was submitted to it; gives the number of submissions."""
    number = benchmark.id
    query = select(Submission.id).where(Submission.benchmark_id == number)
    submitted = session.execute(query).scalars().all()
    _remove_submissions(session, submitted)
    remove(session, Base.metadata.tables["benchmark"], [number])
    return len(submitted)


def show_on_boards(session: Session, account: Account, *, shown: bool) -> None:
    """Takes what the account submitted off all boards, or puts it back."""
    account.off_boards = not shown
    session.flush()
    query = select(Submission.benchmark_id, Submission.team_id).where(Submission.account_id == account.id).distinct()
    affected = session.execute(query).all()
    changed(session, [benchmark_id for benchmark_id, _ in affected])
    for benchmark_id, team_id in affected:
        _compare_best(session, session.get_one(Benchmark, benchmark_id), team_id)


def changed(session: Session, benchmarks: Sequence[int]) -> None:
    """Says that the boards are not what they were, to whatever has kept them."""
    if "revision" in Benchmark.__table__.c:
        column = Benchmark.__table__.c["revision"]
        session.execute(update(Benchmark.__table__).where(Benchmark.id.in_(benchmarks)).values({column: column + 1}))  # type: ignore[arg-type]


def check_own(caller: Caller, submission: Submission, benchmark: Benchmark) -> None:
    """Raises `Refused` (403) where the caller cannot delete the submission."""
    if caller.owns(benchmark.owner_id):
        return
    if caller.team_id is None or caller.team_id != submission.team_id:
        raise Refused(403, "Only its team or the benchmark's organiser deletes a submission.")
    if catalogue.is_over(benchmark):
        raise Refused(
            403, f"{benchmark.title} has closed, and its results stay. Ask its organiser to delete the submission."
        )


def may_delete(caller: Caller, submission: Submission, benchmark: Benchmark) -> bool:
    """Whether the caller can delete the submission now."""
    try:
        check_own(caller, submission, benchmark)
    except Refused:
        return False
    return True
