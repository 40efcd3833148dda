"""Writing candidates, caption sets and objects: whole or not at all, in formats that the readers accept."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any

from sacrecap._core import Captions, image_ids
from sacrecap.data.atomic import atomic_write
from sacrecap.data.objects import meaning
from sacrecap.data.rows import holds_rows
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, DataWarning, UsageError, some, warn

Row = dict[str, Any]
"""An image id and its candidate."""


def write_candidates(
    path: PathLike, candidates: Mapping[str, str] | Mapping[int, str], format: str | None = None
) -> None:
    """Write one caption per image.

    Args:
        path: the file to write; ``-`` is standard output. The file appears when it is complete.
        candidates: the caption of each image id; an id that is a number is written as a number.
        format: one of `WRITTEN_FORMATS`; by default chosen by the suffix of the path, else ``list``.

    Raises:
        DataError: an id or caption is of another type, or the file cannot be written.
        UsageError: no such format.
    """
    suffix = os.path.splitext(os.fspath(path))[1].removeprefix(".").lower()
    name = format or (suffix if suffix in WRITTEN_FORMATS else "list")
    if name not in WRITTEN_FORMATS:
        raise UsageError(f"candidates are not written as {name!r}; choose from {', '.join(WRITTEN_FORMATS)}")
    by_image: Mapping[Any, object] = candidates
    if lists := [image for image, caption in by_image.items() if not isinstance(caption, str)]:
        raise DataError(f"the candidate of image {lists[0]} is not a string ({len(lists)} such in all)")
    Captions.from_dict(candidates)  # the checks of the readers
    # JSON knows no numbers of NumPy's.
    ids = [str(image) if isinstance(image, str) else int(image_ids([image])[0]) for image in by_image]
    texts = map(str, by_image.values())
    rows = [{"image_id": image, "caption": text} for image, text in zip(ids, texts, strict=True)]
    with atomic_write(path) as file:
        WRITTEN_FORMATS[name](file, rows)


def write_caption_sets(path: PathLike, sets: Mapping[str, Sequence[str]]) -> None:
    """Write caption sets as a list of ``{"image_id", "captions"}``, one set per line.

    Args:
        path: the file to write; ``-`` is standard output. The file appears when it is complete.
        sets: the captions of each image id.

    Raises:
        DataError: the file cannot be written.
    """
    write_list(path, ({"image_id": image, "captions": list(set_)} for image, set_ in sets.items()))


def write_objects(path: PathLike, objects: Mapping[str, Mapping[str, int] | Sequence[str]]) -> None:
    """Write a list of ``{"image_id", "objects"}``, one row per line: labels with counts, or only labels.

    Args:
        path: the file to write; ``-`` is standard output. The file appears when it is complete.
        objects: by image id, counts by label, or labels.

    Raises:
        DataError: the file cannot be written.
    """
    plain = ((image, dict(of) if isinstance(of, Mapping) else list(of)) for image, of in objects.items())
    write_list(path, ({"image_id": image, "objects": of} for image, of in plain))


def unite(sources: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, list[str]]:
    """The unique things in each image by any of the sources, each by the label that comes first: see `meaning`. Counts
    of several sources cannot be added.

    Warns:
        DataWarning: an image is missing in a source; it counts as having no objects there.
    """
    files = list(sources)
    images = dict.fromkeys(image for objects in files for image in objects)
    partly = [image for image in images if any(image not in objects for objects in files)]
    if partly:
        warn(f"not in every file, and counted as without objects there: {some(partly)}", DataWarning)
    united: dict[str, dict[str, str]] = {image: {} for image in images}
    for image, labels in (entry for objects in files for entry in objects.items()):
        for label in labels:
            united[image].setdefault(meaning(label), label)
    return {image: list(labels.values()) for image, labels in united.items()}


def write_list(path: PathLike, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a list of JSON objects, one per line, whole or not at all. Raises `DataError` if it cannot be written."""
    with atomic_write(path) as file:
        _write_list(file, rows)


def _write_list(file: IO[str], rows: Iterable[Mapping[str, Any]]) -> None:
    separator = "[\n"
    for row in rows:
        file.write(separator + json.dumps(row, ensure_ascii=False))
        separator = ",\n"
    file.write("[]\n" if separator == "[\n" else "\n]\n")


def _write_table(file: IO[str], rows: Sequence[Row], delimiter: str) -> None:
    """A table of text. Line breaks are blanks in a caption whose lines a reader would take for further rows."""
    table, ids = csv.writer(file, delimiter=delimiter), {str(row["image_id"]) for row in rows}
    table.writerow(["image_id", "caption"])
    for image, caption in (row.values() for row in rows):
        table.writerow([image, caption.replace("\n", " ") if holds_rows(caption, delimiter, ids) else caption])


WRITTEN_FORMATS: dict[str, Callable[[IO[str], Sequence[Row]], None]] = {
    "list": _write_list,
    "jsonl": lambda file, rows: file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
    "csv": lambda file, rows: _write_table(file, rows, ","),
    "tsv": lambda file, rows: _write_table(file, rows, "\t"),
}
"""The formats for writing candidates, with their writers."""
