"""How scores are written in tables: unscaled, or times 100 as papers print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sacrecap.errors import UsageError, option
from sacrecap.report.printing.table import Bar, Cell, Interval, Number

if TYPE_CHECKING:
    from sacrecap.scoring.result import Score

_EXACT = ("json", "csv")
"""The formats for programs: scores are unscaled, in full precision."""


@dataclass(frozen=True)
class Figures:
    """The factor of scores, and their number of decimals."""

    percent: bool = False
    digits: int = 4

    @classmethod
    def of(
        cls, format_: str, percent: bool | None = None, digits: int | None = None, *, papers: bool = True
    ) -> Figures:
        """The figures of a format, unless given: LaTeX has 100 times the score with one decimal, as papers print.

        Args:
            format_: one of `FORMATS`.
            percent: whether scores are printed times 100; None: in LaTeX, if `papers` print these scores so.
            digits: number of decimals; None: 4, and 1 of scores times 100.
            papers: whether papers print these scores times 100.

        Raises `UsageError` if either is given for a format whose numbers are for programs.
        """
        if format_ in _EXACT and (percent is not None or digits is not None):
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
