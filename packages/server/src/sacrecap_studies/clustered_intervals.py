"""Intervals of 95 % for statistics of answers that are not independent of each other.

Answers to one image are similar, independent of the person and of the number of references, and so are the answers of
one person. So the unit that is drawn, or whose answers are added up first, is the image (or the person), never the
answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sacrecap.judgments.bootstrap import draws

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Interval = tuple[float, float]

LEVEL = 0.95
DRAWS = 1000
_TAIL = (1 - LEVEL) / 2
_SEED = 0
_AT_A_TIME = 200_000
"""Drawn units that are in memory at a time."""


def sums_by_unit(units: Integers, *columns: Floats) -> Floats:
    """(units, columns): the sum of each column over the rows of each unit; units are numbered from 0."""
    size = int(units.max()) + 1 if len(units) else 0
    return np.stack([np.bincount(units, column, minlength=size) for column in columns], axis=1)


def bootstrap(sums: Floats, statistic: Callable[[Floats], Floats], samples: int = DRAWS) -> Interval | None:
    """The percentile interval of a statistic of sums, by drawing units with replacement.

    None with fewer than two units, or where most draws leave the statistic undefined.

    Args:
        sums: (units, columns).
        statistic: of (draws, columns), the sums over the drawn units; NaN if it is undefined.
        samples: how often as many units as there are get drawn.
    """
    count = len(sums)
    if count < 2:
        return None
    times = draws(count, samples, _SEED)
    batch = max(1, _AT_A_TIME // count)
    values = statistic(np.concatenate([times[start : start + batch] @ sums for start in range(0, samples, batch)]))
    values = values[~np.isnan(values)]
    if len(values) < samples / 2:
        return None
    low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
    return float(low), float(high)


def mean_interval(sums: Floats) -> Interval | None:
    """The interval of a mean, from the (units, 2) sums of values and their numbers, by drawing units."""
    return bootstrap(sums, lambda drawn: drawn[:, 0] / np.where(drawn[:, 1] > 0, drawn[:, 1], np.nan))


def share_interval(sums: Floats) -> Interval | None:
    """The interval of a share over few units, such as people.

    From the (units, 2) sums of hits and trials: the spread of the units' residuals, with Student's t for their number.
    With one unit, as if its trials were independent.
    """
    hits, trials = sums.sum(axis=0)
    count = len(sums)
    if not trials:
        return None
    share = hits / trials
    if count < 2:
        return wilson(float(hits), float(trials))
    residuals = sums[:, 0] - share * sums[:, 1]
    error = math.sqrt(float((residuals**2).sum()) * count / (count - 1)) / trials
    # People who all give the very same share do not make it known exactly.
    near = wilson(float(hits), float(trials))
    from scipy.special import stdtrit

    reach = float(stdtrit(count - 1, 1 - _TAIL)) * error
    return min(max(share - reach, 0.0), near[0]), max(min(share + reach, 1.0), near[1])


def wilson(hits: float, trials: float) -> Interval:
    """Wilson's (1927) interval of a share of independent trials."""
    from scipy.special import ndtri  # here: it is a tenth of a server's start

    z = float(ndtri(1 - _TAIL))
    centre = (hits + z * z / 2) / (trials + z * z)
    reach = z / (trials + z * z) * math.sqrt(max(hits * (trials - hits) / trials, 0.0) + z * z / 4)
    # Without hits, or misses, the end is exact; rounding misses it by the last bit.
    return (max(centre - reach, 0.0) if hits else 0.0), (min(centre + reach, 1.0) if hits < trials else 1.0)
