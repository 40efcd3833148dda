"""Scores of captions that others computed: a table with a column per metric and a row per caption."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from sacrecap.data import tables
from sacrecap.errors import DataError, UsageError, some

KEYS = (*tables.IMAGES, *tables.CAPTIONS, *tables.SYSTEMS, *tables.NUMBERS)
"""Columns that are not scores."""


@dataclass(frozen=True, eq=False)
class OutsideScores:
    """Columns of scores, and what names the rows: image and caption, image and system, image, or only their order."""

    source: str
    columns: dict[str, list[float]]
    """A score that is missing is NaN."""
    rows: int
    signature: str
    """The checksum and the number of rows of the whole table."""
    images: list[str] | None = None
    systems: list[str] | None = None
    captions: list[str] | None = None
    of_sets: bool = False
    """Whether a row is of a caption set."""

    @classmethod
    def of_table(cls, table: tables.NumberTable) -> OutsideScores:
        """The columns that hold numbers. Raises `DataError` if there are none, or one has other cells."""
        names = [
            name
            for name, cells in table.columns.items()
            if name not in KEYS and any(tables.is_number(cell) and not tables.is_missing(cell) for cell in cells)
        ]
        if not names or not table.places:
            raise DataError(f"{table.source}: no column of scores in it; its columns: {', '.join(table.columns)}")
        columns = {name: table.numbers(name, missing=True) for name in names}
        rows, keys = len(table.places), (tables.IMAGES, tables.SYSTEMS, tables.CAPTIONS)
        images, systems, captions = (table.texts(table.first(key)) for key in keys)
        return cls(table.source, columns, rows, f"{table.checksum}({rows})", images, systems, captions)

    def of_system(self, name: str) -> OutsideScores:
        """The rows of one system of several that are scored; all rows where captions tell them. Raises `DataError`."""
        if self.systems is None:
            if self.captions is None:
                remedy = "add a column system, with the systems' names, or a column caption"
                raise DataError(f"{self.source} has scores of one system, and several are compared; {remedy}")
            return self
        if name not in self.systems:
            known = ", ".join(dict.fromkeys(self.systems))
            raise DataError(f"{self.source}: no row of the system {name!r}; it has {known}")
        return self.select([row for row, system in enumerate(self.systems) if system == name])

    def select(self, rows: Sequence[int]) -> OutsideScores:
        """These rows, in this order."""
        columns = {name: [values[row] for row in rows] for name, values in self.columns.items()}
        keys = ((name, getattr(self, name)) for name in ("images", "systems", "captions"))
        chosen: dict[str, Any] = {name: values and [values[row] for row in rows] for name, values in keys}
        return replace(self, columns=columns, rows=len(rows), **chosen)

    def aligned(
        self, images: Sequence[str], captions: Sequence[str], systems: Sequence[str] | None = None
    ) -> OutsideScores:
        """The scores of these captions, in their order. Raises `DataError` for a caption without row."""
        if self.images is None:
            if len(images) != self.rows:
                counts = f"{self.rows:,} rows of scores for {len(images):,} captions"
                remedy = "nothing names them, so give a row for each, in their order, or add a column image_id"
                raise DataError(f"{self.source}: {counts}; {remedy}")
            return self
        return replace(self.select(self.find(images, captions, systems)), images=None, systems=None, captions=None)

    def find(
        self, images: Sequence[str], captions: Sequence[str] | None, systems: Sequence[str] | None = None
    ) -> list[int]:
        """The rows of these captions. Raises `DataError` for one without row."""
        columns, wanted_columns = [self.images or []], [images]
        if self.captions is not None and captions is not None:
            columns, wanted_columns = [*columns, self.captions], [*wanted_columns, [name.strip() for name in captions]]
        if self.systems is not None and systems is not None:
            columns, wanted_columns = [*columns, self.systems], [*wanted_columns, systems]
        elif len(columns) == 1 and len(names := list(dict.fromkeys(self.systems or ()))) > 1:
            several = f"rows of several systems ({', '.join(names)}), and the captions are of none of them"
            remedy = "leave one system's rows, or name the captions' file after the system"
            raise DataError(f"{self.source} has {several}; {remedy}")
        places: dict[tuple[str, ...], int] = {}
        for row, key in enumerate(zip(*columns, strict=True)):
            first = places.setdefault(key, row)
            pairs = ((values[first], values[row]) for values in self.columns.values())
            if any(a != b and not (math.isnan(a) and math.isnan(b)) for a, b in pairs):
                two = f"two rows of {' · '.join(key)} with different scores (rows {first + 1} and {row + 1})"
                remedy = "remove one, or add a column caption or system that tells them apart"
                raise DataError(f"{self.source}: {two}; {remedy}")
        keys = list(zip(*wanted_columns, strict=True))
        lacking = [" · ".join(map(str, key)) for key in keys if key not in places]
        if lacking:
            raise DataError(f"{self.source}: no row for {some(lacking)}")
        return [places[key] for key in keys]


def strays(values: Sequence[float], what: str) -> list[str]:
    """Sentences on numbers that look as if they stood for no score: −999 beside 0 to 100, −1 beside 1 to 5, 1e6.

    A number below 0 beside others that are not, or one that is ten times their range away from them.
    """
    counts = Counter(value for value in values if not math.isnan(value))
    sentences: list[str] = []
    while len(counts) > 3 and len(sentences) < 3:
        ordered = sorted(counts)
        low, high = ordered[0], ordered[-1]
        below, above = ordered[1], ordered[-2]
        if (low < 0 <= below and low.is_integer()) or below - low > 10 * (high - below):
            stray, least, most = low, below, high
        elif high - above > 10 * (above - low):
            stray, least, most = high, low, above
        else:
            break
        count = counts.pop(stray)
        few = f"{count:,} of {len(values):,} {'is' if count == 1 else 'are'} {stray:g}"
        rest = f"the others {least:g} to {most:g}; where it stands for no score, leave the cell empty"
        sentences.append(f"{what}: {few}, {rest}.")
    return sentences


def read_scores(table: Any) -> OutsideScores:
    """The scores of a file, a dictionary of columns, or a table. Raises `DataError`, `UsageError`."""
    if isinstance(table, (str, PathLike)):
        return OutsideScores.of_table(tables.read_table(table))
    if hasattr(table, "iterrows"):
        columns: Mapping[str, Sequence[Any]] = {str(name): table[name].tolist() for name in table.columns}
    elif isinstance(table, Mapping) or hasattr(table, "to_pydict"):
        columns = table if isinstance(table, Mapping) else table.to_pydict()
    else:
        accepted = "give the path of a file, a dictionary of columns, a pandas DataFrame or an Arrow table"
        raise UsageError(f"scores are of type {type(table).__name__}; {accepted}")
    return OutsideScores.of_table(tables.of_columns("the scores", columns))
