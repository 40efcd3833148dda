"""A table as a value: its content and meaning, independent of a format; and how scores are written in it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from sacrecap.errors import UsageError, option

if TYPE_CHECKING:
    from sacrecap.scoring.result import Score


class Highlight(Enum):
    """Reason to highlight a value; Markdown and LaTeX have signs of their own for it."""

    BEST = "best"
    WORSE = "worse"
    """Significantly worse than the best."""
    SIGNIFICANT = "significant"


SIGNS = {Highlight.BEST: "*", Highlight.WORSE: "†", Highlight.SIGNIFICANT: "!"}
"""Those of plain text and HTML."""


@dataclass(frozen=True)
class Number:
    """A number, printed by a specification for Python's `format`; one that is not finite becomes a dash."""

    value: float
    format: str = ".4f"

    def __str__(self) -> str:
        return format(self.value, self.format) if math.isfinite(self.value) else "–"


@dataclass(frozen=True)
class Interval:
    """Two bounds, printed by a specification for Python's `format`."""

    low: float
    high: float
    format: str = ".4f"

    def joined(self, between: str) -> str:
        """Both bounds with a text between them."""
        return f"{self.low:{self.format}}{between}{self.high:{self.format}}"

    def __str__(self) -> str:
        return self.joined(" to ")


@dataclass(frozen=True)
class Bar:
    """A value within its range, from 0 to `largest`: HTML draws it, text has the range alone."""

    value: float
    largest: float
    interval: Interval | None = None
    """That of the value."""

    def __str__(self) -> str:
        return f"0 to {self.largest:g}"


@dataclass(frozen=True)
class Cell:
    """A value with its additions."""

    value: str | Number | Interval | Bar
    mark: Highlight | None = None
    before: str = ""
    """Printed before the value, in small print: its ranks."""
    beside: Interval | None = None
    """Printed in brackets after the value."""
    below: Cell | None = None
    """Printed below the value, or in brackets after it if a cell is one line."""
    kind: str = ""
    """Its class in HTML."""
    title: str = ""
    """What HTML tells when it is pointed at."""
    term: str = ""
    """What HTML links it to the page of: the name of a metric, or a word of `markup.PAGES`."""


Value: TypeAlias = "str | Number | Interval | Bar | Cell"
"""Content of a row; a value that is not a `Cell` means a cell with only that value."""


@dataclass(frozen=True)
class Column:
    """A column's header, and the alignment of its cells."""

    head: str
    align: str = "right"
    """`left` or `right`."""
    printed: str = ""
    """The header in LaTeX, if it differs."""
    names: bool = False
    """Whether its cells name the rows: if a table is split because of its width, each part has this column."""
    bold: bool = False
    """Whether terminals in colour print its values bold."""
    kind: str = ""
    """The class of its cells in HTML."""
    title: str = ""
    """What HTML tells when the header is pointed at."""
    term: str = ""
    """What HTML links the header to the page of, as for a cell."""


@dataclass(frozen=True)
class Table:
    """Columns and rows with the same number of cells, and texts about them."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    title: str = ""
    legend: Mapping[Highlight, str] = field(default_factory=dict)
    """Explanation of the marks of the table, for the formats of papers."""
    caption: str = ""
    """A sentence for the caption in a paper."""
    notes: Sequence[str] = ()
    """Lines after the table."""
    signatures: Sequence[str] = ()
    """Those of its numbers: lines after the notes that are never broken."""
    turns: bool = False
    """Whether papers may have a row for each column, where it is too wide for a column of text."""

    def cells(self) -> list[list[Cell]]:
        """The rows, every value a `Cell`."""
        return [[value if isinstance(value, Cell) else Cell(value) for value in row] for row in self.rows]


@dataclass(frozen=True)
class Figures:
    """How scores are written: unscaled, or times 100 as papers print them; and their number of decimals."""

    percent: bool = False
    digits: int = 4

    @classmethod
    def of(
        cls, format_: str, percent: bool | None = None, digits: int | None = None, *, papers: bool = True
    ) -> Figures:
        """The figures of a format, unless given: 4 decimals, and of 100 times the score, as LaTeX has it where `papers`
        print these scores so, one.

        Raises `UsageError` if either is given for a format whose numbers are for programs.
        """
        if format_ in ("json", "csv") and (percent is not None or digits is not None):
            raise UsageError(
                f"{option('percent')} and {option('digits')} are for tables; {option('format', format_)} has unscaled "
                "scores in full precision"
            )
        percent = (papers and format_ == "latex") if percent is None else percent
        return cls(percent, (1 if percent else 4) if digits is None else digits)

    @property
    def scale(self) -> str:
        """The note of a table about its scale; empty for unscaled scores."""
        return "scores × 100" if self.percent else ""

    def number(self, value: float) -> Number:
        return Number(self._factor * value, f".{self.digits}f")

    def difference(self, value: float) -> Number:
        return Number(self._factor * value, f"+.{self.digits}f")

    def interval(self, low: float, high: float, *, signed: bool = False) -> Interval:
        return Interval(self._factor * low, self._factor * high, f"{'+' * signed}.{self.digits}f")

    def bar(self, value: float, largest: float, interval: tuple[float, float] | None = None) -> Bar:
        bounds = self.interval(*interval) if interval else None
        return Bar(self._factor * value, self._factor * largest, bounds)

    def scored(self, score: Score) -> Cell:
        """A score with its interval beside it, if it has one."""
        return Cell(self.number(score.value), beside=self.interval(*score.interval) if score.interval else None)

    @property
    def _factor(self) -> float:
        return 100.0 if self.percent else 1.0


Records: TypeAlias = tuple[Sequence[str], Iterable[Sequence[object]]]
"""A table for programs: the heads of its columns, and rows of numbers, texts, truths and None."""


def records(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Records:
    """A table for programs: a field is a number in full precision, yes or no, a text, or empty for None."""
    return heads, rows


def percent(level: float) -> str:
    """A confidence level as text: 95%, 97.5%."""
    return f"{100 * level:.6g}%"


_BREAKS = re.compile(r"\r\n|[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def one_line(text: str) -> str:
    """The text with a blank for each line end and each control character: names and captions come from files, and a
    cell is a line.
    """
    return _BREAKS.sub(" ", text)
