"""What a file is: the one place that decides how it is read, and so whose message a user sees.

A file is told by its first bytes, a document of JSON by its structure, rows by the names of their columns, which are in
the table of `shapes`. What comes out is always the same: rows, and which of their columns hold what.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sacrecap.data import documents, matlab, rows
from sacrecap.data.rows import Rows
from sacrecap.data.shapes import SHAPES, TABLE_FORMATS, Shape, accepted, is_plain, shape_of_columns
from sacrecap.data.unpack import Content, binary_format, not_utf8
from sacrecap.errors import DataError, cut_off, naming

_DOCUMENTS: dict[str, Callable[[Any], Rows | None]] = {
    "coco": documents.coco,
    "karpathy": documents.karpathy,
    "msrvtt": documents.msrvtt,
    "activitynet": documents.activitynet,
    "lmms-eval": documents.lmms_eval,
    "lists": documents.lists,
    "mapping": documents.mapping,
    "rows": documents.rows_in,
}
"""Shapes of a document of JSON, in the order in which they are tried."""
_TABLES = {"csv": ",;", "tsv": "\t"}
"""Formats of tables of text, by what stands between their fields."""


class Recognised(NamedTuple):
    """What a file is."""

    name: str
    """One of `SHAPES`."""
    shape: Shape
    rows: Rows
    document: Any = None
    """The document of JSON that it is, if it is one."""
    problem: str = ""
    """Why no captions are found where nobody names columns."""

    @property
    def every(self) -> Rows:
        """The rows with all columns, as which somebody who names some sees them. Raises `DataError` if it has none."""
        if self.name not in ("coco", "karpathy", "mapping") or self.document is None:
            return self.rows
        inside = documents.rows_in(self.document)
        if inside is None and isinstance(self.document, dict):
            inside = rows.of_records([self.document])
        return self.rows if inside is None else inside

    def with_column(self, name: str) -> Rows | None:
        """Rows of image ids that have this column, too; COCO's are those of its images. None if there are none."""
        every = self.every
        if self.name == "coco" and name not in every.names:
            images = self.document.get("images") or []
            every = rows.of_records([{**image, "image_id": image.get("id")} for image in images])
        return every if name in every.names else None


def recognised(content: Content, format: str | None = None) -> Recognised:
    """What the file is.

    Args:
        content: the file.
        format: one of `SHAPES`, if somebody says so.

    Raises:
        DataError: it is empty, of no known shape, or not of the format; the message does not name the file.
    """
    file = _recognised(content, format)
    if format in (None, "rows", file.name, "text") or format in _layouts(file, content):
        return file
    raise DataError(f"is not of format {format}, which is {SHAPES[format or '']}, but of format {file.name}")


def of_several(files: Mapping[str, Content], format: str | None = None) -> Recognised:
    """The rows of several files, one after the other; files that are empty are left out. Errors name the file."""
    by_name: dict[str, Rows] = {}
    for name, content in files.items():
        with naming(f"{name}: "):
            if content.start:
                by_name[name] = recognised(content, format).rows
    if not by_name:
        raise DataError("all files are empty")
    every = rows.of_files(by_name)
    return Recognised("rows", shape_of_columns(every.names), every)


def _recognised(content: Content, format: str | None) -> Recognised:
    start = content.start
    binary = binary_format(start)
    if binary is not None:
        return _known(*_of_binary(content, binary))
    if format == "text":
        return _known("text", rows.text_lines(content))
    if not content.is_utf8():
        not_utf8(content.read())
    if not start.decode(errors="replace").removeprefix("\ufeff").strip():
        raise DataError(f"the file is empty; {accepted()}")
    if format in _TABLES or format == "pairs":
        return _known(*_of_text(content, format))
    if format == "flickr":
        return _known("flickr", documents.flickr(content))
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return _of_json(content, format)
    return _known(*_of_text(content, format))


