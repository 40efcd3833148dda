"""Statistics that were added up part by part: what is left of rows that nobody keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sacrecap import _core


@dataclass(frozen=True, eq=False)
class Folded:
    """The sums of one metric's statistics over many images, with the rows of a sample of them.

    It stands where [`Statistics`][sacrecap._core.Statistics] of all images would: scores, coverage and notes are of all
    images, `row_scores` of the sample.
    """

    rows: int
    """Number of images."""
    unscored: int
    """Number of images without a score."""
    total: _core.Statistics
    """One row: the sums over all images, with the metric's formula."""
    sample: _core.Statistics
    """Rows of the sample."""

    @property
    def width(self) -> int:
        """Numbers per row."""
        return self.total.width

    def score(self) -> float:
        """Score of all images together."""
        return self.total.score()

    def sums(self) -> list[float]:
        """Sums of the columns, over all images."""
        return self.total.sums()

    def select(self, rows: Sequence[int]) -> _core.Statistics:
        """The rows of the sample with these numbers."""
        return self.sample.select(rows)

    def row_scores(self) -> bytes:
        """Score of each image of the sample, as little-endian float64."""
        return self.sample.row_scores()
