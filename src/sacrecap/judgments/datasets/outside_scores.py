"""Scores that others computed: a file with a column per metric and a row per judgment."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import DataError
from sacrecap.judgments.datasets.records import read_lines, records

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.judgments.judged_rows import Judgments
    from sacrecap.judgments.row_scorer import Columns

_IDS = ("image_id", "row", "judgment")
"""Columns that are not scores."""


def read_scores(path: PathLike, judgments: Judgments) -> dict[str, Columns]:
    """Scores by name and column of candidates, aligned with the rows of the judgments.

    CSV or TSV with a header, or JSON lines; one row for each judgment, in the order of the judgments' file. Judgments
    that the protocol leaves out may have a row, but need not. Rated captions have a column per metric. Pairs have two,
    `NAME.b` and `NAME.c`, or one, `NAME`: by how much B is better. Columns `image_id`, `row` and `judgment` are not
    read.

    Raises `DataError` for another number of rows, a value that is not a finite number, and a column without its
    partner.
    """
    source = display_name(path)
    table = _read(source, path)
    number = len(next(iter(table.values())))
    if number not in (judgments.in_file, len(judgments.rows)):
        left = (
            "" if judgments.in_file == len(judgments.rows) else f" (or {len(judgments.rows):,}, without those left out)"
        )
        raise DataError(
            f"{source}: {number:,} rows of scores for {judgments.in_file:,} judgments{left}; give a row for each"
        )
    places = [row.place for row in judgments.rows] if number == judgments.in_file else range(number)
    aligned = {name: [values[place] for place in places] for name, values in table.items()}
    return _paired(source, aligned) if len(judgments.candidates()) == 2 else _single(aligned)


def check_scores(scores: Mapping[str, object], judgments: Judgments) -> dict[str, Columns]:
    """The same scores from memory: by name and column of candidates, one finite number per row of the judgments.

    Raises a `DataError` that names the column: another number of rows, other columns, or a value that is not finite.
    """
    expected = list(judgments.candidates())
    checked: dict[str, Columns] = {}
    rows = len(judgments.rows)
    for name, columns in scores.items():
        if not isinstance(columns, Mapping) or set(columns) != set(expected):
            received = (
                f"the columns {', '.join(map(repr, columns))}" if isinstance(columns, Mapping) else repr(columns)[:60]
            )
            needed = ", ".join(f"{column!r}: numbers" for column in expected)
            raise DataError(f"scores {name!r}: got {received}; these judgments need {{{needed}}}")
        checked[name] = {
            column: _numbers(f"scores {name!r}, column {column!r}", columns[column], rows) for column in expected
        }
    return checked


def _numbers(where: str, values: npt.ArrayLike, rows: int) -> npt.NDArray[np.float64]:
    import numpy as np

    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: not a sequence of numbers: {error}") from None
    if numbers.shape != (rows,):
        shape = f"{len(numbers):,} numbers" if numbers.ndim == 1 else f"an array of shape {numbers.shape}"
        raise DataError(f"{where}: {shape} for {rows:,} judgments; give one number for each")
    if not np.isfinite(numbers).all():
        index = int(np.argmin(np.isfinite(numbers)))
        raise DataError(f"{where}: expected finite numbers, got {numbers[index]} at place {index}")
    return numbers


def _single(table: dict[str, list[float]]) -> dict[str, Columns]:
    import numpy as np

    return {name: {"caption": np.array(values)} for name, values in table.items()}


def _paired(source: str, table: dict[str, list[float]]) -> dict[str, Columns]:
    import numpy as np

    scores: dict[str, Columns] = {}
    for name, values in table.items():
        stem, dot, side = name.rpartition(".")
        if not dot or side not in ("b", "c"):
            scores[name] = {"b": np.array(values), "c": np.zeros(len(values))}
        elif f"{stem}.b" not in table or f"{stem}.c" not in table:
            raise DataError(f"{source}: column {name!r} without its partner; scores of pairs are {stem}.b and {stem}.c")
        else:
            scores.setdefault(stem, {})[side] = np.array(values)
    return scores


def _read(source: str, path: PathLike) -> dict[str, list[float]]:
    """Columns of finite numbers by name."""
    lines = list(read_lines(path))
    if len(lines) < 2:
        raise DataError(f"{source}: no scores in it; expected a header and a row for each judgment")
    if lines[0][1].lstrip().startswith("{"):
        rows = [(record.line, record.fields) for record in records(source, lines)]
    else:
        rows = _delimited_rows(source, lines)
    names = [name for name in rows[0][1] if name not in _IDS]
    if not names:
        raise DataError(f"{source}: no column of scores in it; its columns: {', '.join(rows[0][1])}")
    for line, row in rows:
        if list(row) != list(rows[0][1]):
            raise DataError(f"{source}, line {line}: not the columns of the first row ({', '.join(rows[0][1])})")
    return {name: [_number(f"{source}, line {line}, column {name}", row[name]) for line, row in rows] for name in names}


def _delimited_rows(source: str, lines: list[tuple[int, str]]) -> list[tuple[int, dict[str, object]]]:
    delimiter = "\t" if "\t" in lines[0][1] else ","
    head, *values = csv.reader((line for _, line in lines), delimiter=delimiter)
    repeated = next((name for name in head if head.count(name) > 1), None)
    if repeated is not None:
        raise DataError(f"{source}: column {repeated!r} occurs twice")
    rows: list[tuple[int, dict[str, object]]] = []
    for (number, _), row in zip(lines[1:], values, strict=False):
        if len(row) != len(head):
            raise DataError(f"{source}, line {number}: {len(row)} columns, the first line has {len(head)}")
        rows.append((number, dict(zip(head, row, strict=True))))
    return rows


def _number(where: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{where}: expected a finite number, got {value!r}")
    return number
