"""Which of two metrics agrees better with people: paired tests on the same judgments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sacrecap.errors import MissingDependencyError
from sacrecap.judgments.bootstrap import Estimate, p_value


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


def compare(a: str, b: str, statistic: str, estimates: Sequence[Estimate], level: float | None) -> MetricPair:
    """The paired bootstrap: both estimates are of the same samples."""
    difference = estimates[0] - estimates[1]
    return MetricPair(a, b, statistic, difference.value, difference.interval(level), p_value(difference))


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
