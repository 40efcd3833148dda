"""Figures that people would give, and how they are told: intervals, what ratings are worth, plans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sacrecap.judgments.calibration.adjusted import Evidence, error, influence, reach
from sacrecap.judgments.calibration.calibration_result import Calibrated, Planned
from sacrecap.scoring.intervals import Interval, opened

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.judgments.calibration.samples import RatedSample

    Floats = npt.NDArray[np.float64]

PLANNED = (20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000)
"""Numbers of rated captions in a plan."""


@dataclass(frozen=True, eq=False)
class AdjustedFigure:
    """A figure and what each image pulls at it, from the ratings as they are and from the adjusted ones."""

    values: tuple[float, float]
    pulls: tuple[Floats, Floats]
    n: int
    """Rated captions."""
    seen: npt.NDArray[np.bool_]
    """Which images have a rated caption."""
    captions: float
    """All captions."""

    @property
    def images(self) -> int:
        """Number of images with a rated caption."""
        return int(self.seen.sum())

    @classmethod
    def mean(cls, parts: Sequence[AdjustedFigure], weights: Sequence[float]) -> AdjustedFigure:
        """The weighted sum of figures of the same images."""
        shares = np.asarray(weights, dtype=np.float64)
        alone, adjusted = (shares @ [part.values[k] for part in parts] for k in (0, 1))
        pulls = (shares @ [part.pulls[0] for part in parts], shares @ [part.pulls[1] for part in parts])
        return cls(
            (float(alone), float(adjusted)),
            pulls,
            sum(part.n for part in parts),
            np.any([part.seen for part in parts], axis=0),
            sum(part.captions for part in parts),
        )

    def errors(self) -> tuple[float, float]:
        """Standard errors of the ratings alone, and of the calibrated figure."""
        return error(self.pulls[0], self.images), error(self.pulls[1], self.images)


class Teller(NamedTuple):
    """Makes calibrated figures of a sample: their intervals at a level."""

    rated: Evidence
    level: float

    def told(self, figure: AdjustedFigure, bounds: tuple[float | None, float | None] | None = None) -> Calibrated:
        alone, own = figure.errors()
        limits = bounds or (None, None)
        freedom = min(figure.images - 1, self.rated.freedom) if self.rated.weighs else figure.images - 1
        least = 1e-9 * max(1.0, abs(figure.values[0]))  # below, it is rounding
        ratio = 1.0 if alone <= least else math.inf if own <= least else (alone / own) ** 2
        return Calibrated(
            figure.values[1],
            self._interval(figure.values[1], reach(self.level, freedom, own), limits, figure.images),
            figure.n,
            min(figure.n * ratio, max(figure.captions, figure.n)),
            figure.images,
            figure.values[0],
            self._interval(figure.values[0], reach(self.level, figure.images - 1, alone), limits, figure.images),
        )

    def _interval(
        self, value: float, half: float, bounds: tuple[float | None, float | None], images: int
    ) -> Interval | None:
        return opened((value - half, value + half), value, bounds, images, self.level)

    def planned(self, figure: AdjustedFigure) -> list[Planned]:
        """The lengths of the interval at other numbers of rated captions."""
        alone, own = figure.errors()
        per_image = figure.n / figure.images
        spent = figure.images - 1 - self.rated.freedom if self.rated.weighs else 0
        found = []
        for n in PLANNED:
            if n > figure.captions:
                break
            images = int(n / per_image)
            shrink = math.sqrt(figure.n / n)
            halves = (
                reach(self.level, images - 1, alone * shrink),
                reach(self.level, images - 1 - spent, own * shrink),
            )
            found.append(Planned(n, halves[0], halves[1] if images - 1 - spent > 0 else halves[0]))
        return found


def figures_of(sample: RatedSample) -> list[AdjustedFigure]:
    """The mean of each group."""
    rated, adjusted = sample.rated, sample.rated.adjusted()
    images = np.unique(rated.images, return_inverse=True)[1]
    number = int(images.max()) + 1
    figures = []
    for group, size in enumerate(sample.sizes):
        own = rated.groups == group
        parts = [
            influence(values[own], images[own], number, rated.weights[own]) for values in (rated.ratings, adjusted)
        ]
        (alone, pulls), (mean, adjusted_pulls) = parts
        seen = np.bincount(images[own], minlength=number) > 0
        figures.append(AdjustedFigure((alone, mean), (pulls, adjusted_pulls), int(own.sum()), seen, float(size)))
    return figures