def _known(name: str, table: Rows, document: Any = None) -> Recognised:
    shape = shape_of_columns(table.names)
    if name == "rows" and document is not None and is_plain(shape):
        name = "list" if isinstance(document, list) else "rows"
    if name in ("rows", "jsonl") and table.is_json and not is_plain(shape):
        table = replace(table, is_json=False)
    return Recognised(name, shape, table, document)


def _layouts(file: Recognised, content: Content) -> Sequence[str]:
    """The formats that only say how the rows are written."""
    if file.name in TABLE_FORMATS or file.document is not None:
        return ("list", "jsonl") if isinstance(file.document, list) else ()
    if file.rows.is_text:
        delimiter = rows.table_header(content)[1]
        return [name for name, delimiters in _TABLES.items() if delimiter in delimiters]
    return ("jsonl",) if binary_format(content.start) is None else TABLE_FORMATS


def _of_binary(content: Content, binary: str) -> tuple[str, Rows]:
    if binary == "spreadsheet":
        return "rows", rows.spreadsheet(content.read())
    if binary == "matlab":
        return "rows", matlab.references(content)
    if binary == "webdataset":
        return binary, documents.webdataset(content.read())
    return "rows", rows.of_arrow(content, binary)


def _of_json(content: Content, format: str | None) -> Recognised:
    """A document, or lines of JSON."""
    first = rows.first_records(content.start)
    is_lines = len(first) > 1 or (bool(first) and (format == "jsonl" or b"\n" in content.start.strip()))
    if is_lines and format in (None, "rows", "jsonl") and not any("filtered_resps" in record for record in first):
        lines = rows.of_lines(content)
        return _known("jsonl" if is_plain(shape_of_columns(lines.names)) else "rows", lines)
    document = rows.parsed(content.read())
    named = {format: _DOCUMENTS[format]} if format in _DOCUMENTS and format != "rows" else {}
    if format == "mapping" and isinstance(document, dict):
        named = {format: documents.of_mapping}
    for name, make in {**named, **_DOCUMENTS}.items():
        table = make(document)
        if table is not None:
            if name == "mapping":
                _check_single(content)
            return _known(name, table, document)
    problem = f"found {_described(document)}; {accepted()}"
    if not isinstance(document, dict):
        raise DataError(problem)
    return _known("rows", rows.of_records([document]), document)._replace(problem=problem)


def _check_single(content: Content) -> None:
    """Raises `DataError` if an object has a key twice, of which Python keeps the second."""

    def checked(pairs: list[tuple[str, Any]]) -> None:
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                raise DataError(f"image {cut_off(key)} stands twice in the mapping; put its captions in one list")
            keys.add(key)

    json.loads(content.read().decode("utf-8-sig"), object_pairs_hook=checked)


def _described(document: Any) -> str:
    """What a document is, for a message."""
    if isinstance(document, dict):
        keys = [*document]
        return f"an object with the keys {', '.join(map(cut_off, keys[:8]))}{', …' if len(keys) > 8 else ''}"
    kinds: dict[type, str] = {str: "texts", dict: "objects", list: "lists"}
    inside = dict.fromkeys(kinds.get(type(item), "numbers, null, true or false") for item in document)
    return f"a list of {' and '.join(inside)}" if inside else "an empty list"


def _of_text(content: Content, format: str | None) -> tuple[str, Rows]:
    """A table, with a header or without, or a token file."""
    if format is None and documents.is_flickr(content):
        return "flickr", documents.flickr(content)
    try:
        table = None if format == "pairs" else rows.of_table(content)
    except DataError:
        table = None
    if format in _TABLES:
        if table is None:
            raise DataError(f"is not of format {format}, which is {SHAPES[format or '']}")
        return "rows", table
    if table is None or not shape_of_columns(table.names).is_known:
        pairs = documents.without_header(content)
        if pairs is not None:
            return "pairs", pairs
    if table is None:
        line = next(line for line in content.lines() if line.strip()).strip()
        raise DataError(
            f'found a text that begins "{cut_off(line)}"; {accepted()}; where each line is a caption, choose '
            "the format text"
        )
    corpus = documents.msvd(table)
    return ("rows", table) if corpus is None else ("msvd", corpus)
