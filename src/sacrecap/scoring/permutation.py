"""p of the paired permutation test without drawing permutations: it can be below 1/(n + 1), the limit of n samples.

If two systems are equally good, it does not matter which of them wrote which of an image's two captions: each swap of
the two has probability ½. A score is a formula of the sums of rows, and the mean of the two systems' sums is the same
after any swap. So the formula's slopes at that mean are the same too, and the sum over images of

    d = slopes · (row of one system - row of the other)

is a statistic whose distribution under swaps is that of a sum of ±d. Its test holds its level whatever the formula is.
For a metric that is a mean of images' scores, the sum is the difference of the scores itself; for others (BLEU, METEOR)
it is that difference to the first order.

The tail of a sum of ±d is counted where there are few images, and otherwise Lugannani and Rice's saddle-point
approximation (1980), with Daniels's correction (1987) where the sums are whole multiples of a step.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap import _core

    Floats = npt.NDArray[np.float64]

_COUNTED = 30
"""With so many images that differ, all 2**30 ways to swap them are counted, as pairs of 2**15 for either half."""
_ROUNDING = 1e-10
"""Share of a sum that rounding alone can make."""
_STEP = 1e-6
"""Slopes are those of a line over this share of a sum, on either side."""


def permutation_p(one: _core.Statistics, other: _core.Statistics) -> float:
    """The p of the two-sided paired permutation test of two systems by one metric, above 0 and at most 1.

    Args:
        one: the statistics of the first system, a row per image.
        other: those of the second, by the same metric, of the same images in the same order.

    1 if a score is not a number, or where the formula has no slope.
    """
    return sign_flip_p(linear_differences(one, other))


def linear_differences(one: _core.Statistics, other: _core.Statistics) -> Floats:
    """What each image adds to the difference of the two scores, to the first order about the mean of the two systems.

    One float64 per image. All 0 if the slopes are no numbers.
    """
    rows, others = _rows(one), _rows(other)
    middle = (rows.sum(0) + others.sum(0)) / 2
    steps = np.maximum(np.abs(middle), 1.0) * _STEP
    slopes = np.array(
        [
            (one.formula((middle + side).tolist()) - one.formula((middle - side).tolist())) / (2 * step)
            for step, side in zip(steps, np.diag(steps), strict=True)
        ]
    )
    differences = (rows - others) @ slopes
    return differences if np.isfinite(differences).all() else np.zeros(len(rows))


def _rows(statistics: _core.Statistics) -> Floats:
    return np.frombuffer(statistics.values()).reshape(statistics.rows, statistics.width)


def sign_flip_p(differences: Floats) -> float:
    """The probability that a sum of these differences with random signs is as far from 0 as their own sum.

    Above 0 and at most 1. 1 if all are 0, and where some are no numbers.
    """
    sizes = np.abs(np.asarray(differences, dtype=np.float64))
    if not np.isfinite(sizes).all():
        return 1.0
    total = float(sizes.sum())
    observed = abs(math.fsum(differences))
    sizes = sizes[sizes > _ROUNDING * total / max(1, len(sizes))]
    if observed <= _ROUNDING * total:
        return 1.0
    least = 2.0 ** (1 - min(len(sizes), 1000))
    if len(sizes) <= _COUNTED:
        return _counted(sizes, observed * (1 - _ROUNDING))
    if observed >= total * (1 - _ROUNDING):
        return least
    return min(1.0, max(least, 2 * _tail(sizes / sizes.max(), observed / float(sizes.max()))))


def _counted(sizes: Floats, observed: float) -> float:
    """The share of all signs that give a sum of at least this size, above 0."""
    some, others = (_all_sums(sizes[start::2]) for start in (0, 1))
    others.sort()
    below = np.searchsorted(others, observed - some)
    return min(1.0, 2 * float(np.sum(len(others) - below)) / 2.0 ** len(sizes))


def _all_sums(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums + size, sums - size))
    return sums


def _tail(sizes: Floats, observed: float) -> float:
    """The probability of a sum of ±sizes of `observed` or more, by the saddle point.

    The sum's cumulants come from K(t) = Σ log cosh(t·size), and t is where K'(t) = observed.
    """
    t = _saddle_point(sizes, observed)
    turned = t * sizes
    cumulants = float(np.sum(turned + np.log1p(np.exp(-2 * turned)) - math.log(2)))
    variance = float(np.sum((sizes / np.cosh(np.minimum(turned, 300))) ** 2))
    w = math.sqrt(max(0.0, 2 * (t * observed - cumulants)))
    step = _step(sizes)
    u = (t if step == 0 else -math.expm1(-t * step) / step) * math.sqrt(variance)
    if w < 1e-3 or u == 0:
        return _normal_tail(observed / math.sqrt(float(np.sum(sizes**2))))
    return _normal_tail(w) + math.exp(-w * w / 2) / math.sqrt(2 * math.pi) * (1 / u - 1 / w)


def _saddle_point(sizes: Floats, observed: float) -> float:
    """The t with Σ size · tanh(t · size) = observed."""
    t = observed / float(sizes @ sizes)
    # The sum is concave in t, and t begins to the left: Newton's steps come from the left and never pass it.
    for _ in range(200):
        tanh = np.tanh(t * sizes)
        step = (observed - float(sizes @ tanh)) / float(sizes**2 @ (1 - tanh**2))
        t += step
        if step <= 1e-12 * t:
            break
    return t


def _step(sizes: Floats) -> float:
    """The distance between the sums that are possible; 0 if the sizes are no multiples of one size."""
    least = float(sizes.min())
    multiples = sizes / least
    return 2 * least if float(np.abs(multiples - np.round(multiples)).max()) < 1e-6 else 0.0


def _normal_tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2
