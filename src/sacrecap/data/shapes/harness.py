"""Output of programs that evaluate models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap.data.shapes.family import Record, Shape


def _lmms_eval(document: Any) -> Sequence[Record] | None:
    """Id, prediction and references of logged samples; older versions write a list of them under "logs"."""
    samples = document.get("logs") if isinstance(document, dict) and "logs" in document else document
    samples = [samples] if isinstance(samples, dict) else samples
    if not isinstance(samples, list) or not samples:
        return None
    if not all(isinstance(one, dict) and {"doc_id", "filtered_resps"} <= one.keys() for one in samples):
        return None
    return [
        {"id": _id(one), "prediction": _first(one["filtered_resps"]), "references": one.get("target")}
        for one in samples
    ]


def _id(sample: Record) -> Any:
    """The image's id, if the task's data has one, else the number of the sample."""
    document = sample.get("doc")
    known = document if isinstance(document, Mapping) else {}
    return next((known[name] for name in ("image_id", "question_id", "file_name") if name in known), sample["doc_id"])


def _first(responses: Any) -> Any:
    """The first response: one is logged for each repetition, and each may be inside another list."""
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return None if isinstance(responses, list) else responses


ALL = (
    Shape(
        "lmms-eval",
        'samples as lines of {"doc_id", "target", "filtered_resps"}',
        ids=("id",),
        captions=("prediction",),
        references=("references",),
        lists_in_text=True,
        unpack=_lmms_eval,
    ),
    Shape(
        "vlmevalkit",
        "a table or Excel file with index, prediction and answer",
        ids=("index",),
        captions=("prediction",),
        references=("answer",),
        lists_in_text=True,
    ),
    Shape("llava", 'lines of {"question_id", "text"}', ids=("question_id",), captions=("text",)),
    Shape(
        "predictions",
        "rows of id, prediction and references",
        ids=("id", "image_id", "image", "video_id", "file_name", "filename"),
        captions=("prediction",),
        references=("references", "reference"),
    ),
)
