"""JSON lines, cut anywhere: each line belongs to the part that it begins in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.data.partitioned.part import Part, Raw
from sacrecap.data.partitioned.text import BOM, opened, raw
from sacrecap.errors import DataError

if TYPE_CHECKING:
    import pyarrow

_BLOCK = 4 << 20
"""Bytes that are decoded together."""


def read(part: Part, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:  # noqa: ARG001
    """The part's batches, which are as long as a block of text. See `sacrecap.data.partitioned.parquet.read`.

    Rows are numbered from the first of the part: see `rows_before`.
    """
    names: list[str] = []
    number = 1
    for block in _blocks(part):
        if not names:
            # All parts of a file have the same columns, which its beginning tells.
            start = block if part.first is None else next(_blocks(replace(part, first=None, end=None)))
            names = choose(_names(start, part.file))
        found = _core.RowsOfText.of_lines(block, names, number)
        yield raw(found, names, part.file)
        number += found.count


def rows_before(part: Part) -> int:
    """What the number of a row in the part lacks to be that in the file: lines before it, which are counted now."""
    return _lines_before(part.file, part.first, part.modified) if part.format == "jsonl" and part.first else 0


@lru_cache(maxsize=1024)
def _lines_before(file: str, start: int, _: str) -> int:
    """Lines that begin before this byte."""
    with opened(file) as source:
        return sum(piece.count(b"\n") for piece in _until(source, 0, start))


def _names(start: bytes, file: str) -> list[str]:
    """The keys of the first lines. Raises `DataError` if none of them is an object."""
    names = _core.names_of_lines(start)
    if not names:
        bad = _core.RowsOfText.of_lines(start, [], 1).bad
        problem = f"line {bad[0][0]}: {bad[0][2]}" if bad else "the first lines are blank"
        raise DataError(f"{file}: {problem}; JSON lines have an object on each line")
    return names


def _blocks(part: Part) -> Iterator[bytes]:
    """Pieces of the part that end with lines; a line that is longer than a block is a piece."""
    start = b"" if part.first else BOM
    with opened(part.file) as source:
        rest: list[bytes] = []
        for piece in _of_part(source, part):
            lines, newline, after = piece.rpartition(b"\n")
            if not newline:
                rest.append(piece)
                continue
            yield b"".join([*rest, lines, newline]).removeprefix(start)
            rest, start = [after], b""
        last = b"".join(rest).removeprefix(start)
        if last.strip():
            yield last + b"\n"


def _of_part(source: pyarrow.NativeFile, part: Part) -> Iterator[bytes]:
    """The bytes of the lines that begin in the part."""
    if not part.first:
        yield from _until(source, 0, part.end)
        return
    # A line begins after the end of another one: at the first byte, if the one before ends a line.
    place = part.first - 1
    source.seek(place)
    while piece := bytes(source.read(_BLOCK)):
        lines, newline, after = piece.partition(b"\n")
        place += len(lines) + len(newline)
        if newline:
            if place < (part.end or 0):
                yield from _until(source, place, part.end, after)
            return


def _until(source: pyarrow.NativeFile, place: int, end: int | None, piece: bytes = b"") -> Iterator[bytes]:
    """The bytes up to the last line that begins before `end`; `place` is where the piece is, which was read before."""
    while piece or (piece := bytes(source.read(_BLOCK))):
        newline = -1 if end is None or place + len(piece) < end else piece.find(b"\n", max(end - 1 - place, 0))
        if newline >= 0:
            yield piece[: newline + 1]
            return
        yield piece
        place, piece = place + len(piece), b""
