"""What a file is: the one place that decides how it is read, and so whose message a user sees.

A file is looked at first: its layout, and the columns or keys of its first rows. The table in `shapes` then says which
columns hold what. The reader that is chosen so is the only one that reads the captions, and its error is the error. A
file of no known shape is refused here: with its columns, or, for JSON and text, in the words of the native reader,
which names line and row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap import _core
from sacrecap.data.shapes import CAPTIONS, SHAPES, Shape, name_columns, shape_of_columns, some_columns
from sacrecap.errors import DataError

if TYPE_CHECKING:
    from sacrecap.data.rows import Rows

_TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
"""Formats of `TABLE_FORMATS`, by the first bytes of a file."""
_ZIP = b"PK\x03\x04"
_JSON = ("mapping", "object", "list", "lines")
"""Layouts of JSON that may be of any shape."""
_UNPACKED = "filtered_resps"
"""The key of JSON lines that are no rows yet: those of lmms-eval."""
_LINES = "where each line is a caption, choose the format text"


class Recognised(NamedTuple):
    """How captions are read."""

    shape: Shape
    rows: Rows


class Contents:
    """What is in a file, which is looked at once.

    Args:
        data: all bytes.
        format: the format that was named, if one was.

    Raises:
        DataError: the file is empty, or text that is not UTF-8.
    """

    def __init__(self, data: bytes, format: str | None = None) -> None:
        self.data = data
        self.names: list[str] = []
        if (table := _table_format(data)) is not None:
            self.layout = table
        elif data.startswith(_ZIP):
            self.layout = "spreadsheet"
        elif format == "text":
            self.layout = "captions"
        else:
            self.layout, self.names = _core.look(data)

    @classmethod
    def of_several(cls, files: Mapping[str, bytes]) -> Contents:
        """The rows of several files, which have names, one after the other. Raises `DataError` for one without rows."""
        from sacrecap.data.rows import SeveralFiles

        found: dict[str, Rows] = {}
        for name, data in files.items():
            try:
                rows = cls(data).rows if data else None
            except DataError as error:
                raise DataError(f"{name}: {error}") from None
            if rows is not None:
                found[name] = rows
            elif data:
                raise DataError(f"{name}: has no rows with columns, as each of several files must have")
        if not found:
            raise DataError("all files are empty")
        contents = cls.__new__(cls)
        contents.data, contents.layout, contents.names = b"", "files", []
        contents._rows = SeveralFiles(found), False
        return contents

    @cached_property
    def document(self) -> Any:
        """The JSON document. Raises `DataError` if it is none."""
        from sacrecap.data.rows import parsed

        return parsed(self.data)

    @cached_property
    def _rows(self) -> tuple[Rows | None, bool]:
        """The rows, and whether they are in a list inside an object."""
        from sacrecap.data import rows

        if self.layout in ("parquet", "arrow"):
            return rows.ArrowRows(self.data, self.layout), False
        if self.layout == "spreadsheet":
            return rows.spreadsheet(self.data), False
        if self.layout == "captions":
            return rows.text_lines(self.data), False
        if self.layout == "table":
            return rows.DelimitedRows(self.data), False
        if self.layout == "lines" and self.names:
            return rows.Lines(self.data, self.names), False
        if self.layout in ("text", "flickr"):
            return None, False
        return rows.rows_in(self.document)

    @property
    def rows(self) -> Rows | None:
        """The rows; None for a file without rows."""
        return self._rows[0]

    def recognised(self) -> Recognised | None:
        """The first shape that fits, and its rows; None for what the native reader reads, or refuses.

        Raises:
            DataError: the file has rows, whose columns belong to no shape.
        """
        found = self.known()
        if found is not None or self.is_native or self.rows is None:
            return found
        hint = f"; {_LINES}" if self.layout == "table" else ""
        columns = some_columns(self.rows.names)
        raise DataError(f"has the columns {columns}, which belong to no known format; {name_columns()}{hint}")

    @cached_property
    def is_native(self) -> bool:
        """Whether the native reader reads the file, or says best what is wrong with it."""
        if self.layout in ("coco", "karpathy", "flickr") or self._is_native(self.names):
            return True
        if self.layout == "mapping" and shape_of_columns(self.names) is None:
            return True
        if self.layout not in _JSON:
            return False
        try:
            rows, wrapped = self._rows
        except DataError:
            return True  # no JSON
        return not wrapped and ((rows is not None and self._is_native(rows.names)) or self._of_a_shape is None)

    def known(self) -> Recognised | None:
        """The first shape that fits, and its rows; None for a file that the native reader reads, or nobody."""
        return None if self.is_native else self._of_a_shape

    @cached_property
    def _of_a_shape(self) -> Recognised | None:
        if self.layout in _JSON and (self.layout != "lines" or _UNPACKED in self.names):
            for shape in SHAPES.values():
                if shape.unpack is not None and (records := self._unpacked(shape)) is not None:
                    return Recognised(shape, records)
        known = None if self.rows is None else shape_of_columns(self.rows.names)
        return None if self.rows is None or known is None else Recognised(known, self.rows)

    def _is_native(self, names: Sequence[str]) -> bool:
        """Whether the native reader reads rows with these columns."""
        captions = CAPTIONS[:1] if self.layout == "table" else CAPTIONS
        if "image_id" not in names or not any(name in names for name in captions):
            return False
        shape = shape_of_columns(names)
        if self.layout not in ("list", "lines", "table") or shape is None or shape.name != "rows":
            return False
        from sacrecap.data import rows

        return self.layout != "table" or rows.header(self.data)[1] != "|"

    def _unpacked(self, shape: Shape) -> Rows | None:
        """The rows that a shape makes of the document; None if that has another form."""
        from sacrecap.data import documents
        from sacrecap.data.rows import Records

        records = getattr(documents, shape.unpack or "")(self.document)
        return None if records is None else Records(records)

    def of_shape(self, name: str) -> Recognised:
        """The rows of a file of this shape. Raises `DataError` if it is of another."""
        shape = SHAPES[name]
        rows = self.rows if shape.unpack is None else self._unpacked(shape)
        if rows is None:
            raise DataError(f"is not of format {shape.name}, which is {shape.summary}")
        return Recognised(shape, rows)


def read_in_pieces(start: bytes, named: str | None) -> str | None:
    """The format of a file that can be read piece by piece: `jsonl`, `csv`, or a table's.

    Args:
        start: its beginning.
        named: the format that its suffix tells.

    Returns:
        None for files that must be read whole, as COCO's.

    Raises:
        DataError: the beginning is not UTF-8.
    """
    if not start.strip():
        return "csv"
    if (table := _table_format(start)) is not None:
        return table
    if start.startswith(_ZIP):
        return None
    layout, names = _core.look(start)
    shape = shape_of_columns(names)
    if _UNPACKED in names or (shape is not None and shape.lists_in_text):
        return None
    return named or {"lines": "jsonl", "table": "csv"}.get(layout)


def _table_format(start: bytes) -> str | None:
    return next((name for magic, name in _TABLES.items() if start.startswith(magic)), None)


def refusal_of(error: Exception, contents: Contents) -> str:
    """The native reader's error about a file that nothing recognised, with what a user may do about it."""
    return f"{error}; {_LINES}" if contents.layout == "text" else str(error)
