"""Tables as values that commas or tabs separate."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from typing import IO

from sacrecap.report.printing.table import Cell, Number, Table


def render(table: Table) -> str:
    """The table as CSV: numbers in full precision, undefined ones empty."""
    text = io.StringIO()
    write(text, (column.head for column in table.columns), (map(_field, row) for row in table.cells()))
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


def _field(cell: Cell) -> object:
    if isinstance(cell.value, Number):
        return cell.value.value if math.isfinite(cell.value.value) else ""
    return str(cell.value)
