"""How figures that people would give are told: intervals within their scale, what ratings are worth, plans."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sacrecap.judgments.calibration.calibration_result import Calibrated, Planned
from sacrecap.judgments.calibration.estimates import SPARE, Estimates, Evidence, Figure
from sacrecap.judgments.calibration.strengths import bradley_terry
from sacrecap.scoring.intervals import Interval, opened, student

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.judgments.calibration.estimates import Floats

    Chosen = npt.NDArray[np.bool_]

PLANNED = (20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000)
"""Numbers of rated captions in a plan."""
MOST_SKEWED = 0.3
"""The share of half its length by which an interval is moved, at most, to where ratings are skewed."""
Bounds = tuple[float | None, float | None]
NO_BOUNDS: Bounds = (None, None)


@dataclass
class Teller:
    """Makes calibrated figures of what was rated, at a level: each from the ratings alone, and with the witnesses."""

    rated: Evidence
    level: float
    shares: bool
    """Whether figures are shares, of choices or of yes: from 0 to 1, which they reach where all agree."""
    sides: list[Estimates] = field(init=False)

    def __post_init__(self) -> None:
        alone = Estimates(self.rated, self.rated.ratings)
        self.sides = [alone, Estimates(self.rated, self.rated.adjusted()) if self.rated.weighs else alone]

    def mean(self, parts: Floats, bounds: Bounds) -> Calibrated:
        """The sum of the groups' means, each times its part."""
        return self._told([side.mean(parts) for side in self.sides], parts != 0, bounds, is_difference=not parts.sum())

    def together(self, parts: Floats, bounds: Bounds) -> Calibrated:
        """The same of groups that are too few to have a variance each: one of all."""
        groups, figures = self.rated.groups, []
        for side in self.sides:
            value = float(parts @ side.means)
            expected, weights = np.full(len(groups), value), parts[groups] * side.shares
            figures.append(side.fitted(value, expected, weights, parts != 0, 1))
        return self._told(figures, parts != 0, bounds)

    def strengths(self, pairs: npt.NDArray[np.int64], systems: int) -> list[Calibrated] | None:
        """θ of Bradley and Terry (1952) of each system, by the shares that the first of each pair, shape (groups, 2),
        wins of all its games; None where no finite θ fits.
        """
        first, other = pairs.T
        sizes = np.where(self.rated.counts > 0, self.rated.sizes, 0.0)
        sides: list[list[Figure]] = []
        everything = self.rated.counts > 0
        for side in self.sides:
            won = np.zeros((systems, systems))
            np.add.at(won, (first, other), sizes * side.means)
            np.add.at(won, (other, first), sizes * (1 - side.means))
            solved = bradley_terry(won)
            if solved is None:
                return None
            theta, inverse = solved
            expected = (1 / (1 + np.exp(theta[other] - theta[first])))[self.rated.groups]
            moved = ((inverse[:, first] - inverse[:, other]) * sizes)[:, self.rated.groups] * side.shares
            figure = [
                side.fitted(float(value), expected, weights, everything, systems - 1)
                for value, weights in zip(theta, moved, strict=True)
            ]
            sides.append(figure)
        return [
            self._told(list(both), everything & (pairs == system).any(axis=1), NO_BOUNDS)
            for system, both in enumerate(zip(*sides, strict=True))
        ]

    def _told(
        self, figures: list[Figure], of_groups: Chosen, bounds: Bounds, *, is_difference: bool = False
    ) -> Calibrated:
        rated = of_groups[self.rated.groups]
        n, captions = int(rated.sum()), float(self.rated.sizes[of_groups].sum())
        images = len(np.unique(self.rated.images[rated]))
        alone, with_ratings = figures
        values = [self._within(figure.value, bounds) for figure in figures]
        tiny = [figure.variance <= (1e-9 * max(1.0, abs(figure.value))) ** 2 for figure in figures]
        is_whole = self.rated.is_finite and n >= captions
        # Where all agree, what one may be wrong by is known exactly; and where all are rated, nothing is to be guessed.
        if is_whole or (self.shares and bounds[0] is not None and tiny[0]):
            with_ratings, values[1], tiny[1] = alone, values[0], True
        intervals = [
            (value, value)
            if is_whole
            else opened((value, value), value, bounds, images, self.level)
            if empty
            else self._interval(value, figure, bounds, values[0], is_difference)
            for value, figure, empty in zip(values, (alone, with_ratings), tiny, strict=True)
        ]
        ratio = 1.0 if tiny[0] or is_whole else math.inf if tiny[1] else alone.variance / with_ratings.variance
        return Calibrated(
            values[1], intervals[1], n, min(n * ratio, max(captions, n)), images, values[0], intervals[0],
        )  # fmt: skip

    @staticmethod
    def _within(value: float, bounds: Bounds) -> float:
        least, most = bounds
        return min(max(value, -math.inf if least is None else least), math.inf if most is None else most)

    def _interval(self, value: float, figure: Figure, bounds: Bounds, alone: float, is_difference: bool) -> Interval:
        half = reach(self.level, figure)
        least, most = bounds
        if least is not None and most is not None and not is_difference:
            scale = most - least
            spread = max((mean - least) * (most - mean) for mean in (value, alone)) / scale**2
            low, high = wilson((value - least) / scale, figure.variance / scale**2, half / scale, spread)
            return least + scale * low, least + scale * high
        # Where the mean lies if ratings are skewed (Johnson, JASA 1978). Of a difference two skews all but cancel, and
        # what few ratings say of the rest is too uncertain to shorten an interval by it.
        skew = figure.skew / figure.variance * (1 + 2 * (half * half / figure.variance)) / 6
        skew = min(max(skew, -MOST_SKEWED * half), MOST_SKEWED * half)
        below, above = (min(skew, 0.0), max(skew, 0.0)) if is_difference else (skew, skew)
        return self._within(value + below - half, bounds), self._within(value + above + half, bounds)

    def planned(self, parts: Floats) -> list[Planned]:
        """Half the length of the interval of a mean at other numbers of rated captions, drawn as these were."""
        captions, now = float(self.rated.sizes.sum()), float(len(self.rated.ratings))
        alone, own = (side.mean(parts) for side in self.sides)
        least = len(self.rated.sizes) + self.rated.told + SPARE
        beyond = 1 / captions if self.rated.is_finite else 0.0
        left = 1 / now - beyond
        figures = []
        for n in [n for n in PLANNED if n < captions] + [int(captions)]:
            factor = (1 / n - beyond) / left if left > 0 else 0.0
            halves = [
                reach(self.level, Figure(0.0, estimate.variance * factor, max(1.0, estimate.freedom * n / now)))
                for estimate in (alone, own)
            ]
            figures.append(Planned(n, halves[0], halves[1] if n >= least else halves[0]))
        return figures


def reach(level: float, figure: Figure) -> float:
    """Half the length of the interval; Student's quantile is between those of whole degrees of freedom."""
    below = max(1, math.floor(figure.freedom))
    part = (1 / below - 1 / max(figure.freedom, 1.0)) * below * (below + 1)
    share = (1 + level) / 2
    quantile = (1 - part) * student(share, below) + part * student(share, below + 1)
    return quantile * math.sqrt(figure.variance)


def wilson(share: float, variance: float, half: float, spread: float) -> Interval:
    """Wilson's interval (JASA 1927) of a share, or of a mean on a scale from 0 to 1: of as many choices as would have
    this variance, where one choice has the `spread`; `half` is the half length of Student's.
    """
    many = max(spread, 1e-12) / variance
    t = half / math.sqrt(variance)
    middle = (share + t * t / (2 * many)) / (1 + t * t / many)
    wide = t / (1 + t * t / many) * math.sqrt(variance + t * t / (4 * many * many))
    return max(0.0, middle - wide), min(1.0, middle + wide)
