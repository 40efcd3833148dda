"""Parts of the input: pieces that a worker reads by itself."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

from sacrecap.data.listing import Found, by_suffix, files_of, local_path
from sacrecap.data.partitioned.files import import_pyarrow
from sacrecap.data.partitioned.part import BadRow, Part
from sacrecap.data.partitioned.text import beginning, is_plain
from sacrecap.data.source import Reading
from sacrecap.errors import DataError, SacrecapError

PART_BYTES = 128 << 20
"""Bytes of a file that make a part, unless a single row group has more."""

WHOLE = "whole"
"""The format of files that are read whole: COCO's, Karpathy's, and others whose rows do not stand one by one."""

_AT_ONCE = 16
"""Files that are looked at at once: on object storage each is a wait."""
_NAMED = 5


def find_parts(
    inputs: Sequence[str],
    *,
    reading: Reading = Reading(),  # noqa: B008 - a tuple
    part_bytes: int = PART_BYTES,
    bad: list[BadRow] | None = None,
) -> list[Part]:
    """The parts of all files, ordered by the files' names.

    Args:
        inputs: files, folders and patterns such as `data/*.parquet`, as paths or as URLs of a file system that fsspec
            or pyarrow knows: see `files_of`. A file that is found twice counts once.
        reading: how each is read; a file whose format, split or encoding is named is read whole.
        part_bytes: about as many bytes of a file make a part. Parquet and Arrow files are cut, and JSON lines that are
            not compressed; others are parts as they are.
        bad: where files go that are broken, if they are no errors.

    Raises:
        DataError: an input is not there or has no files, files of a folder have different formats, or files are broken:
            the message names the first ones, and says how many there are.
        MissingDependencyError: pyarrow, or what a URL needs, is not installed.
    """
    import_pyarrow()
    files = [one for url in inputs for one in _files(url, reading)]
    files = sorted({found.url: (found, format, left) for found, format, left in files}.values())
    if not files:
        raise DataError("no input; name files, folders or patterns")
    with ThreadPoolExecutor(min(_AT_ONCE, len(files))) as pool:
        cut = list(pool.map(lambda one: _cut_or_error(one[0], one[1], one[2], part_bytes), files))
    errors = [one for one in cut if isinstance(one, SacrecapError)]
    if errors and bad is None:
        raise _together(errors, len(files))
    parts: list[Part] = []
    for (found, *_), own in zip(files, cut, strict=True):
        if isinstance(own, list):
            parts += [replace(part, number=len(parts) + place) for place, part in enumerate(own)]
        elif bad is not None:
            bad.append(BadRow.of_file(found.url, own))
    return parts


def fingerprint(parts: Sequence[Part]) -> str:
    """A text that changes when the input does: its files, their sizes and times, and how they are cut."""
    return hashlib.sha256(" ".join(part.fingerprint() for part in parts).encode()).hexdigest()


def _together(errors: Sequence[SacrecapError], files: int) -> SacrecapError:
    """One error for several files."""
    if len(errors) == 1 or not isinstance(errors[0], DataError):
        return errors[0]
    named = "; ".join(str(error) for error in errors[:_NAMED])
    return DataError(
        f"{len(errors):,} of {files:,} files cannot be read: {named}{'; …' if len(errors) > _NAMED else ''}"
    )


def _files(url: str, reading: Reading) -> Iterator[tuple[Found, str, Reading]]:
    """The files of an input, each with its format and how it is read."""
    path = local_path(url)
    if path is None or not os.path.isdir(path):
        found = files_of(url)
    else:
        from sacrecap.data.folder import files_in

        inside, left = files_in(path, reading.split)
        if not inside:
            found = [(Found(os.path.abspath(path), 0, ""), WHOLE)]
        else:
            reading = reading._replace(split=left)
            found = [(own, by_suffix(own.url)) for one in inside for own, _ in files_of(one)]
    for one, format in found:
        of_text = (format or by_suffix(one.url)) not in ("parquet", "arrow")
        yield one, WHOLE if reading.needs_whole(of_text=of_text) else format or _format(one), reading


def _format(found: Found) -> str:
    """The format of a file that is named by itself: by how it begins, where its suffix leaves that open."""
    from sacrecap.data.recognise import is_binary, read_in_pieces

    named = by_suffix(found.url)
    if named in ("parquet", "arrow"):
        return named
    start = beginning(found.url)
    try:
        format = read_in_pieces(start, named) or WHOLE
    except DataError as error:
        if is_binary(start):
            raise DataError(f"{found.url}: {error}") from None
        format = named or "csv"  # the reader says what is wrong
    if format in ("jsonl", "csv") and b"\0" in start:
        raise DataError(
            f"{found.url}: no text but binary data, as a tar has; give Parquet, Arrow, JSON lines or CSV in UTF-8"
        )
    return format


def _cut_or_error(found: Found, format: str, reading: Reading, part_bytes: int) -> list[Part] | SacrecapError:
    try:
        return [replace(part, reading=reading) for part in _cut(found, format, part_bytes)]
    except SacrecapError as error:
        return error


def _cut(found: Found, format: str, part_bytes: int) -> list[Part]:
    """The parts of a file."""
    groups: list[tuple[int, int]] | None = None
    if format == "parquet":
        from sacrecap.data.partitioned.arrow import row_groups

        groups = row_groups(found.url)
    elif format == "arrow":
        from sacrecap.data.partitioned.arrow import record_batches

        groups = record_batches(found)
    elif format == "jsonl" and found.bytes > part_bytes and is_plain(found.url):
        edges = [*range(0, found.bytes, part_bytes), found.bytes]
        return [
            Part(0, found.url, format, start, end, end - start, None, modified=found.modified)
            for start, end in pairwise(edges)
        ]
    if groups is None:
        return [Part(0, found.url, format, None, None, found.bytes, None, modified=found.modified)]
    parts, first, size, rows, before = [], 0, 0, 0, 0

    def add(end: int) -> None:
        parts.append(Part(0, found.url, format, first, end, size, rows, before, found.modified))

    for number, (own_rows, own_bytes) in enumerate(groups):
        if number > first and size + own_bytes > part_bytes:
            add(number)
            first, size, rows, before = number, 0, 0, before + rows
        size, rows = size + own_bytes, rows + own_rows
    add(len(groups))
    return parts
