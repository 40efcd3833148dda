"""Correlation of scores with ratings: Kendall's τ-b and τ-c, Spearman's ρ, Pearson's r; τ-b and ρ within images too.

Every rating is a data point (a caption that three people rated gives three points with one score), unless the ratings
of a caption are merged before. Within an image, captions are ranked by their mean rating, and τ-b and ρ are averaged
over the images in which scores and ratings both differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np

from sacrecap import _core
from sacrecap.choices import RATERS
from sacrecap.errors import accepted_name
from sacrecap.judgments.bootstrap import Estimate, ratio

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.judgments.bootstrap import Floats
    from sacrecap.scoring.intervals import Resampling


IN_IMAGE = "in_image."
"""Begins the names of the statistics within images."""
_WITHIN = ("kendall_b", "spearman")
STATISTICS = (*_core.CORRELATIONS, *(IN_IMAGE + name for name in _WITHIN))

LABELS = {
    "kendall_b": "Kendall τ-b",
    "kendall_c": "Kendall τ-c",
    "spearman": "Spearman ρ",
    "pearson": "Pearson r",
    "in_image.kendall_b": "τ-b in an image",
    "in_image.spearman": "ρ in an image",
}


def merged(ratings: Sequence[Sequence[float]], raters: str) -> list[tuple[float, ...]]:
    """The data points of each row: each rating, or only their mean or median. Raises `UsageError` for others."""
    accepted_name("raters", raters, RATERS)
    if raters == "each":
        return [tuple(values) for values in ratings]
    merge = fmean if raters == "mean" else median
    return [(merge(values),) for values in ratings]


def correlate(
    scores: Floats,
    ratings: Sequence[Sequence[float]],
    images: npt.NDArray[np.uint32],
    resampling: Resampling,
    threads: int = 0,
) -> dict[str, Estimate]:
    """Each of `STATISTICS`; `scores`, `ratings` (a sequence per row) and image numbers are aligned.

    Rows without a score, NaN, are left out; without any row everything is undefined.
    """
    scored = np.flatnonzero(~np.isnan(scores))
    if len(scored) < len(scores):
        if not len(scored):
            return {name: Estimate(math.nan, np.full(resampling.draws, np.nan), 0) for name in STATISTICS}
        scored_ratings = [ratings[row] for row in scored.tolist()]
        return correlate(scores[scored], scored_ratings, images[scored], resampling, threads)
    rows = np.repeat(np.arange(len(ratings)), [len(row) for row in ratings])
    points = np.concatenate([np.asarray(row, dtype="<f8") for row in ratings])
    table = np.frombuffer(
        _core.correlations(
            _bytes(scores[rows]),
            _bytes(points),
            images[rows].astype("<u4").tobytes(),
            resampling.draws,
            resampling.seed,
            threads,
        )
    ).reshape(-1, len(_core.CORRELATIONS))
    judged = len(np.unique(images))
    estimates = {
        name: Estimate(float(column[0]), column[1:], judged)
        for name, column in zip(_core.CORRELATIONS, table.T, strict=True)
    }
    correlations = _core.correlations_by_image(_bytes(scores), _bytes(list(map(fmean, ratings))), images.tobytes())
    by_image = np.frombuffer(correlations).reshape(-1, len(_core.CORRELATIONS))
    by_image = by_image[:, [_core.CORRELATIONS.index(name) for name in _WITHIN]]
    defined = np.isfinite(by_image)
    numbers = np.arange(len(by_image), dtype="<u4")
    means = ratio(np.where(defined, by_image, 0.0), defined.astype(float), numbers, resampling, least=-1.0)
    return estimates | {IN_IMAGE + name: mean for name, mean in zip(_WITHIN, means, strict=True)}


def plain(scores: Floats | Sequence[float], values: Floats | Sequence[float]) -> dict[str, float]:
    """τ-b, τ-c, ρ and r of independent points, without samples."""
    numbers = np.arange(len(scores), dtype="<u4").tobytes()
    statistics = np.frombuffer(_core.correlations(_bytes(scores), _bytes(values), numbers, 0, 0))
    return dict(zip(_core.CORRELATIONS, statistics.tolist(), strict=True))


def _bytes(values: Floats | Sequence[float]) -> bytes:
    return np.ascontiguousarray(values, dtype="<f8").tobytes()


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
