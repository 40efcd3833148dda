"""The job that scores a submission."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session, joinedload

from capeval.server import blobs
from capeval.server.jobs import KINDS, Kind
from capeval.server.models import Submission, SubmissionScore, now

KIND = "score"
SAMPLES = 1000
LEVEL = 0.95


def prepare(session: Session, submission_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """Metrics and tokenizer; hidden references and submitted captions."""
    submission = session.get_one(Submission, submission_id, options=[joinedload(Submission.benchmark)])
    benchmark = submission.benchmark
    files = [blobs.fetch(session, benchmark.references_sha), blobs.fetch(session, submission.file_sha)]
    return {"metrics": benchmark.metrics, "tokenizer": benchmark.tokenizer}, files


def compute(header: dict[str, Any], files: list[bytes], progress: Callable[[str], None]) -> dict[str, Any]:
    """The JSON of `capeval score`, one metric after the other, so that those who wait see how far it is."""
    from capeval._core import Captions
    from capeval.corpus import Corpus
    from capeval.evaluate import score_corpus
    from capeval.registry import parse_metrics

    warnings.simplefilter("ignore")
    progress("tokenising")
    references, candidates = (Captions.parse(file, None, None) for file in files)
    corpus = Corpus(references, candidates, tokenizer=header["tokenizer"], threads=1)
    answer: dict[str, Any] = {"scores": {}, "intervals": {}, "signatures": {}}
    metrics = parse_metrics(header["metrics"])
    for number, metric in enumerate(metrics, 1):
        progress(f"scoring {metric.label}, {number} of {len(metrics)}")
        result = score_corpus(corpus, [metric], interval=LEVEL, samples=SAMPLES, threads=1).to_dict()
        for part, values in answer.items():
            values.update(result[part])
    return answer


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


KINDS[KIND] = Kind(prepare, "capeval.server.scoring:compute", store)
