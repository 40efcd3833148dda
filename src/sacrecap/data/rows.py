"""Rows with named columns, from any bytes that hold them: one function per format.

Rows of text go through the native core, which takes only the columns that are asked for: the same function reads a
whole file here, and the pieces of a large one in `partitioned`.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sacrecap import _core
from sacrecap.data.cells import at, is_deep, paths
from sacrecap.data.fields import decoded, json_type
from sacrecap.errors import DataError, SacrecapError, naming, of_extra

_LOOKED_AT = 100
"""How many rows to read for the names of columns: later rows may lack some, or have others, which are ignored."""
_NAMED = 5
_ROWS = 10_000
"""Rows of a Parquet file that are read together."""

_RULE = re.compile(rb"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(\r?\n|$)")
"""The line of dashes below the header of a table of Markdown."""


@dataclass(frozen=True)
class Rows:
    """Rows of one file, or of several."""

    names: list[str]
    """The columns. A part of an object inside a row is named by a path: `doc.question_id`."""
    batches: Callable[[Sequence[str]], Iterator[list[list[Any]]]]
    """The values of these columns, as a list per column, batch by batch; the first column has the image ids.

    Raises `DataError` for rows that cannot be used.
    """
    is_text: bool = False
    """Whether cells are text, so that none is null."""
    of_any_values: Callable[[], Rows] | None = None
    """The same rows, of which cells may hold what is no caption; None where that is so already."""


def of_records(records: Sequence[Mapping[str, Any]]) -> Rows:
    """Rows that are in memory, as JSON objects."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        yield [[_of_row(record, name, number) for number, record in enumerate(records, 1)] for name in names]

    return Rows(names_of(records), batches)


def names_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of all values in the first rows."""
    return list(dict.fromkeys(path for record in records[:_LOOKED_AT] for path in paths(record)))


def value_of(record: Mapping[str, Any], name: str) -> Any:
    """The value of a column in a row. Raises `DataError` where a path into lists leads nowhere, or to several."""
    try:
        value = at(record, name)
    except DataError as error:
        raise DataError(f"{name} {error}") from None
    if value is None and is_deep(name):
        raise DataError(f"has nothing at {name}; leave such rows out, or add what they lack")
    return value


def _of_row(record: Mapping[str, Any], name: str, number: int) -> Any:
    try:
        return value_of(record, name)
    except DataError as error:
        raise DataError(f"row {number} {_named(record)}{error}") from None


def _named(record: Mapping[str, Any]) -> str:
    """The first value of a row, which tells which one it is."""
    first = next(iter(record.values()), None)
    return f"({first}) " if isinstance(first, str | int) else ""


def of_columns(columns: Mapping[str, list[Any]]) -> Rows:
    """Columns that are in memory."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        rows = len(next(iter(columns.values()), []))
        yield [columns[name] if name in columns else [None] * rows for name in names]

    return Rows(list(columns), batches)


def of_files(files: Mapping[str, Rows]) -> Rows:
    """Rows of several files by their names, one after the other; the columns are those that all have."""

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        for name, file in files.items():
            with naming(f"{name}: "):
                yield from file.batches(names)

    first, *others = (file.names for file in files.values())
    return Rows(
        [name for name in first if all(name in own for own in others)],
        batches,
        next(iter(files.values())).is_text,
        lambda: of_files({name: own.of_any_values() if own.of_any_values else own for name, own in files.items()}),
    )


def of_lines(data: bytes) -> Rows:
    """JSON lines: an object per line. Raises `DataError` for lines that are none as they are read."""

    def every() -> Rows:
        document = parsed(data)
        return of_records(document if isinstance(document, list) else [document])

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        if any(map(is_deep, names)):
            yield from every().batches(names)
        else:
            yield _values(_core.RowsOfText.of_lines(data, list(names), 1), len(names))

    return Rows(names_of_lines(data), batches, of_any_values=every)


