"""Submissions as their team, the benchmark's owner and administrators see them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Caller
from sacrecap_server.boards import catalogue, parts, scoring
from sacrecap_server.boards.board_view import metrics_of
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.models import Benchmark, Blob, Job, Submission, SubmissionScore, Team
from sacrecap_studies.messages import Message


@dataclass(frozen=True)
class SubmissionStatus:
    """A submission, and how far it is."""

    submission: Submission
    benchmark: Benchmark
    team: str
    job: Job
    size: int
    scores: list[SubmissionScore]
    """Empty while there are none, and where the caller may not see them."""
    second: list[SubmissionScore]
    """The same against the benchmark's second references."""
    message: str
    """Why it failed, as far as the caller may know."""

    @property
    def state(self) -> str:
        """queued, running, done or failed."""
        return self.job.state

    @property
    def main(self) -> SubmissionScore | None:
        """The score by which the board is ranked; None if there is none to see."""
        return next((score for score in self.scores if score.metric == self.benchmark.rank_by), None)


_QUERY = (
    select(Submission, Benchmark, Team.name, Job, Blob.size)
    .join(Benchmark, Benchmark.id == Submission.benchmark_id)
    .join(Team, Team.id == Submission.team_id)
    .join(Blob, Blob.sha256 == Submission.file_sha)
    .join(Job, (Job.subject_id == Submission.id) & (Job.kind == scoring.KIND))
)


def find(session: Session, caller: Caller, submission_id: int) -> SubmissionStatus:
    """A submission of the caller's team, or to a benchmark they own; for others there is none (`Refused`, 404)."""
    row = session.execute(_QUERY.where(Submission.id == submission_id)).one_or_none()
    if row is None:
        raise not_found("submission")
    submission, benchmark, team, job, size = row
    owner = caller.owns(benchmark.owner_id)
    if not owner and (caller.team_id is None or caller.team_id != submission.team_id):
        raise not_found("submission")
    scores = _scores(session, caller, [row])
    return SubmissionStatus(submission, benchmark, team, job, size, *scores[submission.id], _message(job, owner=owner))


def listed(
    session: Session, caller: Caller, benchmark: Benchmark | None = None, *, everyone: bool = False, most: int = 200
) -> list[SubmissionStatus]:
    """The newest submissions of the caller's team, or, for the owner, of everyone."""
    query = _QUERY.order_by(Submission.id.desc()).limit(most)
    if benchmark is not None:
        query = query.where(Submission.benchmark_id == benchmark.id)
    if not (everyone and benchmark is not None and caller.owns(benchmark.owner_id)):
        query = query.where(Submission.team_id == caller.team_id)
    rows = session.execute(query).all()
    scores = _scores(session, caller, rows)
    return [
        SubmissionStatus(
            submission, its, team, job, size, *scores[submission.id], _message(job, owner=caller.owns(its.owner_id))
        )
        for submission, its, team, job, size in rows
    ]


def _scores(
    session: Session, caller: Caller, rows: Sequence[Any]
) -> dict[int, tuple[list[SubmissionScore], list[SubmissionScore]]]:
    """By submission, in the order of the benchmark's metrics; those that the caller may see now, of both sets."""
    shown = {
        submission.id: benchmark
        for submission, benchmark, _, job, _ in rows
        if job.state == "done" and catalogue.sees_scores(caller, benchmark)
    }
    found: dict[tuple[int, str], dict[str, SubmissionScore]] = defaultdict(dict)
    part = {benchmark.id: parts.shown(session, benchmark) for benchmark in shown.values()}
    query = select(SubmissionScore).where(SubmissionScore.submission_id.in_(shown))
    for score in session.execute(query).scalars():
        found[score.submission_id, score.part][score.metric] = score
    order = {benchmark.id: metrics_of(benchmark) for benchmark in shown.values()}

    def ordered(number: int, benchmark: Benchmark, part: str) -> list[SubmissionScore]:
        its = found[number, part]
        return [its[metric] for metric in order[benchmark.id] if metric in its]

    scores: dict[int, tuple[list[SubmissionScore], list[SubmissionScore]]] = defaultdict(lambda: ([], []))
    for number, its in shown.items():
        scores[number] = (ordered(number, its, part[its.id]), ordered(number, its, its.second_part or ""))
    return scores


def may_choose(caller: Caller, standing: SubmissionStatus) -> bool:
    """Whether the caller's team can say now that this submission counts, or does not."""
    mine = caller.team_id == standing.submission.team_id
    return mine and standing.submission.disqualified is None and not catalogue.is_over(standing.benchmark)


def choose(session: Session, caller: Caller, standing: SubmissionStatus, *, chosen: bool) -> None:
    """Makes this the submission of its team that counts, or lets its best one count again.

    Raises `Refused` (403) for others, and after the closing date, when people see the private scores.
    """
    if not may_choose(caller, standing):
        raise Refused(403, "Only the team of a submission chooses it, and only before the benchmark has closed.")
    submission = session.get_one(Submission, standing.submission.id)
    theirs = Submission.benchmark_id == submission.benchmark_id, Submission.team_id == submission.team_id
    for other in session.execute(select(Submission).where(*theirs, Submission.chosen)).scalars():
        other.chosen = False
    submission.chosen = chosen
    session.flush()
    scoring.queue_missing(session, session.get_one(Benchmark, submission.benchmark_id))


def disqualify(session: Session, caller: Caller, standing: SubmissionStatus, reason: str) -> None:
    """Takes a submission off the board with a reason that its team reads; an empty one puts it back.

    Raises `Refused` (403) for who does not own the benchmark.
    """
    if not caller.owns(standing.benchmark.owner_id):
        raise Refused(403, "Only the benchmark's owner disqualifies a submission.")
    submission = session.get_one(Submission, standing.submission.id)
    submission.disqualified = reason or None
    session.flush()
    scoring.queue_missing(session, session.get_one(Benchmark, submission.benchmark_id))


def _message(job: Job, *, owner: bool) -> str:
    """The reason may touch hidden references, so only who knows them reads it."""
    if job.state != "failed":
        return ""
    if owner:
        return job.message
    return Message("It could not be scored. The organiser of the benchmark sees the reason.")


def display_name(name: str) -> str:
    """The file's name as something to show; it is never a path of ours."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(character for character in last if character.isprintable())[:200] or "(no name)"
