"""Rows with named columns, from any bytes that hold them: one class or function per format.

Rows of text go through the native core, which takes only the columns that are asked for: the same function reads a
whole file here, and the pieces of a large one in `partitioned`.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from sacrecap import _core
from sacrecap.data.cells import at, is_deep, paths
from sacrecap.data.fields import decoded, json_type
from sacrecap.errors import DataError, MissingDependencyError, SacrecapError

_LOOKED_AT = 100
"""How many rows to read for the names of columns: later rows may lack some, or have others, which are ignored."""
_NAMED = 5
_ROWS = 10_000
"""Rows of a Parquet file that are read together."""

_RULE = re.compile(rb"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(\r?\n|$)")
"""The line of dashes below the header of a table of Markdown."""


class Rows(Protocol):
    """Rows of one file."""

    names: list[str]
    """The columns. A part of an object inside a row is named by a path: `doc.question_id`."""
    is_text: bool
    """Whether cells are text, so that none is null."""

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """The values of these columns, as a list per column, batch by batch. The first column has the image ids."""


class Records:
    """Rows that are in memory, as JSON objects."""

    is_text = False

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self.records = records
        self.names = names_of(records)

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`. Raises `DataError` for a row that leads nowhere, or not to one place."""
        yield [[_of_row(record, name, number) for number, record in enumerate(self.records, 1)] for name in names]


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


class MemoryColumns:
    """Columns that are in memory."""

    is_text = False

    def __init__(self, columns: Mapping[str, list[Any]]) -> None:
        self.columns = columns
        self.names = list(columns)

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        rows = len(next(iter(self.columns.values()), []))
        yield [self.columns[name] if name in self.columns else [None] * rows for name in names]


class SeveralFiles:
    """Rows of several files by their names, one after the other; the columns are those that all have."""

    def __init__(self, files: Mapping[str, Rows]) -> None:
        self.files = files
        self.is_text = next(iter(files.values())).is_text
        first, *others = (file.names for file in files.values())
        self.names = [name for name in first if all(name in own for own in others)]

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`. Raises `DataError` with the name of the file whose rows cannot be read."""
        for name, file in self.files.items():
            try:
                yield from file.batches(names)
            except DataError as error:
                raise DataError(f"{name}: {error}") from None


class Lines:
    """JSON lines: an object per line. Raises `DataError` for lines that are none as they are read."""

    is_text = False

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.names = names_of_lines(data)

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        if any(map(is_deep, names)):
            yield from self.records().batches(names)
        else:
            yield _values(_core.RowsOfText.of_lines(self._data, list(names), 1), len(names))

    def records(self) -> Records:
        """The same, of which cells may hold what is no caption."""
        document = parsed(self._data)
        return Records(document if isinstance(document, list) else [document])


def of_any_values(rows: Rows) -> Rows:
    """The same rows, of which cells may hold what is no caption."""
    if isinstance(rows, SeveralFiles):
        return SeveralFiles({name: of_any_values(own) for name, own in rows.files.items()})
    return rows.records() if isinstance(rows, Lines) else rows


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


class DelimitedRows:
    """A text table under a header line, or without one: of columns and with a delimiter that are known.

    Raises `DataError` for rows that do not fit the header as they are read.
    """

    is_text = True

    def __init__(self, data: bytes, columns: Sequence[str] | None = None, delimiter: str = ",") -> None:
        self._data = data
        self._columns, self._delimiter, self._end = header(data) if columns is None else ([*columns], delimiter, 0)
        self.names = [name for name in self._columns if name]

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        check_single(self._columns, names)
        found = _core.RowsOfText.of_table(
            self._data[self._end :], self._columns, self._delimiter, list(names), 1, last=True
        )
        yield _values(found, len(names))


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


def text_lines(data: bytes) -> MemoryColumns:
    """One line per image, with its captions; tabs separate several. The position in the file is the id, from 1.

    Raises `DataError` for text that is not UTF-8.
    """
    lines = decoded(data, "the text").replace("\r\n", "\n").removesuffix("\n").split("\n")
    captions = [line.split("\t") if "\t" in line else line for line in lines]
    return MemoryColumns({"id": list(range(1, len(lines) + 1)), "caption": captions})


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


def spreadsheet(data: bytes) -> MemoryColumns:
    """The first sheet of an Excel file."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingDependencyError("reading Excel files", extra="files") from None
    try:
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        lines = iter(book.worksheets[0].iter_rows(values_only=True))
        names = [None if name is None else str(name).strip() for name in next(lines, ())]
        rows = [row for row in lines if any(cell is not None for cell in row)]
    except Exception as error:  # noqa: BLE001 - openpyxl lets those of zip and XML through
        reason = str(error).partition("\n")[0]
        raise DataError(f"is no Excel file that can be read ({reason}); write it again, or as CSV") from None
    return MemoryColumns(
        {name: [row[place] if place < len(row) else None for row in rows] for place, name in enumerate(names) if name}
    )


class ArrowRows:
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

    is_text = False

    def __init__(self, data: bytes, format: str) -> None:
        self._data, self._format = data, format
        with whole(format):
            schema = _parquet_file(data).schema_arrow if format == "parquet" else _arrow(data)[0]
        self.names: list[str] = [path for field in schema for path in columns_of(field) if not _is_binary(schema, path)]

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        with whole(self._format):
            if self._format == "parquet":
                batches = _parquet_file(self._data).iter_batches(batch_size=_ROWS, columns=stored(names, self.names))
            else:
                batches = _arrow(self._data)[1]
            for batch in batches:
                yield [column(batch, name).to_pylist() for name in names]


@contextlib.contextmanager
def whole(format: str, source: str = "") -> Iterator[None]:
    """Turns errors of pyarrow about a file into a `DataError`, which begins with `source`."""
    try:
        import pyarrow
    except ImportError:
        raise MissingDependencyError("reading Parquet and Arrow files", extra="parquet") from None
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
