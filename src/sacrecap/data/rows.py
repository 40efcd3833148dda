"""Rows with named columns, from any bytes that hold them: one class or function per format.

Rows of text go through the native core, which takes only the columns that are asked for: the same function reads a
whole file here, and the pieces of a large one in `partitioned`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sacrecap import _core
from sacrecap.data.fields import decoded, json_type
from sacrecap.errors import DataError, MissingDependencyError, SacrecapError

_LOOKED_AT = 100
"""How many rows to read for the names of columns: later rows may lack some, or have others, which are ignored."""
_NAMED = 5
_ROWS = 10_000
"""Rows of a Parquet file that are read together."""


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
        self.names = list(dict.fromkeys(path for record in records[:_LOOKED_AT] for path in _paths(record)))

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        yield [[_at(record, name) for record in self.records] for name in names]


class MemoryColumns:
    """Columns that are in memory."""

    is_text = False

    def __init__(self, columns: Mapping[str, list[Any]]) -> None:
        self.columns = columns
        self.names = list(columns)

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        yield [self.columns[name] for name in names]


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

    def __init__(self, data: bytes, names: list[str]) -> None:
        self._data, self.names = data, names

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        yield _values(_core.RowsOfText.of_lines(self._data, list(names), 1), len(names))


class DelimitedRows:
    """A text table under a header line. Raises `DataError` for rows that do not fit the header as they are read."""

    is_text = True

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._columns, self._delimiter, self._end = header(data)
        self.names = [name for name in self._columns if name]

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        check_single(self._columns, names)
        found = _core.RowsOfText.of_table(
            self._data[self._end :], self._columns, self._delimiter, list(names), 1, last=True
        )
        yield _values(found, len(names))


def header(data: bytes) -> tuple[list[str], str, int]:
    """The columns of a text table, its delimiter, and the byte where its rows begin."""
    found = _core.header(data)
    if found is None:
        raise DataError("has no header line with columns")
    return found


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
    return MemoryColumns({"line": list(range(1, len(lines) + 1)), "caption": captions})


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


def rows_in(document: Any) -> tuple[Records | None, bool]:
    """The rows of a list, of `{"results": [row, …], …}`, under any key, or of one row; and whether they are wrapped."""
    if _are_objects(document):
        return Records(document), False
    if not isinstance(document, dict):
        return None, False
    lists = [value for value in document.values() if _are_objects(value)]
    if len(lists) > 1:
        return None, False
    return Records(lists[0] if lists else [document]), bool(lists)


def spreadsheet(data: bytes) -> MemoryColumns:
    """The first sheet of an Excel file."""
    import io

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
        raise DataError(
            f"is a zip file, but no Excel file that can be read ({reason}); unpack an archive and name the file in it"
        ) from None
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
        self.names: list[str] = [path for field in schema for path in paths(field)]

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        with whole(self._format):
            if self._format == "parquet":
                batches = _parquet_file(self._data).iter_batches(batch_size=_ROWS, columns=list(names))
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


def paths(field: Any) -> list[str]:
    """The columns that a field has: a struct's parts go by paths, as `image.path`."""
    import pyarrow

    if not pyarrow.types.is_struct(field.type):
        return [field.name]
    return [f"{field.name}.{field.type.field(number).name}" for number in range(field.type.num_fields)]


def column(batch: Any, path: str) -> Any:
    """A column of a batch, or of a struct in it."""
    import pyarrow.compute

    if path in batch.schema.names:
        return batch.column(path)
    outer, _, inner = path.partition(".")
    return pyarrow.compute.struct_field(batch.column(outer), inner)


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


def _are_objects(document: Any) -> bool:
    return isinstance(document, list) and bool(document) and all(isinstance(record, dict) for record in document)


def _paths(record: Mapping[str, Any]) -> Iterator[str]:
    for name, value in record.items():
        yield str(name)
        if isinstance(value, Mapping):
            yield from (f"{name}.{inner}" for inner in value)


def _at(record: Mapping[str, Any], path: str) -> Any:
    if path in record:
        return record[path]
    outer, _, inner = path.partition(".")
    value = record.get(outer)
    return value.get(inner) if inner and isinstance(value, Mapping) else None
