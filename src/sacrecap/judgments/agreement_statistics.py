"""What agreement is told by: accuracy of forced choices, correlation with ratings, and both over systems.

Accuracy is how often a metric prefers the caption that people preferred.

Correlations are Kendall's τ-b and τ-c, Spearman's ρ, Pearson's r; τ-b and ρ within images too. Every rating is a data
point (a caption that three people rated gives three points with one score), unless the ratings of a caption are merged
before. Within an image, captions are ranked by their mean rating, and τ-b and ρ are averaged over the images in which
scores and ratings both differ.

Of systems, it is how often each wins (or how high it is rated) by people and by each metric, and how the two correlate.
Where some of the captions are people's, the systems are compared among themselves, as in figure 4 of the CIDEr paper,
and people stand apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

import numpy as np
import numpy.typing as npt

from sacrecap import _core
from sacrecap.choices import CATEGORIES, RATERS, TIES
from sacrecap.errors import accepted_name
from sacrecap.judgments.bootstrap import Columns, Estimate, Floats, image_numbers, ratio
from sacrecap.judgments.judged_rows import Pairs, Ratings
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.ranks import gaps

ALL = "all"


def categories(pairs: Pairs) -> list[str]:
    """The categories of the pairs in their usual order, then `all`."""
    present = dict.fromkeys(pairs.categories)
    usual = [name for name in CATEGORIES if name in present]
    return [*usual, *(name for name in present if name and name not in usual), ALL]


def credit(difference: Floats, preferred: Floats | Sequence[int], ties: str) -> Floats:
    """The credit: 1 for a right answer, 0 for a wrong one, and for a tie what `ties` says.

    `difference` is how much B is preferred over C, `preferred` the sign of the truth. Raises `UsageError` for unknown
    `ties`.
    """
    accepted_name("ties", ties, TIES)
    right: Floats = (np.sign(difference) == np.asarray(preferred)).astype(np.float64)
    right[difference == 0] = 0.5 if ties == "half" else 0.0
    return right


def preference(columns: Columns) -> Floats:
    """How much a metric prefers B over C: 0, which is a tie, if only rounding tells them apart, or one has no score."""
    return gaps(columns["b"], columns["c"])


def accuracy(credits: Floats, pairs: Pairs, resampling: Resampling) -> dict[str, Estimate]:
    """Mean credit over the decided pairs of each category, and of all."""
    decided = (np.asarray(pairs.preferred) != 0).astype(np.float64)
    return shares(credits * decided, decided, pairs, resampling)


def shares(right: Floats, decided: Floats, pairs: Pairs, resampling: Resampling) -> dict[str, Estimate]:
    """Sum of `right` over sum of `decided`, which have a number for each pair, by category."""
    names = categories(pairs)
    of_category = np.array([[float(name in (category, ALL)) for name in names] for category in pairs.categories])
    images = image_numbers([row.image_id for row in pairs.rows])
    estimates = ratio(right[:, None] * of_category, decided[:, None] * of_category, images, resampling)
    return dict(zip(names, estimates, strict=True))


def counts(pairs: Pairs, ties: npt.NDArray[np.bool_] | bool = True) -> dict[str, int]:
    """Decided pairs by category; of them those on which a metric ties, if `ties` says which these are."""
    decided = (np.asarray(pairs.preferred) != 0) & ties
    of_pairs = pairs.categories
    return {name: int(decided[[name in (of, ALL) for of in of_pairs]].sum()) for name in categories(pairs)}


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
    """Each of `STATISTICS`; `scores`, `ratings` (a sequence per row) and image numbers are aligned. Rows without a
    score, NaN, are left out; without any row everything is undefined.
    """
    scored = np.flatnonzero(~np.isnan(scores))
    if not len(scored):
        return {name: Estimate(math.nan, np.full(resampling.draws, np.nan), 0) for name in STATISTICS}
    scores, images, ratings = scores[scored], images[scored], [ratings[row] for row in scored.tolist()]
    rows = np.repeat(np.arange(len(ratings)), [len(row) for row in ratings])
    points = np.concatenate([np.asarray(row, dtype="<f8") for row in ratings])
    drawn = resampling.draws, resampling.seed, threads
    table = np.frombuffer(
        _core.correlations(_bytes(scores[rows]), _bytes(points), images[rows].astype("<u4").tobytes(), *drawn)
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
    expected = _squares(values) / (len(values) - 1)
    within = math.fsum(len(of_caption) * _squares(of_caption) / (len(of_caption) - 1) for of_caption in paired)
    return 1 - within / len(values) / expected if expected else math.nan


def icc(ratings: Sequence[Sequence[float]]) -> float:
    """The one-way intraclass correlation ICC(1), of single ratings (Shrout and Fleiss 1979); NaN where it is undefined.

    Captions may have different numbers of ratings (the mean number is Donner's).
    """
    total = sum(map(len, ratings))
    if len(ratings) < 2 or total == len(ratings):
        return math.nan
    mean = math.fsum(value for of_caption in ratings for value in of_caption) / total
    within = math.fsum(map(_squares, ratings)) / (total - len(ratings))
    apart = math.fsum(len(values) * (math.fsum(values) / len(values) - mean) ** 2 for values in ratings)
    between = apart / (len(ratings) - 1)
    number = (total - sum(len(of_caption) ** 2 for of_caption in ratings) / total) / (len(ratings) - 1)
    below = between + (number - 1) * within
    return (between - within) / below if below else math.nan


def _squares(values: Sequence[float]) -> float:
    """Squared distances from the mean, summed."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)


LEAST_SYSTEMS = 3
"""Least number of systems for a correlation over systems."""


def is_people(system: str) -> bool:
    """Whether the captions of this name are people's: `human`, also with more after a comma."""
    return system.partition(",")[0].strip().casefold() in ("human", "humans", "people")


def systems_by_people(judgments: Pairs | Ratings, scores: Columns | None = None) -> dict[str, float] | None:
    """Share of wins, or mean rating, of each system, then of people; None if the file names fewer than three. With a
    metric's scores, mean ratings are of the images that its means are of.
    """
    if judgments.systems() is None:
        return None
    values = judgments.preferred if isinstance(judgments, Pairs) else list(map(fmean, judgments.ratings))
    estimates = _of_systems(np.array(values, dtype=float), judgments, scores)
    return estimates if len(estimates) >= LEAST_SYSTEMS else None


def systems_by_metric(judgments: Pairs | Ratings, scores: Columns) -> dict[str, float]:
    """The same by a metric: share of wins, a tie being half a win, or mean score of images without a missing one."""
    values = preference(scores) if isinstance(judgments, Pairs) else scores["caption"]
    return _of_systems(values, judgments, scores)


def over_systems(people: dict[str, float], metric: dict[str, float]) -> dict[str, float]:
    """Correlations over systems, without people; NaN of fewer than three."""
    names = [name for name in people if not math.isnan(metric[name]) and not is_people(name)]
    if len(names) < LEAST_SYSTEMS:
        names = []
    return plain([metric[name] for name in names], [people[name] for name in names])


def _of_systems(values: Floats, judgments: Pairs | Ratings, scores: Columns | None) -> dict[str, float]:
    """Of the systems, then people: the share of wins, by how much B is preferred, over the pairs of two systems that
    people decided, where a system's pairs with people do not count; or the mean value, NaN if there is none.
    """
    systems, figures = judgments.systems() or {}, {}
    if isinstance(judgments, Pairs):
        won: dict[str, list[float]] = {}
        for gap, preferred, *sides in zip(values, judgments.preferred, systems["b"], systems["c"], strict=True):
            if preferred == 0 or sides[0] == sides[1]:
                continue
            has_people = any(map(is_people, sides))
            for name, sign in zip(sides, (1, -1), strict=True):
                if is_people(name) or not has_people:
                    won.setdefault(name, []).append(0.5 if gap == 0 else float(gap * sign > 0))
        figures = {name: sum(of_pairs) / len(of_pairs) for name, of_pairs in won.items()}
    else:
        names, known = np.array(systems["caption"]), ~np.isnan(values)
        if scores is not None:  # images of which a score is missing do not count
            images = np.array([row.image_id for row in judgments.rows])
            known &= ~np.isin(images, images[np.isnan(scores["caption"])])
        for name in set(systems["caption"]):
            numbers = values[(names == name) & known]
            figures[name] = float(numbers.mean()) if len(numbers) else math.nan
    return {name: figures[name] for name in sorted(figures, key=lambda name: (is_people(name), name))}
