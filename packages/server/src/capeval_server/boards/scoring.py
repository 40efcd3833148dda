"""The jobs that score a submission, and compare it with the other teams' best."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session, joinedload

from capeval_server.boards import webhooks
from capeval_server.boards.board import board
from capeval_server.jobs import jobs
from capeval_server.jobs.jobs import JOB_KINDS, JobKind
from capeval_server.store import blobs
from capeval_server.store.models import Benchmark, ComparisonRequest, Submission, SubmissionPair, SubmissionScore, now

KIND = "score"
COMPARE = "compare"
ASKED = "pair"


def prepare(session: Session, submission_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """Metrics and tokenizer; hidden references and submitted captions."""
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    benchmark = submission.benchmark
    files = [blobs.fetch(session, benchmark.references_sha), blobs.fetch(session, submission.file_sha)]
    return _header(session, benchmark), files


def _header(session: Session, benchmark: Benchmark) -> dict[str, Any]:
    objects = json.loads(blobs.fetch(session, benchmark.objects_sha)) if benchmark.objects_sha else None
    return {"metrics": benchmark.metrics, "tokenizer": benchmark.tokenizer, "objects": objects}


def store(session: Session, submission_id: int, answer: dict[str, Any]) -> None:
    """Replaces what an earlier run stored."""
    session.execute(delete(SubmissionScore).where(SubmissionScore.submission_id == submission_id))
    for metric, value in answer["scores"].items():
        lower, upper = answer["intervals"][metric]
        session.add(
            SubmissionScore(
                submission_id=submission_id, metric=metric, value=value, lower=lower, upper=upper,
                signature=answer["signatures"][metric],
            )
        )  # fmt: skip
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    submission.scored = now()
    session.flush()
    on_board = {row.entry.id for row in board(session, submission.benchmark)}
    if submission_id in on_board and len(on_board) > 1:
        jobs.add(session, COMPARE, submission_id)
    webhooks.announce(session, submission)


def stands_again(session: Session, submission: Submission) -> None:
    """Compares the team's best of now, after one of its submissions left the board or came back to it."""
    benchmark = session.get_one(Benchmark, submission.benchmark_id)
    for row in board(session, benchmark):
        if row.entry.team_id == submission.team_id:
            jobs.add(session, COMPARE, row.entry.id)


def prepare_comparison(session: Session, submission_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """The submission, and the other teams' best that it is not compared with yet."""
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    benchmark = submission.benchmark
    rows = board(session, benchmark)
    others = [row.entry.id for row in rows if row.entry.team_id != submission.team_id]
    if submission_id not in {row.entry.id for row in rows}:
        others = []
    return _together(session, benchmark, [submission_id, *others])


def prepare_asked(session: Session, comparison_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """The two submissions that somebody asked for."""
    comparison = session.get_one(ComparisonRequest, comparison_id)
    submission = session.get_one(Submission, comparison.a_id, options=[joinedload(Submission.benchmark)])
    return _together(session, submission.benchmark, [comparison.a_id, comparison.b_id])


def _together(session: Session, benchmark: Benchmark, numbers: list[int]) -> tuple[dict[str, Any], list[bytes]]:
    shas = dict(session.execute(select(Submission.id, Submission.file_sha).where(Submission.id.in_(numbers))).all())
    files = [blobs.fetch(session, sha) for sha in (benchmark.references_sha, *(shas[number] for number in numbers))]
    return {**_header(session, benchmark), "systems": numbers}, files


def store_comparison(session: Session, _: int, answer: dict[str, Any]) -> None:
    """Adds the pairs, the smaller number first; two jobs may have compared the same two."""
    for one, other, metric, delta, lower, upper, p in answer["pairs"]:
        values = (delta, lower, upper) if one < other else (-delta, -upper, -lower)
        row = dict(zip(("delta", "lower", "upper"), values, strict=True))
        session.merge(SubmissionPair(a_id=min(one, other), b_id=max(one, other), metric=metric, p=p, **row))


JOB_KINDS[KIND] = JobKind(prepare, "capeval_server.boards.scorer:compute", store)
JOB_KINDS[COMPARE] = JobKind(prepare_comparison, "capeval_server.boards.scorer:compare", store_comparison)
JOB_KINDS[ASKED] = JobKind(prepare_asked, "capeval_server.boards.scorer:compare", store_comparison)
