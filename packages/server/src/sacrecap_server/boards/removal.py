"""Submissions, teams and benchmarks that are deleted: with scores, comparisons, jobs and files."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Caller
from sacrecap_server.boards import catalogue, scoring
from sacrecap_server.boards.revision import touch
from sacrecap_server.store.cascade import remove
from sacrecap_server.store.models import (
    Account,
    Base,
    Benchmark,
    ComparisonRequest,
    Job,
    QuotaUse,
    Submission,
    Team,
    now,
)
from sacrecap_studies.messages import Message


def remove_submission(session: Session, submission: Submission, benchmark: Benchmark) -> None:
    """Deletes a submission; it goes on counting for the quota, and the board is made anew without it."""
    number = benchmark.id
    _remove_submissions(session, [submission.id])
    _changed(session, [number])


def _remove_submissions(session: Session, numbers: Sequence[int]) -> None:
    """With their jobs first: what still runs then stores nothing. Quotas go on counting all but those that failed."""
    failed = select(Job.subject_id).where(Job.kind == scoring.KIND, Job.state == "failed", Job.subject_id.in_(numbers))
    session.execute(delete(QuotaUse).where(QuotaUse.submission_id.in_(failed)))
    asked = select(ComparisonRequest.id).where(
        ComparisonRequest.a_id.in_(numbers) | ComparisonRequest.b_id.in_(numbers)
    )
    on_it = Job.kind.in_([scoring.KIND, scoring.COMPARE]) & Job.subject_id.in_(numbers)
    session.execute(delete(Job).where(on_it | ((Job.kind == scoring.ASKED) & Job.subject_id.in_(asked))))
    remove(session, Base.metadata.tables["submission"], numbers)


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
    return Message(
        "The team has submitted to %(title)s, which has closed: its results and its name stay. Ask an administrator.",
        title=title,
    )


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
    _changed(session, affected)


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
    affected = select(Submission.benchmark_id).where(Submission.account_id == account.id)
    _changed(session, session.execute(affected).scalars().all())


def _changed(session: Session, benchmarks: Sequence[int]) -> None:
    """Marks the boards as changed, and queues the comparisons that they need now."""
    numbers = sorted(set(benchmarks))
    touch(session, numbers)
    for number in numbers:
        scoring.queue_missing(session, session.get_one(Benchmark, number))


def problem_with_removal(caller: Caller, submission: Submission, benchmark: Benchmark) -> str:
    """Why the caller cannot delete the submission now; empty if they can."""
    if caller.owns(benchmark.owner_id):
        return ""
    if caller.team_id is None or caller.team_id != submission.team_id:
        return Message("Only its team or the benchmark's organiser deletes a submission.")
    if catalogue.is_over(benchmark):
        return Message(
            "%(title)s has closed, and its results stay. Ask its organiser to delete the submission.",
            title=benchmark.title,
        )
    return ""
