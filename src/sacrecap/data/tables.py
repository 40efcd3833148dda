"""Tables of numbers about captions: Parquet, CSV, TSV, JSON lines or JSON, as columns by name."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sacrecap.data.fields import json_type
from sacrecap.data.rows import check_single, delimiter_of, of_arrow, parsed, table_header, table_rows
from sacrecap.data.source import PathLike, display_name, read_bytes
from sacrecap.data.unpack import Content, text_of
from sacrecap.errors import DataError, naming

IMAGES = tuple("image_id video_id audio_id cocoid img_id imgid file_name image_file image_path image".split())
"""Columns that name the image, the best first."""
CAPTIONS = ("caption", "candidate")
SYSTEMS = ("system",)
NUMBERS = ("row", "judgment", "id", "index")


@dataclass(frozen=True, eq=False)
class NumberTable:
    """The columns of a table, and how its rows are called in messages."""

    source: str
    columns: dict[str, list[Any]]
    checksum: str
    """The first digits of the SHA-256 of the file."""
    places: Sequence[str]

    def first(self, names: Sequence[str]) -> str | None:
        """The first of these columns that is there."""
        return next((name for name in names if name in self.columns), None)

    def texts(self, name: str | None) -> list[str] | None:
        """A column of names or captions as texts; None without it. Raises `DataError` for an empty cell."""
        if name is None:
            return None
        texts = []
        for place, value in enumerate(self.columns[name]):
            # pandas writes whole numbers beside nulls as floats.
            text = int(value) if isinstance(value, float) and value.is_integer() else value
            if isinstance(text, bool) or not isinstance(text, (str, int)) or str(text).strip() == "":
                raise DataError(f"{self.where(place, name)}: expected a name or a text, got {text!r}")
            texts.append(str(text).strip())
        return texts

    def numbers(self, name: str, *, missing: bool = False) -> list[float]:
        """A column of finite numbers, or NaN where they may be `missing`. Raises `DataError` for any other cell."""
        return [
            math.nan if missing and is_missing(value) else number(self.where(place, name), value)
            for place, value in enumerate(self.columns[name])
        ]

    def where(self, place: int, name: str) -> str:
        """A cell in messages."""
        return f"{self.source}, {self.places[place]}, column {name}"

    def refuse(self, place: int, problem: str) -> DataError:
        """The error about a row."""
        return DataError(f"{self.source}, {self.places[place]}: {problem}")


def number(where: str, value: Any) -> float:
    """The cell as a finite number. Raises `DataError`, beginning with `where`, for any other."""
    if not is_number(value) or not math.isfinite(float(value)):
        raise DataError(f"{where}: expected a finite number, got {value!r}")
    return float(value)


def is_missing(value: object) -> bool:
    """Whether a cell says that it has no number: an empty one, null, NaN."""
    if isinstance(value, str):
        return value.strip().lower() in ("", "na", "n/a", "nan", "null", "none", "<na>", "-")
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_number(value: object) -> bool:
    """Whether a cell is a number, or says that there is none: NaN, infinity."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True


def read_table(path: PathLike) -> NumberTable:
    """The table of a file. Raises `DataError` for any other file."""
    return table_of(display_name(path), read_bytes(path))


def table_of(source: str, data: bytes) -> NumberTable:
    """The table in these bytes. Raises `DataError` for others."""
    checksum = hashlib.sha256(data).hexdigest()[:12]
    columns: dict[str, list[Any]]
    if data.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")):
        with naming(f"{source}: "):
            rows = of_arrow(Content(source, data), "parquet" if data.startswith(b"PAR1") else "arrow")
            columns = {name: [] for name in rows.names}
            for batch in rows.batches(rows.names):
                for name, values in zip(rows.names, batch, strict=True):
                    columns[name].extend(values)
        return of_columns(source, columns, checksum)
    start = text_of(data, f"{source}, ").lstrip()[:1]
    if start == "":
        raise DataError(f"{source}: no scores in it; expected a header and a row for each caption")
    if start in "[{":
        return _of_json(source, data, checksum)
    content = Content(source, data)
    first = next(line for line in content.lines() if line.strip())
    with naming(f"{source}: "):
        head, delimiter = table_header(content) if delimiter_of(first) else ([first.strip()], ",")
        check_single(head, head)
        lines = [*table_rows(content, head, delimiter)]
    columns = {name: [row[place] for _, row in lines] for place, name in enumerate(head)}
    return NumberTable(source, columns, checksum, [f"line {number}" for number, _ in lines])


def of_columns(source: str, columns: Mapping[str, Sequence[Any]], checksum: str = "") -> NumberTable:
    """A table that is in memory. Raises `DataError` for columns of different lengths."""
    lists = {
        str(name): [cell.item() if hasattr(cell, "item") else cell for cell in cells] for name, cells in columns.items()
    }
    if len(lengths := {len(cells) for cells in lists.values()}) > 1:
        counts = " and ".join(map(str, sorted(lengths)))
        raise DataError(f"{source}: columns of {counts} values; give one per row in each")
    places = [f"row {row}" for row in range(1, max(lengths, default=0) + 1)]
    return NumberTable(source, lists, checksum or hashlib.sha256(repr(lists).encode()).hexdigest()[:12], places)


def _of_json(source: str, data: bytes, checksum: str) -> NumberTable:
    """JSON lines, a list of rows, or an object of columns."""
    with naming(f"{source}, "):
        document = parsed(data)
    if isinstance(document, dict) and document and all(isinstance(column, list) for column in document.values()):
        return of_columns(source, document)
    rows = document if isinstance(document, list) else [document]
    is_lines = data.lstrip()[:1] == b"{"
    lines = [n for n, line in enumerate(data.split(b"\n"), 1) if line.strip()] if is_lines else range(1, len(rows) + 1)
    places = [f"{'line' if is_lines else 'row'} {place}" for place in lines]
    for place, row in zip(places, rows, strict=False):
        if not isinstance(row, dict):
            raise DataError(f"{source}, {place}: expected a JSON object, got {json_type(row)}")
        if list(row) != list(rows[0]):
            raise DataError(f"{source}, {place}: not the columns of the first row ({', '.join(rows[0])})")
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    return NumberTable(source, columns, checksum, places[: len(rows)])
