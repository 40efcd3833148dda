"""Statistics that were added up: what is left of rows that nobody keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrecap import _core


@dataclass(frozen=True, eq=False)
class Summed:
    """The sums of one metric's statistics over rows that nobody kept, in the place of the rows.

    It stands where [`Statistics`][sacrecap._core.Statistics] of all images would; `row_scores` are of none.
    """

    rows: int
    """Number of rows."""
    unscored: int
    """Number of rows without a score."""
    total: _core.Statistics
    """One row: the sums over all rows, with the metric's formula."""

    @classmethod
    def of_metrics(cls, sums: _core.ExactSums) -> list[Summed]:
        """Those of each metric."""
        return [cls(sums.rows, unscored, sums.statistics(place)) for place, unscored in enumerate(sums.unscored)]

    @property
    def width(self) -> int:
        """Numbers per row."""
        return self.total.width

    def score(self) -> float:
        """Score of all rows together."""
        return self.total.score()

    def sums(self) -> list[float]:
        """Sums of the columns, over all rows."""
        return self.total.sums()

    def row_scores(self) -> bytes:
        """Nothing."""
        return b""
