"""The job that scores a submission."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session, joinedload

from capeval.server import blobs
from capeval.server.jobs import KINDS, Kind
from capeval.server.models import Submission, SubmissionScore, now

KIND = "score"


def prepare(session: Session, submission_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """Metrics and tokenizer; hidden references and submitted captions."""
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    benchmark = submission.benchmark
    files = [blobs.fetch(session, benchmark.references_sha), blobs.fetch(session, submission.file_sha)]
    return {"metrics": benchmark.metrics, "tokenizer": benchmark.tokenizer}, files


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
    session.get_one(Submission, submission_id).scored = now()


KINDS[KIND] = Kind(prepare, "capeval.server.scorer:compute", store)
