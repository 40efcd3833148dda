"""Timed captions of videos: ActivityNet Captions' annotations and submissions, and rows with a start and an end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from sacrecap.data.rows import parsed
from sacrecap.data.source import PathLike, read_bytes
from sacrecap.errors import DataError, naming

SHAPES = (
    '{video: {"timestamps": [[start, end], …], "sentences": [caption, …]}}, {"results": {video: [{"timestamp": [start, '
    'end], "sentence": caption}, …]}}, or rows of "video_id", "start", "end" and "caption"'
)
"""What a file of timed captions may hold."""


class Timed(NamedTuple):
    """A caption of the part of a video between two times, in seconds."""

    start: float
    end: float
    caption: str


Videos: TypeAlias = "dict[str, list[Timed]]"
"""The timed captions of each video, in the order given."""


def read_timed(source: PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> Videos:
    """The timed captions of a file of JSON or JSON lines, or of what such a file holds.

    Raises `DataError` for other shapes, times that are not numbers, and captions that are not text.
    """
    if isinstance(source, (Mapping, list)):
        return _videos(source, "the timed captions")
    name = str(source)
    data = read_bytes(source)  # type: ignore[arg-type]
    with naming(f"{name}: "):
        content = parsed(data)
    return _videos(content, name)


def _videos(content: Any, name: str) -> Videos:
    if isinstance(content, Mapping):
        content = content.get("results", content)
    videos: Videos = {}
    if isinstance(content, Mapping):
        for video, own in content.items():
            videos[str(video)] = [_timed(*one, f"{name}: video {video}") for one in _of_video(own, name, video)]
    else:
        for number, row in enumerate(content if isinstance(content, list) else [None], 1):
            where = f"{name}: row {number}"
            if not isinstance(row, Mapping) or not {"video_id", "start", "end", "caption"} <= row.keys():
                raise DataError(f"{where}: no timed caption; accepted are {SHAPES}")
            timed = _timed([row["start"], row["end"]], row["caption"], where)
            videos.setdefault(str(row["video_id"]), []).append(timed)
    if not videos:
        raise DataError(f"{name}: has no video")
    return videos


def _of_video(own: Any, name: str, video: object) -> list[tuple[Any, Any]]:
    """Pairs of times and a caption, as they are written."""
    if isinstance(own, Mapping) and {"timestamps", "sentences"} <= own.keys():
        times, captions = own["timestamps"], own["sentences"]
        if isinstance(times, list) and isinstance(captions, list) and len(times) == len(captions):
            return list(zip(times, captions, strict=True))
        raise DataError(f"{name}: video {video}: needs as many timestamps as sentences, in two lists")
    if isinstance(own, list) and all(
        isinstance(one, Mapping) and {"timestamp", "sentence"} <= one.keys() for one in own
    ):
        return [(one["timestamp"], one["sentence"]) for one in own]
    raise DataError(f"{name}: video {video}: no timed captions; accepted are {SHAPES}")


def _timed(times: Any, caption: Any, where: str) -> Timed:
    if not isinstance(caption, str):
        raise DataError(f"{where}: a caption is a {type(caption).__name__}, expected a string")
    try:
        start, end = map(float, times)
    except (TypeError, ValueError):
        raise DataError(f"{where}: the times {times!r} are not a start and an end in seconds") from None
    if not (math.isfinite(start) and math.isfinite(end)):
        raise DataError(f"{where}: the times {times!r} are not numbers of seconds")
    return Timed(start, end, caption)
