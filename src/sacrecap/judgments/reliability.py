"""How far raters agree: Krippendorff's α and the intraclass correlation of ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence


def alpha(ratings: Sequence[Sequence[float]]) -> float:
    """Krippendorff's α for intervals (2011), of the ratings of each caption; NaN where nothing varies.

    Who rated is not asked for, and captions may have different numbers of ratings; those with one say nothing.
    """
    paired = [values for values in ratings if len(values) > 1]
    values = [value for of_caption in paired for value in of_caption]
    if not values:
        return math.nan
    mean = math.fsum(values) / len(values)
    expected = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    observed = math.fsum(len(of_caption) * _squares(of_caption) / (len(of_caption) - 1) for of_caption in paired) / len(
        values
    )
    return 1 - observed / expected if expected else math.nan


def icc(ratings: Sequence[Sequence[float]]) -> float:
    """The one-way intraclass correlation ICC(1), of single ratings (Shrout and Fleiss 1979); NaN where it is undefined.

    Captions may have different numbers of ratings (the mean number is Donner's).
    """
    total = sum(map(len, ratings))
    if len(ratings) < 2 or total == len(ratings):
        return math.nan
    mean = math.fsum(value for of_caption in ratings for value in of_caption) / total
    within = math.fsum(map(_squares, ratings)) / (total - len(ratings))
    between = math.fsum(
        len(of_caption) * (math.fsum(of_caption) / len(of_caption) - mean) ** 2 for of_caption in ratings
    ) / (len(ratings) - 1)
    number = (total - sum(len(of_caption) ** 2 for of_caption in ratings) / total) / (len(ratings) - 1)
    below = between + (number - 1) * within
    return (between - within) / below if below else math.nan


def _squares(values: Sequence[float]) -> float:
    """Squared distances from the mean, summed."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)
