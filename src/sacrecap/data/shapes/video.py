"""Captions of videos: "image" means a video here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sacrecap.data.shapes.family import Record, Shape


def _msrvtt(document: Any) -> Sequence[Record] | None:
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


def _activitynet(document: Any) -> Sequence[Record] | None:
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


ALL = (
    Shape(
        "msrvtt",
        '{"videos": [{"video_id", "split"}, …], "sentences": [{"video_id", "caption"}, …]}',
        ids=("video_id",),
        captions=("caption",),
        split="split",
        unpack=_msrvtt,
    ),
    Shape(
        "activitynet",
        '{video id: {"timestamps", "sentences": […]}, …}; a paragraph per video',
        ids=("video_id",),
        captions=("caption",),
        unpack=_activitynet,
    ),
    Shape("vatex", '[{"videoID", "enCap": […]}, …]', ids=("videoID",), captions=("enCap",)),
)
