"""Tables as values that commas or tabs separate."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from typing import IO


def render(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV: numbers in full precision, undefined ones and None empty, yes or no for a truth."""
    text = io.StringIO()
    write(text, heads, (map(_field, row) for row in rows))
    return text.getvalue()


def write(file: IO[str], head: Iterable[object], rows: Iterable[Iterable[object]], separator: str = ",") -> None:
    """Writes a header and rows; floats keep their exact value when read again."""
    writer = csv.writer(_Lines(file), lineterminator="\r\n", delimiter=separator)
    writer.writerow(head)
    writer.writerows(rows)


class _Lines:
    """Ends each record by a line feed. The writer quotes a field for a carriage return only where its own line end has
    one; a bare one would break the file.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, record: str) -> object:
        return self._file.write(record.removesuffix("\r\n") + "\n")


def _field(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if isinstance(value, float) and not math.isfinite(value) else value
