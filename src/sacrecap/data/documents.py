"""Rows out of JSON documents that are no rows themselves: a function for each shape of `shapes` that needs one.

Each gives None for a document of another form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]

_WRAPPERS = {"annotations", "captions", "data", "images", "predictions", "results", "rows", "samples"}
"""Keys that hold a list of rows: they are not image ids."""


def gts(document: Any) -> Sequence[Record] | None:
    """Rows of `{id: [{"caption"}, …]}`, as pycocoevalcap's `gts` and `res` are."""
    if not isinstance(document, dict) or not document or document.keys() <= _WRAPPERS:
        return None
    rows = []
    for image, entries in document.items():
        if not isinstance(entries, list) or not all(isinstance(one, dict) and "caption" in one for one in entries):
            return None
        rows.append({"id": image, "caption": [one["caption"] for one in entries]})
    return rows


def msrvtt(document: Any) -> Sequence[Record] | None:
    """The sentences, each with the split of its video, if the videos are listed."""
    sentences = document.get("sentences") if isinstance(document, dict) else None
    if not isinstance(sentences, list) or not all(isinstance(one, dict) and "video_id" in one for one in sentences):
        return None
    videos = document.get("videos")
    listed = [one for one in videos if isinstance(one, dict)] if isinstance(videos, list) else []
    if not all("split" in one and isinstance(one.get("video_id"), str) for one in listed) or not listed:
        return sentences
    splits = {one["video_id"]: one["split"] for one in listed}
    return [{**one, "split": splits.get(str(one["video_id"]))} for one in sentences]


def activitynet(document: Any) -> Sequence[Record] | None:
    """A paragraph per video: its sentences, in the order of the file. Predictions are under "results"."""
    videos = document.get("results", document) if isinstance(document, dict) else None
    if not isinstance(videos, dict) or not videos:
        return None
    paragraphs = {video: _sentences(entry) for video, entry in videos.items()}
    if any(sentences is None for sentences in paragraphs.values()):
        return None
    return [
        {"video_id": video, "caption": " ".join(one.strip() for one in sentences or ())}
        for video, sentences in paragraphs.items()
    ]


def _sentences(entry: Any) -> list[str] | None:
    """The sentences of `{"sentences": [text, …], "timestamps"}` or of `[{"sentence", "timestamp"}, …]`."""
    sentences = None
    if isinstance(entry, Mapping) and "timestamps" in entry:
        sentences = entry.get("sentences")
    elif isinstance(entry, list) and entry and all(isinstance(one, dict) and "timestamp" in one for one in entry):
        sentences = [one.get("sentence") for one in entry]
    return sentences if isinstance(sentences, list) and all(isinstance(one, str) for one in sentences) else None


def lmms_eval(document: Any) -> Sequence[Record] | None:
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


def lists(document: Any) -> Sequence[Record] | None:
    """Captions without image ids: the position in the list is the id, counted from 1."""
    if not isinstance(document, list) or not document or not all(isinstance(one, str | list) for one in document):
        return None
    return [{"line": number, "caption": one} for number, one in enumerate(document, 1)]
