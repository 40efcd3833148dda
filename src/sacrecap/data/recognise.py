"""What a file is: the one place that decides how it is read, and so whose message a user sees.

A file is looked at first: its layout, and the columns or keys of its first rows. The table in `shapes` then says which
columns hold what. The reader that is chosen so is the only one that reads the captions, and its error is the error. A
file of no known shape is refused here: with its columns, or, for JSON and text, in the words of the native reader,
which names line and row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from sacrecap import _core
from sacrecap.data.shapes import SHAPES, TABLE_FORMATS, Shape, shape_of_columns
from sacrecap.errors import DataError, naming

if TYPE_CHECKING:
    from sacrecap.data.rows import Rows

_TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
"""Formats of `TABLE_FORMATS`, by the first bytes of a file."""
_ZIP = b"PK\x03\x04"
_TAR = (257, b"ustar")
_BINARY = {
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x93NUMPY": "an array of NumPy",
    b"\x89PNG": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"RIFF": "a picture, sound or film (RIFF)",
    b"%PDF": "a PDF",
    b"\x89HDF": "HDF5",
    b"SQLite format 3": "a database of SQLite",
    b"ORC": "a table of ORC",
    b"Obj\x01": "a table of Avro",
    b"\x7fELF": "a program",
    b"\xd0\xcf\x11\xe0": "a file of an old Excel or Word",
    b"7z\xbc\xaf": "an archive of 7-Zip",
    b"Rar!": "an archive of RAR",
}
"""Files that hold no captions that can be read, by their first bytes."""
_JSON = ("mapping", "object", "list", "lines")
"""Layouts of JSON that may be of any shape."""
DOCUMENTS = ("msrvtt", "activitynet", "lmms_eval", "lists")
"""Forms of JSON documents of which a function in `documents` makes rows."""


class Recognised(NamedTuple):
    """How captions are read."""

    name: str
    """One of `SHAPES`."""
    shape: Shape
    rows: Rows


class Contents:
    """What is in a file, which is looked at once.

    Args:
        data: all bytes.
        format: the format that was named, if one was.

    Raises:
        DataError: the file is empty, binary, or text that is not UTF-8.
    """

    def __init__(self, data: bytes, format: str | None = None) -> None:
        self.data = data
        self.names: list[str] = []
        if (table := _binary_format(data)) is not None:
            self.layout = table
        elif format == "text":
            self.layout = "captions"
        else:
            self.layout, self.names = _core.look(data)

    @classmethod
    def of_several(cls, files: Mapping[str, bytes]) -> Contents:
        """The rows of several files, which have names, one after the other. Raises `DataError` for one without rows."""
        from sacrecap.data.rows import of_files

        found: dict[str, Rows] = {}
        for name, data in files.items():
            with naming(f"{name}: "):
                rows = cls(data).rows if data else None
            if rows is not None:
                found[name] = rows
            elif data:
                raise DataError(f"{name}: has no rows with columns, as each of several files must have")
        if not found:
            raise DataError("all files are empty")
        contents = cls.__new__(cls)
        contents.data, contents.layout, contents.names = b"", "files", []
        contents.__dict__["_found"] = "rows", of_files(found)
        return contents

    @cached_property
    def _found(self) -> tuple[str, Rows | None]:
        """The name of the shape, and the rows; None for a file that has none."""
        from sacrecap.data import documents, rows

        data, layout = self.data, self.layout
        if layout in TABLE_FORMATS:
            return "rows", rows.of_arrow(data, layout)
        if layout == "spreadsheet":
            return "rows", rows.spreadsheet(data)
        if layout == "webdataset":
            return "webdataset", documents.webdataset(data)
        if layout == "captions":
            return "text", rows.text_lines(data)
        if layout in _JSON:
            return self._of_json()
        table = rows.of_table(data) if layout == "table" else None
        if table is None or not shape_of_columns(table.names).is_known:
            pairs = None if layout == "flickr" else documents.without_header(data)
            if pairs is not None:
                return "pairs", pairs
        corpus = None if table is None else documents.msvd(table)
        return ("rows", table) if corpus is None else ("msvd", corpus)

    def _of_json(self) -> tuple[str, Rows | None]:
        from sacrecap.data import documents, rows

        if self.layout == "lines" and "filtered_resps" not in self.names:
            lines = rows.of_lines(self.data)
            if lines.names and (shape_of_columns(lines.names).is_known or b"}\n{" in self.data):
                return "rows", lines
        document = rows.parsed(self.data)
        for name in DOCUMENTS:
            records = getattr(documents, name)(document)
            if records is not None:
                return name.replace("_", "-"), rows.of_records(records)
        return "rows", documents.rows_in(document)

    @property
    def rows(self) -> Rows | None:
        """The rows, as which somebody who names columns sees them; None for a file without rows."""
        from sacrecap.data import documents, rows

        if self.layout in ("coco", "karpathy"):
            return documents.rows_in(rows.parsed(self.data))
        found = self._found[1]
        if found is None and self.layout in ("mapping", "object", "lines"):
            return rows.of_records([rows.parsed(self.data)])
        return found

    def rows_with(self, name: str) -> Rows | None:
        """Rows of image ids that have this column, too; COCO's are those of its images. None if there are none."""
        from sacrecap.data import rows

        found = self.rows
        if self.layout == "coco" and (found is None or name not in found.names):
            images = rows.parsed(self.data).get("images") or []
            found = rows.of_records([{**image, "image_id": image.get("id")} for image in images])
        return found if found is not None and name in found.names else None

    def recognised(self) -> Recognised | None:
        """What the file is, and its rows; None for what the native reader reads, or refuses."""
        if self.is_native:
            return None
        name, rows = self._found
        return None if rows is None else Recognised(name, shape_of_columns(rows.names), rows)

    def with_split(self) -> Recognised | None:
        """The same of a file of which a split is asked for, which rows may have as a column."""
        if self.layout in ("list", "lines", "table") and "split" in self.names:
            rows = self._found[1]
            return None if rows is None else Recognised(self._found[0], shape_of_columns(rows.names), rows)
        return self.recognised()

    @cached_property
    def is_native(self) -> bool:
        """Whether the native reader reads the file, or says best what is wrong with it."""
        if self.layout in ("coco", "karpathy", "flickr"):
            return True
        if self.layout == "mapping" and not shape_of_columns(self.names).is_known:
            return True
        if self.layout in ("list", "lines", "table") and self._are_native(self.names):
            return True
        if self.layout in _JSON:
            try:
                return self._found[1] is None
            except DataError as error:
                return "not JSON" in str(error)  # which the native reader says with line and column
        return False

    def _are_native(self, names: Sequence[str]) -> bool:
        """Whether the native reader reads rows with these columns."""
        shape = shape_of_columns(names)
        families = {shape.families(part) for part in ("references", "candidates")}
        captions = [{(("caption",),)}] if self.layout == "table" else [{(("caption",),)}, {(("captions",),)}]
        if shape.ids[:1] != ("image_id",) or families not in captions:
            return False
        from sacrecap.data import rows

        return self.layout != "table" or rows.header(self.data)[1] != "|"

    def of_shape(self, name: str) -> Recognised:
        """The rows of a file of this shape. Raises `DataError` if it is of another."""
        found, rows = self._found
        if rows is None or name not in (found, "rows"):
            raise DataError(f"is not of format {name}, which is {SHAPES[name]}")
        return Recognised(name, shape_of_columns(rows.names), rows)