def names_of_lines(data: bytes) -> list[str]:
    """The names of all values in the first lines; of lines that Python does not read, the keys."""
    start = io.BytesIO(data.removeprefix(b"\xef\xbb\xbf"))
    try:
        records = [json.loads(line) for line in islice(start, _LOOKED_AT) if line.strip()]
    except (ValueError, RecursionError):
        records = []
    return (
        names_of(records) if records and all(isinstance(one, dict) for one in records) else _core.names_of_lines(data)
    )


def of_table(data: bytes, known: Sequence[str] | None = None, delimiter: str = ",") -> Rows:
    """A text table under a header line, or without one: of columns and with a delimiter that are `known`.

    Raises `DataError` for rows that do not fit the header as they are read.
    """
    columns, delimiter, end = header(data) if known is None else ([*known], delimiter, 0)

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        check_single(columns, names)
        found = _core.RowsOfText.of_table(data[end:], columns, delimiter, list(names), 1, last=True)
        yield _values(found, len(names))

    return Rows([name for name in columns if name], batches, is_text=True)


def header(data: bytes) -> tuple[list[str], str, int]:
    """The columns of a text table, its delimiter, and the byte where its rows begin, after Markdown's dashes."""
    found = _core.header(data)
    if found is None:
        raise DataError("has no header line with columns")
    columns, delimiter, end = found
    rule = _RULE.match(data, end) if delimiter == "|" else None
    return columns, delimiter, end if rule is None else rule.end()


def check_single(columns: Sequence[str], names: Sequence[str]) -> None:
    """Raises `DataError` if one of the names stands for several columns."""
    for name in names:
        if columns.count(name) > 1:
            raise DataError(f"has {columns.count(name)} columns called {name}; give each a name of its own")


def _values(found: _core.RowsOfText, columns: int) -> list[list[Any]]:
    """The values of all columns. Raises `DataError` for rows that cannot be used."""
    if not found.bad:
        return [found.values(place) for place in range(columns)]
    number, image, reason = found.bad[0]
    also = [f"row {number}" for number, _, _ in found.bad[1:_NAMED]]
    more = f" and {len(found.bad) - _NAMED} more" if len(found.bad) > _NAMED else ""
    others = f" (also {', '.join(also)}{more})" if also else ""
    raise DataError(f"row {number}{'' if image is None else f' (image {image})'}: {reason}{others}")


def text_lines(data: bytes) -> Rows:
    """One line per image, with its captions; tabs separate several. The position in the file is the id, from 1.

    Raises `DataError` for text that is not UTF-8.
    """
    lines = decoded(data, "the text").replace("\r\n", "\n").removesuffix("\n").split("\n")
    captions = [line.split("\t") if "\t" in line else line for line in lines]
    return of_columns({"id": list(range(1, len(lines) + 1)), "caption": captions})


