"""Submissions as their team, the benchmark's owner and administrators see them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from capeval_server.accounts.access import Caller
from capeval_server.boards import catalogue, parts, scoring
from capeval_server.boards.board import metrics_of
from capeval_server.store.models import Benchmark, Blob, Job, Submission, SubmissionScore, Team
from capeval_server.web.errors import not_found


@dataclass(frozen=True)
class Standing:
    """A submission, and how far it is."""

    submission: Submission
    benchmark: Benchmark
    team: str
    job: Job
    size: int
    scores: list[SubmissionScore]
    """Empty while there are none, and where the caller may not see them."""
    message: str
    """Why it failed, as far as the caller may know."""

    @property
    def state(self) -> str:
        """queued, running, done or failed."""
        return self.job.state


_QUERY = (
    select(Submission, Benchmark, Team.name, Job, Blob.size)
    .join(Benchmark, Benchmark.id == Submission.benchmark_id)
    .join(Team, Team.id == Submission.team_id)
    .join(Blob, Blob.sha256 == Submission.file_sha)
    .join(Job, (Job.subject_id == Submission.id) & (Job.kind == scoring.KIND))
)


def find(session: Session, caller: Caller, submission_id: int) -> Standing:
    """A submission of the caller's team, or to a benchmark they own; for others there is none (`Refused`, 404)."""
    row = session.execute(_QUERY.where(Submission.id == submission_id)).one_or_none()
    if row is None:
        raise not_found("submission")
    submission, benchmark, team, job, size = row
    owner = caller.owns(benchmark.owner_id)
    if not owner and (caller.team_id is None or caller.team_id != submission.team_id):
        raise not_found("submission")
    scores = []
    if job.state == "done" and catalogue.sees_scores(caller, benchmark):
        query = select(SubmissionScore).where(
            SubmissionScore.submission_id == submission.id, SubmissionScore.part == parts.shown(session, benchmark)
        )
        by_metric = {score.metric: score for score in session.execute(query).scalars()}
        scores = [by_metric[metric] for metric in metrics_of(benchmark) if metric in by_metric]
    return Standing(submission, benchmark, team, job, size, scores, _message(job, owner=owner))


def listed(
    session: Session, caller: Caller, benchmark: Benchmark | None = None, *, everyone: bool = False, most: int = 200
) -> list[Standing]:
    """The newest submissions of the caller's team, or, for the owner, of everyone; without scores."""
    query = _QUERY.order_by(Submission.id.desc()).limit(most)
    if benchmark is not None:
        query = query.where(Submission.benchmark_id == benchmark.id)
    if not (everyone and benchmark is not None and caller.owns(benchmark.owner_id)):
        query = query.where(Submission.team_id == caller.team_id)
    return [
        Standing(submission, its, team, job, size, [], _message(job, owner=caller.owns(its.owner_id)))
        for submission, its, team, job, size in session.execute(query).all()
    ]


def _message(job: Job, *, owner: bool) -> str:
    """The reason may touch hidden references, so only who knows them reads it."""
    if job.state != "failed":
        return ""
    return job.message if owner else "It could not be scored. The organiser of the benchmark sees the reason."


def display_name(name: str) -> str:
    """The file's name as something to show; it is never a path of ours."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in last if character.isprintable())[:200] or "(no name)"