def read_in_pieces(start: bytes, named: str | None) -> str | None:
    """The format of a file that can be read piece by piece: `jsonl`, `csv`, or a table's.

    Args:
        start: its beginning.
        named: the format that its suffix tells.

    Returns:
        None for files that must be read whole, as COCO's.

    Raises:
        DataError: the beginning is not UTF-8, or binary.
    """
    if not start.strip():
        return "csv"
    binary = _binary_format(start)
    if binary is not None:
        return binary if binary in TABLE_FORMATS else None
    layout, names = _core.look(start)
    from sacrecap.data.documents import MSVD, without_header

    if "filtered_resps" in names or {*MSVD} <= {*names}:
        return None
    is_unknown = layout in ("table", "text") and not shape_of_columns(names).is_known
    if is_unknown and without_header(start[: start.rfind(b"\n") + 1]) is not None:
        return None
    if layout == "lines" and b"\n" not in start.strip():
        return None  # one object may be the whole document
    return named or {"lines": "jsonl", "table": "csv"}.get(layout)


def _binary_format(start: bytes) -> str | None:
    """A table's format, `spreadsheet` or `webdataset`; None for text. Raises `DataError` for other binary files."""
    found = next((name for magic, name in _TABLES.items() if start.startswith(magic)), None)
    if found is not None:
        return found
    if start.startswith(_ZIP):
        return "spreadsheet"
    place, magic = _TAR
    if start.startswith(magic, place):
        return "webdataset"
    kind = next((kind for magic, kind in _BINARY.items() if start.startswith(magic)), None)
    if kind is not None:
        raise DataError(f"is {kind}, of which no captions are read; write them as JSON, CSV or Parquet")
    return None


def is_binary(data: bytes) -> bool:
    """Whether a file is none of text."""
    try:
        return _binary_format(data) is not None
    except DataError:
        return True


_LINES = "where each line is a caption, choose the format text"


def refusal_of(error: Exception, contents: Contents) -> str:
    """The native reader's error about a file that nothing recognised, with what a user may do about it."""
    return f"{error}; {_LINES}" if contents.layout == "text" else str(error)