def parsed(data: bytes) -> Any:
    """A JSON document; several, one per line, as a list. Raises `DataError` for anything else."""
    text = decoded(data, "the text")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise DataError(f"line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from None
    except (RecursionError, ValueError) as error:
        raise DataError(f"not JSON that can be read ({error})") from None
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (RecursionError, ValueError) as error:
                raise DataError(f"line {number}: not a row of JSON ({error})") from None
            if not isinstance(records[-1], dict):
                raise DataError(f"line {number}: is {json_type(records[-1])}, where the others are objects")
    return records


def spreadsheet(data: bytes) -> Rows:
    """The first sheet of an Excel file."""
    with of_extra("files", "reading Excel files"):
        from openpyxl import load_workbook
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        lines = iter(book.worksheets[0].iter_rows(values_only=True))
        names = [None if name is None else str(name).strip() for name in next(lines, ())]
        rows = [row for row in lines if any(cell is not None for cell in row)]
    except Exception as error:  # noqa: BLE001 - openpyxl lets those of zip and XML through
        reason = str(error).partition("\n")[0]
        raise DataError(f"is no Excel file that can be read ({reason}); write it again, or as CSV") from None
    return of_columns(
        {name: [row[place] if place < len(row) else None for row in rows] for place, name in enumerate(names) if name}
    )


def of_arrow(data: bytes, format: str) -> Rows:
    """The rows of a Parquet or Arrow file, read batch by batch through pyarrow.

    Parts of a struct are named by paths: the images of a Hugging Face data set are `image.bytes`, which is not read,
    and `image.path`.

    Args:
        data: the whole file.
        format: one of `TABLE_FORMATS`; ``arrow`` is the file (feather) or the stream format.

    Raises:
        DataError: the file is broken, now or as its rows are read.
        MissingDependencyError: pyarrow is not installed.
    """
    with whole(format):
        schema = _parquet_file(data).schema_arrow if format == "parquet" else _arrow(data)[0]
    known: list[str] = [path for field in schema for path in columns_of(field) if not _is_binary(schema, path)]

    def batches(names: Sequence[str]) -> Iterator[list[list[Any]]]:
        with whole(format):
            if format == "parquet":
                found = _parquet_file(data).iter_batches(batch_size=_ROWS, columns=stored(names, known))
            else:
                found = _arrow(data)[1]
            for batch in found:
                yield [column(batch, name).to_pylist() for name in names]

    return Rows(known, batches)


@contextlib.contextmanager
def whole(format: str, source: str = "") -> Iterator[None]:
    """Turns errors of pyarrow about a file into a `DataError`, which begins with `source`."""
    with of_extra("parquet", "reading Parquet and Arrow files"):
        import pyarrow
    try:
        yield
    except (SacrecapError, FileNotFoundError):
        raise
    except (pyarrow.ArrowException, OSError, ValueError, EOFError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{source}not a whole {format} file ({reason}); write or download it again") from None


def columns_of(field: Any, outer: str = "") -> list[str]:
    """The columns that a field has: parts of a struct go by paths, `image.path`; in a list by `sentences[*].raw`."""
    from pyarrow import types

    name, type_ = f"{outer}{field.name}", field.type
    if types.is_struct(type_):
        return [path for number in range(type_.num_fields) for path in columns_of(type_.field(number), f"{name}.")]
    if types.is_list(type_) and types.is_struct(type_.value_type):
        inner = type_.value_type
        return [path for number in range(inner.num_fields) for path in columns_of(inner.field(number), f"{name}[*].")]
    return [name]


def _is_binary(schema: Any, path: str) -> bool:
    """Whether a column has bytes, such as a picture's."""
    from pyarrow import types

    found = schema.field(path).type if path in schema.names else None
    return found is not None and (types.is_binary(found) or types.is_large_binary(found))


def stored(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """What to read of a file with these columns for these names: of a path into a list, the whole column."""
    every = (name if name in known and "[" not in name else re.split(r"[.\[]", name, maxsplit=1)[0] for name in names)
    return list(dict.fromkeys(name for name in every if name in known or any(one.startswith(name) for one in known)))


def column(batch: Any, path: str) -> Any:
    """A column of a batch, or of what is in one; nulls for a column that is not there."""
    import pyarrow
    import pyarrow.compute

    if path in batch.schema.names:
        return batch.column(path)
    outer, _, inner = path.partition(".")
    if outer in batch.schema.names and inner and inner in _parts(batch.column(outer).type):
        return pyarrow.compute.struct_field(batch.column(outer), inner)
    outer = re.split(r"[.\[]", path, maxsplit=1)[0]
    if outer not in batch.schema.names:
        return pyarrow.nulls(batch.num_rows, pyarrow.string())
    values = batch.column(outer).to_pylist()
    return pyarrow.array([_of_row({outer: value}, path, number) for number, value in enumerate(values, 1)])


def _parts(type_: Any) -> list[str]:
    return [type_.field(number).name for number in range(type_.num_fields)] if str(type_).startswith("struct") else []


def _parquet_file(data: bytes) -> Any:
    import pyarrow
    from pyarrow import parquet

    return parquet.ParquetFile(pyarrow.py_buffer(data))


def _arrow(data: bytes) -> tuple[Any, Iterator[Any]]:
    """Schema and batches of an Arrow file or stream."""
    import pyarrow

    if not data.startswith(b"ARROW1"):
        stream = pyarrow.ipc.open_stream(data)
        return stream.schema, iter(stream)
    file = pyarrow.ipc.open_file(data)
    return file.schema, map(file.get_batch, range(file.num_record_batches))
