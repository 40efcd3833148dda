"""Uploads of teams: checked completely, then queued."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from capeval_server.accounts import names
from capeval_server.accounts.access import Caller
from capeval_server.boards import scoring
from capeval_server.boards.catalogue import find, is_open
from capeval_server.boards.check import problems_of
from capeval_server.jobs import jobs
from capeval_server.store import blobs
from capeval_server.store.models import Benchmark, Job, RemovedSubmission, Submission, Team, now
from capeval_server.web.errors import Refused

if TYPE_CHECKING:
    from capeval_server.web.context import RequestContext


def used(session: Session, benchmark: Benchmark, team_id: int) -> tuple[int, int]:
    """Submissions of the team that count, today (UTC) and in all; one that failed costs nothing, a deleted one does."""
    mine = (
        select(func.count())
        .select_from(Submission)
        .join(Job, (Job.subject_id == Submission.id) & (Job.kind == scoring.KIND))
        .where(Submission.benchmark_id == benchmark.id, Submission.team_id == team_id, Job.state != "failed")
    )
    gone = (
        select(func.count())
        .select_from(RemovedSubmission)
        .where(RemovedSubmission.benchmark_id == benchmark.id, RemovedSubmission.team_id == team_id)
    )
    today = now().replace(hour=0, minute=0, second=0, microsecond=0)
    return (
        session.execute(mine.where(Submission.created >= today)).scalar_one()
        + session.execute(gone.where(RemovedSubmission.created >= today)).scalar_one(),
        session.execute(mine).scalar_one() + session.execute(gone).scalar_one(),
    )


@dataclass(frozen=True)
class Upload:
    """A file that a team sends."""

    data: bytes
    file_name: str
    system: str


def receive(context: RequestContext, slug: str, upload: Upload) -> tuple[Submission, bool]:
    """Checks a file completely, outside any transaction, and queues it: the submission, and whether it is new.

    Raises `Refused` with every problem of the file, or where the benchmark or the quota says no.
    """
    upload = replace(upload, system=names.tidy(upload.system))
    with context.database.read() as session:
        benchmark = find(session, slug)
        images = context.state.image_ids.of(session, benchmark)
    check_upload(benchmark, images, upload)
    with context.database.write() as session:
        submission, new = submit(session, context.caller, benchmark, upload)
        if new:
            context.audit(session, "submitted", f"{slug} {submission.id}")
    context.state.jobs.wake()
    return submission, new


def check_upload(benchmark: Benchmark, images: Sequence[str], upload: Upload) -> None:
    """Raises `Refused` with every problem of the file."""
    problems = problems_of(upload.data, images)
    if problem := names.problem_with(upload.system, "system"):
        problems.insert(0, problem)
    if problems:
        raise Refused(422, f"The file cannot be scored on {benchmark.title}.", problems)


def submit(session: Session, caller: Caller, benchmark: Benchmark, upload: Upload) -> tuple[Submission, bool]:
    """Queues a checked file; gives the submission, and whether it is new: the same file twice is one submission.

    Raises `Refused` where the benchmark is not open or the quota is used up.
    """
    assert caller.account_id is not None
    if caller.team_id is None:
        raise Refused(403, "This account is in no team, and only teams submit.")
    # Two uploads of one team at once must not both be the last of the quota, nor both the first of the file.
    session.execute(select(Team.id).where(Team.id == caller.team_id).with_for_update())
    same = select(Submission).where(
        Submission.benchmark_id == benchmark.id,
        Submission.team_id == caller.team_id,
        Submission.file_sha == blobs.sha256(upload.data),
    )
    if known := session.execute(same).scalar_one_or_none():
        return known, False
    _check_open(session, benchmark, caller.team_id)
    submission = Submission(
        benchmark_id=benchmark.id, team_id=caller.team_id, account_id=caller.account_id,
        file_sha=blobs.keep(session, upload.data), file_name=upload.file_name[:200], system=upload.system,
    )  # fmt: skip
    session.add(submission)
    session.flush()
    jobs.add(session, scoring.KIND, submission.id)
    return submission, True


def _check_open(session: Session, benchmark: Benchmark, team_id: int) -> None:
    if not is_open(benchmark):
        raise Refused(403, f"{benchmark.title} takes no submissions now.")
    today, total = used(session, benchmark, team_id)
    if total >= benchmark.quota_total:
        raise Refused(429, f"Your team has used all {benchmark.quota_total} submissions to {benchmark.title}.")
    if today >= benchmark.quota_day:
        raise Refused(429, f"Your team has used its {benchmark.quota_day} submissions of today (UTC).")
