"""Rows with named columns, from any file that holds them: CSV, JSON, JSON lines, Parquet, Arrow or a spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from sacrecap.data.fields import decoded, json_type
from sacrecap.data.table import Table, table_format
from sacrecap.errors import DataError, MissingDependencyError

DELIMITERS = ",;\t|"
"""Accepted delimiters between the columns of a text table."""

_LOOKED_AT = 100
"""How many rows to read for the names of columns: later rows may lack some, or have others, which are ignored."""
_LONGEST_FIELD = 1 << 30
"""Largest field of a text table, in bytes: some tables hold their images, in base64."""


class Rows(Protocol):
    """Rows of one file."""

    names: list[str]
    """The columns. A part of an object inside a row is named by a path: `doc.question_id`."""

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """The values of these columns, as a list per column, batch by batch."""


class Records:
    """Rows that are in memory, as JSON objects."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self.records = records
        self.names = list(dict.fromkeys(path for record in records[:_LOOKED_AT] for path in _paths(record)))

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        yield [[_at(record, name) for record in self.records] for name in names]


class Columns:
    """Columns that are in memory."""

    def __init__(self, columns: Mapping[str, list[Any]]) -> None:
        self.columns = columns
        self.names = list(columns)

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        yield [self.columns[name] for name in names]


class Joined:
    """Rows of several files, one after the other; the columns are those that all have."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = parts
        self.names = [name for name in parts[0].names if all(name in part.names for part in parts)]

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """See `Rows`."""
        for part in self.parts:
            yield from part.batches(names)


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


class BrokenTableError(DataError):
    """A text table with a row that cannot be read.

    Attributes:
        names: its columns.
    """

    def __init__(self, message: str, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.names = names


class Document:
    """A file that is a table or JSON.

    Attributes:
        rows: its rows; None for JSON without rows.
        json: the JSON document, if it is JSON.
        kind: `lines` of a text table; `table`, any other; `rows` of JSON, a list or lines; `wrapped`, a list of them
            inside an object; `json`, anything else.
    """

    def __init__(self, rows: Rows | None, json: Any = None, *, kind: str) -> None:
        self.rows, self.json, self.kind = rows, json, kind

    def is_native(self) -> bool:
        """Whether the native reader reads such rows, if they have no fault."""
        if self.rows is None or self.kind == "table":
            return False
        names = {*self.rows.names}
        if self.kind == "wrapped" and not self.json.keys() & {"images", "annotations"}:
            return False
        if self.kind == "wrapped" and "sentences" in names:
            return True
        records = self.rows.records if isinstance(self.rows, Records) else ()
        lists = any(isinstance(record.get("caption"), list) for record in records)
        return "image_id" in names and bool({"caption", "captions"} & names) and not lists

    @classmethod
    def of(cls, data: bytes) -> Document:
        """Reads a file.

        Raises:
            DataError: it is neither a table nor JSON; the message does not name the file.
            MissingDependencyError: a table that needs a package which is not installed.
        """
        if (format := table_format(data)) is not None:
            return cls(Table(data, format), kind="table")
        if data.startswith(b"PK\x03\x04"):
            return cls(_spreadsheet(data), kind="table")
        text = decoded(data, "the text")
        if text.lstrip()[:1] not in ("{", "["):
            return cls(table(text), kind="lines")
        document = _json(text)
        if _are_objects(document):
            return cls(Records(document), document, kind="rows")
        rows, wrapped = _unwrapped(document)
        return cls(rows, document, kind="wrapped" if wrapped else "json")


def _are_objects(document: Any) -> bool:
    return isinstance(document, list) and bool(document) and all(isinstance(record, dict) for record in document)


def _unwrapped(document: Any) -> tuple[Records | None, bool]:
    """The rows of `{"results": [row, …], …}`, under any key, or of one row; and whether they are in a list."""
    if not isinstance(document, dict):
        return None, False
    lists = [value for value in document.values() if _are_objects(value)]
    if len(lists) > 1:
        return None, False
    return Records(lists[0] if lists else [document]), bool(lists)


def _json(text: str) -> Any:
    """A JSON document; several, one per line, as a list."""
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


def table(text: str) -> Columns:
    """A text table under a header line. Raises `DataError` if rows and header do not fit."""
    import csv
    import io

    header = next((line for line in text.split("\n") if line.strip()), "")
    delimiter = max(DELIMITERS, key=header.count)
    if not header.count(delimiter):
        raise BrokenTableError("has no header line with columns")
    # Tables with bars, such as Flickr30k's, put no quotes around their fields, but fields may contain quotes.
    quoting: Any = csv.QUOTE_NONE if delimiter == "|" else csv.QUOTE_MINIMAL
    before = csv.field_size_limit(_LONGEST_FIELD)
    names: list[str] = []
    rows: list[list[str]] = []
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
        lines = ((reader.line_num, row) for row in reader if row)
        names = [name.strip() for name in next(lines)[1]]
        for number, row in lines:
            rows.append(_mended(row, names) if len(row) != len(names) else row)
            if len(rows[-1]) != len(names):
                raise BrokenTableError(
                    f"line {number}: row {len(rows)} has {len(row)} fields where the header has {len(names)}; put a "
                    "caption that holds the delimiter in double quotes",
                    names,
                )
    except csv.Error as error:
        raise BrokenTableError(f"line {reader.line_num}: the table cannot be read: {error}", names) from None
    finally:
        csv.field_size_limit(before)
    if delimiter == "|":
        rows = [[cell.strip() for cell in row] for row in rows]
    return Columns({name: [row[place] for row in rows] for place, name in enumerate(names) if name})


def _mended(row: list[str], names: Sequence[str]) -> list[str]:
    """Flickr30k's results.csv lacks the bar between number and comment in one line: `2199200615.jpg| 4   A dog …`."""
    if names == ["image_name", "comment_number", "comment"] and len(row) == 2:
        number, _, comment = row[1].strip().partition(" ")
        if number.isdigit():
            return [row[0], number, comment]
    return row


def _spreadsheet(data: bytes) -> Columns:
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
    return Columns(
        {name: [row[place] if place < len(row) else None for row in rows] for place, name in enumerate(names) if name}
    )


def whole_numbers(values: Iterable[Any]) -> list[Any]:
    """Image ids as whole numbers again, if a table made floats of them because one is missing."""
    return [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
