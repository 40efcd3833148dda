"""Estimates with the bootstrap over images: an image is drawn with all its judgments.

Judgments of one image share its references, so they are not independent draws; images are. All statistics of a call
use the same draws, so the difference of two metrics is resampled pairwise at no extra cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sacrecap import _core
from sacrecap.errors import MissingDependencyError
from sacrecap.scoring.intervals import Resampling, opened, widened

Floats: TypeAlias = npt.NDArray[np.float64]
Columns: TypeAlias = dict[str, Floats]
"""Scores by column of candidates."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic, and its values in the bootstrap samples, shape (samples,); NaN if it is undefined."""

    value: float
    samples: Floats = field(repr=False)
    images: int
    """How many were judged."""
    bounds: tuple[float, float] | None = None
    """The smallest and the largest value, of a mean of images' values."""

    def interval(self, level: float | None) -> tuple[float, float] | None:
        """The interval; None if none was asked for or no sample has a value."""
        defined = self.samples[np.isfinite(self.samples)]
        if level is None or not len(defined):
            return None
        wide = widened(level, self.images)
        low, high = np.quantile(defined, [(1 - wide) / 2, (1 + wide) / 2])
        bounds = float(low), float(high)
        return opened(bounds, self.value, self.bounds, self.images, level) if self.bounds else bounds

    def __sub__(self, other: Estimate) -> Estimate:
        return Estimate(self.value - other.value, self.samples - other.samples, min(self.images, other.images))

    @classmethod
    def means(cls, parts: Sequence[Mapping[str, Estimate]]) -> dict[str, Estimate]:
        """The mean of each statistic, of estimates of the same samples."""
        return {
            name: cls(
                float(np.mean([part[name].value for part in parts])),
                np.mean([part[name].samples for part in parts], axis=0),
                first.images,
                first.bounds,
            )
            for name, first in parts[0].items()
        }


def p_value(difference: Estimate) -> float | None:
    """Two-sided p of no difference: twice the share of samples on the far side of 0, counting the data as one."""
    defined = difference.samples[np.isfinite(difference.samples)]
    if not len(defined):
        return None
    beyond = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * (beyond + 1) / (len(defined) + 1))


def image_numbers(image_ids: Sequence[str]) -> npt.NDArray[np.uint32]:
    """The images numbered in the order they appear."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(image, len(numbers)) for image in image_ids], dtype="<u4")


def draws(count: int, samples: int, seed: int) -> npt.NDArray[np.uint16]:
    """(samples, count): how often each of so many images, or other units, is drawn in each sample."""
    return np.frombuffer(_core.draws(count, samples, seed), dtype="<u2").reshape(samples, count)


def ratio(
    shares: Floats, counted: Floats, images: npt.NDArray[np.uint32], resampling: Resampling, least: float = 0.0
) -> list[Estimate]:
    """Sum of `shares`, each from `least` to 1, over sum of `counted`, both of shape (rows, columns): an estimate per
    column.
    """
    count = int(images.max()) + 1
    sums = np.zeros((2, count, shares.shape[1]))
    np.add.at(sums[0], images, shares)
    np.add.at(sums[1], images, counted)
    weights = np.vstack([np.ones(count), draws(count, resampling.draws, resampling.seed)])
    top, bottom = weights @ sums[0], weights @ sums[1]
    values = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)
    judged = (sums[1] > 0).sum(axis=0).tolist()
    return [
        Estimate(float(column[0]), column[1:], count, (least, 1.0))
        for column, count in zip(values.T, judged, strict=True)
    ]


@dataclass(frozen=True)
class Williams:
    """Williams' test of two correlations that share a variable."""

    t: float
    p: float
    """Two-sided."""
    n: int


@dataclass(frozen=True)
class MetricPair:
    """One statistic of two metrics: their difference, its bootstrap interval and p."""

    a: str
    b: str
    statistic: str
    delta: float
    """The statistic of `a` minus that of `b`."""
    interval: tuple[float, float] | None
    p: float | None
    williams: Williams | None = None


def williams(with_a: float, with_b: float, between: float, n: int) -> Williams | None:
    """Williams' test (1959; Steiger 1980, eq. 7) of whether r(people, a) differs from r(people, b).

    `with_a`, `with_b`: correlations of people with both metrics over `n` independent judgments; `between`: that of the
    metrics. None if it is undefined (fewer than 4 judgments, or metrics that are the same).

    Raises `MissingDependencyError` without SciPy, which provides Student's distribution.
    """
    try:
        from scipy.special import stdtr
    except ImportError:
        raise MissingDependencyError("Williams' test", extra="study") from None
    if n < 4 or not all(map(math.isfinite, (with_a, with_b, between))):
        return None
    determinant = 1 - with_a**2 - with_b**2 - between**2 + 2 * with_a * with_b * between
    mean = (with_a + with_b) / 2
    spread = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    if 1 - between < 1e-12 or spread <= 0:
        return None
    t = (with_a - with_b) * math.sqrt((n - 1) * (1 + between) / spread)
    return Williams(t, float(2 * stdtr(n - 3, -abs(t))), n)
