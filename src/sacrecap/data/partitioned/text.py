"""Text read from its start to its end, decompressed: JSON lines, and tables.

JSON lines are cut anywhere: each line belongs to the part that it begins in.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sacrecap import _core
from sacrecap.data.cells import is_deep, listed, single
from sacrecap.data.partitioned.files import import_pyarrow, open_file
from sacrecap.data.partitioned.part import BadRow, Part, Raw
from sacrecap.data.rows import RULE, check_single, first_records, names_of, table_header, value_of
from sacrecap.data.shapes import POSITION
from sacrecap.data.unpack import Content, compression
from sacrecap.errors import DataError, SacrecapError

if TYPE_CHECKING:
    import pyarrow

_MAGIC = 6
"""Bytes of a file that tell how it is compressed."""
_BEGINNING = 1 << 16
"""Bytes of a file that tell what it is."""
_BLOCK = 4 << 20
"""Bytes that are decoded together."""
_LONGEST_ROW = 16 << 20
"""Bytes of a row that are more than any row has: a double quote is open."""
LINE = "line"
"""The column for a whole line of JSON, since its keys have no types that all files agree on."""
_BOM = b"\xef\xbb\xbf"
"""Byte-order mark of UTF-8, which some programs write."""


@contextlib.contextmanager
def opened(url: str) -> Iterator[pyarrow.NativeFile]:
    """The file's bytes in order, without gzip, bzip2, xz or zstd around them, and without a byte-order mark.

    Raises:
        DataError: the file is not there, or its compressed data is broken or ends early, now or as it is read.
    """
    import lzma

    pyarrow = import_pyarrow()
    with contextlib.ExitStack() as stack:
        source: Any = stack.enter_context(open_file(url))
        kind = _compression(source)
        try:
            if kind == "xz":
                source = stack.enter_context(pyarrow.PythonFile(stack.enter_context(lzma.LZMAFile(source)), mode="r"))
            elif kind is not None:
                source = stack.enter_context(pyarrow.CompressedInputStream(source, kind.replace("ip2", "2")))
            yield source
        except SacrecapError:
            raise
        except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
            if kind is None:
                raise DataError(f"{url}: cannot be read: {error}") from None
            reason = str(error).strip().partition("\n")[0]
            raise DataError(f"{url}: broken {kind} data ({reason}); write or download the file again") from None


def is_plain(url: str) -> bool:
    """Whether the file is not compressed, so that it can be read from any place. Raises `DataError` if it is gone."""
    with open_file(url) as source:
        return _compression(source) is None


def _compression(source: Any) -> str | None:
    """How the file is compressed, which its first bytes tell; it is at its start again."""
    start = bytes(source.read(_MAGIC))
    source.seek(0)
    return compression(start)


def beginning(url: str) -> bytes:
    """The first bytes of a file, decompressed, without a byte-order mark."""
    with opened(url) as source:
        return bytes(source.read(_BEGINNING)).removeprefix(_BOM)


def read_lines(
    part: Part, choose: Callable[[list[str]], list[str]], *, whole: bool = False, group: str | None = None
) -> Iterator[Raw]:
    """The part's batches, which are as long as a block of text, with the lines themselves if the whole rows are wanted.
    See `arrow.read_parquet`. The column of this `group` may hold anything, which becomes text.

    Rows are numbered from the first of the part: see `rows_before`.
    """
    names: list[str] = []
    number = 1
    for block in _blocks(part):
        if not names:
            # All parts of a file have the same columns, which its beginning tells.
            start = block if part.first is None else next(_blocks(replace(part, first=None, end=None)))
            names = choose(_names(start, part.file))
        deep = group in names or any(map(is_deep, names))
        found = _core.RowsOfText.of_lines(block, [POSITION] if deep else names, number)
        raw = _raw(found, [POSITION] if deep else names, part.file)
        if deep:
            raw = _inside(raw, block.split(b"\n"), number, names, part.file, group)
        if whole:
            lines = block.split(b"\n")
            own = import_pyarrow().array([lines[row - number].decode().strip() for row in raw.rows.tolist()])
            raw = raw._replace(batch=raw.batch.append_column(LINE, own))
        yield raw
        number += found.count


def _inside(raw: Raw, lines: Sequence[bytes], first: int, names: Sequence[str], file: str, group: str | None) -> Raw:
    """The rows with these columns, of which some are inside lists."""
    import numpy as np
    import pyarrow

    kept, bad = [], [*raw.bad]
    for row in raw.rows.tolist():
        try:
            record = json.loads(lines[row - first])
            kept.append((row, [value_of(record, name) for name in names]))
        except DataError as error:
            image = record.get(names[0])
            bad.append(BadRow(file, row, str(image) if isinstance(image, str | int) else None, str(error)))
    columns = [[listed(values[place], "") for _, values in kept] for place in range(len(names))]
    columns[0] = [None if value is None else str(single(value)) for value in columns[0]]
    if group in names:
        place = names.index(group)
        columns[place] = [None if value is None else str(value) for value in columns[place]]
    has_lists = [any(isinstance(value, list) for value in own) for own in columns]
    arrays = [
        pyarrow.array([[value] if lists and isinstance(value, str) else value for value in own])
        for own, lists in zip(columns, has_lists, strict=True)
    ]
    batch = pyarrow.RecordBatch.from_arrays(arrays, names=list(names))
    return Raw(np.array([row for row, _ in kept], dtype=np.int64), batch, bad)


def rows_before(part: Part) -> int:
    """What the number of a row in the part lacks to be that in the file: lines before it, which are counted now."""
    return _lines_before(replace(part, first=None, end=part.first)) if part.format == "jsonl" and part.first else 0


@lru_cache(maxsize=1024)
def _lines_before(part: Part) -> int:
    return sum(piece.count(b"\n") for piece in _blocks(part))


def _names(start: bytes, file: str) -> list[str]:
    """The keys of the first lines. Raises `DataError` if none of them is an object."""
    names = names_of(first_records(start))
    if not names:
        bad = _core.RowsOfText.of_lines(start, [], 1).bad
        problem = f"line {bad[0][0]}: {bad[0][2]}" if bad else "the first lines are blank"
        raise DataError(f"{file}: {problem}; JSON lines have an object on each line")
    return names


def _blocks(part: Part) -> Iterator[bytes]:
    """Pieces of whole lines: those that begin in the part."""
    place, mark = part.first or 0, b"" if part.first else _BOM
    with opened(part.file) as source:
        lines = io.BufferedReader(source)
        if place:
            # The line that begins before, if it does not end there.
            lines.seek(place - 1)
            place += len(lines.readline()) - 1
        while part.end is None or place < part.end:
            piece = lines.read(_BLOCK if part.end is None else min(_BLOCK, part.end - place))
            if not piece.endswith(b"\n"):
                piece += lines.readline()
            if not piece:
                return
            place += len(piece)
            yield (piece if piece.endswith(b"\n") else piece + b"\n").removeprefix(mark)
            mark = b""


def read_table(part: Part, choose: Callable[[list[str]], list[str]]) -> Iterator[Raw]:
    """The part's batches, which are as long as a block of text. See `arrow.read_parquet`."""
    with opened(part.file) as source:
        piece = bytes(source.read(_BLOCK))
        if not piece.strip():
            return
        try:
            first = next(line for line in piece.split(b"\n") if line.strip()) + b"\n"
            columns, delimiter = table_header(Content("", first))
            rest = piece[piece.find(first[:-1]) + len(first) :]
            second, _, below = rest.partition(b"\n")
            if delimiter == "|" and RULE.fullmatch(second.decode(errors="replace")):
                rest = below
            names = choose([name for name in columns if name])
            check_single(columns, names)
            number = 1
            while True:
                piece = bytes(source.read(_BLOCK))
                found = _core.RowsOfText.of_table(rest, columns, delimiter, names, number, last=not piece)
                yield _raw(found, names, part.file)
                if not piece:
                    return
                number, rest = number + found.count, rest[found.read :] + piece
                if len(rest) > _LONGEST_ROW + _BLOCK:
                    raise DataError(f"row {number} is too long; is a double quote open, or a line end missing?")
        except DataError as error:
            text = str(error)
            raise DataError(text if text.startswith(part.file) else f"{part.file}: {text}") from None


def _raw(found: _core.RowsOfText, names: Sequence[str], file: str) -> Raw:
    """Rows of text as a batch of Arrow."""
    import numpy as np
    import pyarrow

    numbers = np.frombuffer(found.numbers, dtype="<u8").astype(np.int64)
    arrays = [_array(len(numbers), *found.buffers(place)) for place in range(len(names))]
    batch = pyarrow.RecordBatch.from_arrays(arrays, names=list(names))
    return Raw(numbers, batch, [BadRow(file, *row) for row in found.bad])


def _array(length: int, has_lists: bool, buffers: Sequence[bytes | None]) -> pyarrow.Array:
    """A column out of the buffers of `RowsOfText`."""
    import pyarrow

    valid, offsets, *texts = [None if own is None else pyarrow.py_buffer(own) for own in buffers]
    if not has_lists:
        return pyarrow.Array.from_buffers(pyarrow.large_string(), length, [valid, offsets, *texts])
    count = len(buffers[3] or b"") // 8 - 1
    values = pyarrow.Array.from_buffers(pyarrow.large_string(), count, texts)
    lists = pyarrow.large_list(pyarrow.large_string())
    return pyarrow.Array.from_buffers(lists, length, [valid, offsets], children=[values])
