"""JSON lines: an object per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sacrecap.data.fields import json_type
from sacrecap.data.partitioned.batches import BadRow, Raw
from sacrecap.data.partitioned.files import import_pyarrow
from sacrecap.data.partitioned.text import BOM, opened
from sacrecap.errors import DataError, option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow

    from sacrecap.data.partitioned.parts import Part

_BLOCK = 4 << 20
"""Bytes that are decoded together."""
_LOOKED_AT = 100
"""Lines whose keys tell the columns, and whose values tell their types."""
_SHOWN = 60
_IDS = "image ids must be strings or whole numbers"
_TEXTS = "captions must be strings"


def read(part: Part, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:  # noqa: ARG001
    """The part's batches, which are as long as a block of text. See `sacrecap.data.partitioned.parquet.read`.

    Rows are numbered from the first of the part: see `rows_before`. Blocks go through pyarrow; one that it does not
    take is read line by line, which finds the lines that are wrong.
    """
    import numpy as np

    names: list[str] = []
    schema: pyarrow.Schema | None = None
    number = 1
    for block in _blocks(part):
        if not names:
            # All parts of a file have the same columns, which its beginning tells.
            start = block if part.first is None else next(_blocks(replace(part, first=None, end=None)))
            records = _first_records(start, part.file)
            names = choose(list(dict.fromkeys(path for record in records for path in _paths(record))))
            schema = _schema(records, names)
        lines = block.count(b"\n")
        batch = None if schema is None else _decoded(block, schema)
        if batch is None:
            yield _by_line(part.file, block, names, number)
        elif batch.num_rows == lines:
            yield Raw(np.arange(number, number + lines), batch, [])
        elif len(places := _lines(block)) == batch.num_rows:
            yield Raw(number + places, batch, [])
        else:
            yield _by_line(part.file, block, names, number)
        number += lines


def rows_before(part: Part) -> int:
    """What the number of a row in the part lacks to be that in the file: lines before it, which are counted now."""
    return _lines_before(part.file, part.first, part.modified) if part.format == "jsonl" and part.first else 0


@lru_cache(maxsize=1024)
def _lines_before(file: str, start: int, _: str) -> int:
    """Lines that begin before this byte."""
    with opened(file) as source:
        return sum(piece.count(b"\n") for piece in _until(source, 0, start))


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


def _first_records(block: bytes, file: str) -> list[dict[str, Any]]:
    """Objects of the first lines that are not blank. Raises `DataError` if none of them is one."""
    records, problem, seen = [], "", 0
    for place, line in enumerate(block.split(b"\n")):
        if not line.strip():
            continue
        record = _parsed(line)
        if isinstance(record, dict):
            records.append(record)
        elif not problem:
            problem = f"line {place + 1}: {record if isinstance(record, str) else f'is {json_type(record[0])}'}"
        seen += 1
        if seen == _LOOKED_AT:
            break
    if not records:
        raise DataError(
            f"{file}: {problem or 'the first lines are blank'}; JSON lines have an object on each line, and other JSON "
            f"files are for {option('engine', 'local')}"
        )
    return records


def _parsed(line: bytes) -> dict[str, Any] | tuple[Any] | str:
    """A line's object; another value, as a tuple of one; or what is wrong with the line."""
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError:
        return "not UTF-8; convert the file to UTF-8"
    except (RecursionError, ValueError) as error:
        return f"not a row of JSON ({error})"
    return value if isinstance(value, dict) else (value,)


def _paths(record: dict[str, Any]) -> Iterator[str]:
    for name, value in record.items():
        yield name
        if isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in value)


def _schema(records: Sequence[dict[str, Any]], names: Sequence[str]) -> pyarrow.Schema | None:
    """Types of these columns; None if they are such that pyarrow would not read the lines."""
    import pyarrow

    fields = []
    for name in names:
        values = [value for record in records if (value := record.get(name)) is not None]
        if values and all(type(value) is int for value in values):
            fields.append((name, pyarrow.int64()))
        elif values and all(type(value) is list for value in values):
            fields.append((name, pyarrow.list_(pyarrow.string())))
        elif values and all(type(value) is str for value in values):
            fields.append((name, pyarrow.string()))
        else:
            return None
    return pyarrow.schema(fields)


def _decoded(block: bytes, schema: pyarrow.Schema) -> pyarrow.RecordBatch | None:
    """The rows of a block; None if a line is not as the schema says."""
    pyarrow = import_pyarrow()
    from pyarrow import json as reader

    options = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        table = reader.read_json(pyarrow.BufferReader(block), parse_options=options)
    except (pyarrow.ArrowException, ValueError):
        return None
    batches = table.combine_chunks().to_batches()
    return batches[0] if len(batches) == 1 else None


def _lines(block: bytes) -> npt.NDArray[np.int64]:
    """Places of the lines that are not blank."""
    import numpy as np

    return np.array([place for place, line in enumerate(block.split(b"\n")) if line.strip()], dtype=np.int64)


def _by_line(file: str, block: bytes, names: Sequence[str], number: int) -> Raw:
    """The rows of a block, line by line."""
    import numpy as np
    import pyarrow

    bad: list[BadRow] = []
    rows: list[int] = []
    columns: list[list[Any]] = [[] for _ in names]
    for line_place, line in enumerate(block.split(b"\n")):
        if not line.strip():
            continue
        record = _parsed(line)
        if isinstance(record, dict):
            values = [_at(record, name) for name in names]
            problems = [_wrong(value, _TEXTS if place else _IDS) for place, value in enumerate(values)]
            problem = next((f"{name} {text}" for name, text in zip(names, problems, strict=True) if text), None)
        else:
            values, problem = (
                [],
                record if isinstance(record, str) else f"is {json_type(record[0])}, where the others are objects",
            )
        if problem is not None:
            image = values[0] if values and problems[0] is None and values[0] is not None else None
            bad.append(BadRow(file, number + line_place, None if image is None else str(image), problem))
            continue
        rows.append(number + line_place)
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    arrays = [_array(column) for column in columns]
    return Raw(np.array(rows, dtype=np.int64), pyarrow.RecordBatch.from_arrays(arrays, names=list(names)), bad)


def _at(record: dict[str, Any], path: str) -> Any:
    if path in record:
        return record[path]
    outer, _, inner = path.partition(".")
    value = record.get(outer)
    return value.get(inner) if inner and isinstance(value, dict) else None


def _wrong(value: Any, accepted: str) -> str | None:
    """What is wrong with a value, after the name of its column; null is found later, with its row's image id."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            try:
                one.encode()
            except UnicodeEncodeError:
                return f"has half a surrogate pair in {one[:_SHOWN]!a}; mend the text"
        elif one is not None and not (accepted == _IDS and type(one) is int):
            return f"{'has' if isinstance(value, list) else 'is'} {json_type(one)}; {accepted}"
    if accepted == _IDS and isinstance(value, list):
        return f"is a list; {accepted}"
    return None


def _array(values: list[Any]) -> pyarrow.Array:
    """The values of a column: texts, or lists of texts where one of them is a list."""
    import pyarrow

    texts = [str(value) if isinstance(value, int) else value for value in values]
    if any(isinstance(value, list) for value in texts):
        lists = [value if value is None or isinstance(value, list) else [value] for value in texts]
        return pyarrow.array(lists, type=pyarrow.large_list(pyarrow.large_string()))
    return pyarrow.array(texts, type=pyarrow.large_string())
