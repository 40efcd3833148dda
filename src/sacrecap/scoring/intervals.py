"""Intervals over images, and notes on how to read them.

Their coverage is measured: docs/explanation/intervals.md has the tables.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, Any, TypedDict

from sacrecap import _core
from sacrecap.choices import INTERVAL_METHODS, IntervalMethod
from sacrecap.errors import UsageError, accepted_name, spelled, whole_number
from sacrecap.resources.needs import Given

if TYPE_CHECKING:
    from sacrecap.metrics import Metric

Interval = tuple[float, float]
FEW_IMAGES = 10
"""With fewer images, percentile intervals contain the truth clearly less often than their level says."""
SMALL_CORPUS = 5_000
"""With fewer images, scores that weight words by the corpus itself differ from those on COCO's usual test sets."""


class ResamplingKeywords(TypedDict, total=False):
    """How a call tells its uncertainty, as keywords of `sacrecap.score`, `compare`, `diversity` and `agreement`: each
    changes the field of this name of the call's [`Resampling`][sacrecap.Resampling].
    """

    interval: float | None
    interval_method: IntervalMethod
    samples: int
    seed: int


class Keywords(Given, ResamplingKeywords, total=False):
    """What metrics need, and how a call tells its uncertainty."""


@dataclass(frozen=True)
class Resampling:
    """How a call tells its uncertainty.

    Raises:
        UsageError: an unacceptable level, number of samples, seed or name.

    Examples:
        >>> how = sacrecap.Resampling(interval=0.9, samples=200)
        >>> references, captions = sacrecap.example.references(), sacrecap.example.systems()["careful"]
        >>> sacrecap.score(references, captions, "rouge-l", resampling=how).resampling.interval
        0.9
    """

    interval: float | None = 0.95
    """Confidence level of the intervals over images, or None for none."""
    interval_method: IntervalMethod = "percentile"
    """`percentile`, of bootstrap samples; or `jackknife`, score ± t · standard error, which holds the truth more often
    on fewer than 10 images. Tests do not depend on it.
    """
    samples: int = 1000
    """Number of bootstrap samples; of permutations, where a test draws them."""
    seed: int = 0
    """Seed of everything random; the same seed draws the same samples on any machine."""

    def __post_init__(self) -> None:
        accepted_name("interval method", self.interval_method, INTERVAL_METHODS)
        level: object = self.interval
        if level is not None and (isinstance(level, bool) or not isinstance(level, Real)):
            raise UsageError(f"interval must be a number, got {level!r}")
        if self.interval is not None and not 0 < self.interval < 1:
            raise UsageError(f"interval must be a confidence level between 0 and 1, or none, got {self.interval!r}")
        whole_number("samples", self.samples, 1)
        whole_number("seed", self.seed)

    @classmethod
    def of(cls, resampling: Resampling | None, keywords: Mapping[str, object]) -> tuple[Resampling, dict[str, object]]:
        """That of a call: the fields that it names by keyword, added to those that it gives as one value; and the
        keywords that are left.
        """
        settings: dict[str, Any] = {name: keywords[name] for name in keywords if name in cls.__dataclass_fields__}
        rest = {name: value for name, value in keywords.items() if name not in settings}
        return cls(**settings) if resampling is None else replace(resampling, **settings), rest

    @property
    def draws(self) -> int:
        """Number of samples that intervals take; 0 if there are none."""
        return 0 if self.interval is None else self.samples

    @property
    def signed(self) -> str:
        """How intervals are made, for signatures: method, level, samples and seed, as `percentile(0.95,1000,0)`."""
        drawn = f",{self.samples},{self.seed}" if self.interval_method == "percentile" else ""
        return f"{self.interval_method}({self.interval or 0:.12g}{drawn})"

    def of_test(self, test: str) -> dict[str, str | int]:
        """The entries in JSON about a test: its name, and what it drew if it draws."""
        return {"name": test} if test == "exact" else {"name": test, "samples": self.samples, "seed": self.seed}

    def to_dict(self) -> dict[str, str]:
        """The entries in JSON about how intervals were made: only settings that are not the default."""
        return {} if self.interval_method == "percentile" else {"interval_method": self.interval_method}


def intervals(
    statistics: Sequence[_core.Statistics], metrics: Sequence[Metric], resampling: Resampling, *, threads: int = 0
) -> list[Interval] | list[None]:
    """An interval for the score of each metric, over the rows (images) of its statistics; None each if none is wanted.

    The tables of all metrics are of the same images. Raises `UsageError` for the jackknife of one image.
    """
    level = resampling.interval
    if level is None:
        return [None] * len(metrics)
    if resampling.interval_method == "percentile":
        rows = statistics[0].rows if statistics else 0
        wide = widened(level, rows)
        return _core.bootstrap_intervals(statistics, resampling.samples, wide, resampling.seed, threads)
    return [
        jackknife(rows, level, metric.largest, metric.smallest)
        for rows, metric in zip(statistics, metrics, strict=True)
    ]


def widened(level: float, images: int) -> float:
    """The level between whose percentiles the interval of so many images lies: a little above the level asked for.

    Samples of n images vary by (n - 1) / n of what n images do, and as a normal distribution where few images make it
    Student's. So the percentiles are those of √(n / (n - 1)) · t on the normal scale: Hesterberg's (2015) expanded
    percentile interval.
    """
    if images < 2:
        return level
    reach = student((1 + level) / 2, images - 1) * math.sqrt(images / (images - 1))
    return math.erf(reach / math.sqrt(2))


def opened(
    interval: Interval, value: float, bounds: tuple[float | None, float | None], images: int, level: float
) -> Interval | None:
    """An interval of some width where all images gave one value, of which resampling knows no other.

    Up to a share q of all images may have other values, and none of n show one with a probability of (1 - q)^n, which
    is the tail of the level at q = 1 - tail^(1 / n), about 3.7 / n: the rule of three. These may be as far away as
    scores go. For a mean of images' scores this holds whatever their distribution is (Markov's inequality).

    Another interval than the value alone is returned as it is; without both `bounds`, the smallest and the largest
    figure that there may be, there is none.
    """
    if max(abs(end - value) for end in interval) > 1e-9 * max(1.0, abs(value)):
        return interval
    smallest, largest = bounds
    if smallest is None or largest is None or not images:
        return None
    share = 1 - ((1 - level) / 2) ** (1 / images)
    return value - share * max(value - smallest, 0.0), value + share * max(largest - value, 0.0)


def jackknife(
    statistics: _core.Statistics, level: float, largest: float | None, smallest: float | None = 0.0
) -> Interval:
    """Score ± t · standard error, from the scores without each image; from `smallest` to `largest`, where they are.

    Efron and Tibshirani 1993, chapter 11. Raises `UsageError` for one image, which says nothing of others.
    """
    score = statistics.score()
    most = math.inf if largest is None else max(largest, score)  # SPICE can exceed 1, in rare cases
    least = -math.inf if smallest is None else smallest
    reach = _reach(array("d", statistics.scores_without_each()), level)
    return max(score - reach, least), min(score + reach, most)


def of_best(value: float, interval: Interval, level: float, below: int, above: int) -> Interval:
    """The interval of a score that was chosen because it is the best of several, or of a difference of two such scores.

    Chance flatters the best of N scores. The truth is below all of them in as few cases as the level says if each one's
    lower end is that of a level for N ends (Bonferroni): it moves away from the value as normal quantiles do. The other
    end holds as it is: the best score is above it less often than any score.

    `interval` is that of one attempt; the value is the highest of `below` attempts, and the lowest of `above`.
    """
    tail = (1 - level) / 2
    lower, upper = (_normal(tail / attempts) / _normal(tail) for attempts in (below, above))
    return value - (value - interval[0]) * lower, value + (interval[1] - value) * upper


def jackknife_differences(systems: Sequence[Sequence[_core.Statistics]], level: float) -> list[Interval]:
    """The same for the difference of every two systems, which leaves the same image out of both.

    `systems`: the tables of each system, a table for each metric, all of the same images. Intervals are pair by pair
    (0 and 1, 0 and 2, … 1 and 2, …), metric by metric.
    """
    without = [[array("d", table.scores_without_each()) for table in tables] for tables in systems]
    bounds = []
    for first, second in combinations(range(len(systems)), 2):
        for metric, (first_without, second_without) in enumerate(zip(without[first], without[second], strict=True)):
            delta = systems[first][metric].score() - systems[second][metric].score()
            reach = _reach([a - b for a, b in zip(first_without, second_without, strict=True)], level)
            bounds.append((delta - reach, delta + reach))
    return bounds


def _reach(without: Sequence[float], level: float) -> float:
    """Half the length of the interval of a figure, from its values without each image."""
    count = len(without)
    if count < 2:
        raise UsageError("the interval method jackknife takes two images or more, and here is one; score more images")
    mean = math.fsum(without) / count
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in without) * (count - 1) / count)
    return student((1 + level) / 2, count - 1) * error


def student(share: float, freedom: int) -> float:
    """The quantile of Student's t distribution at `share`, from ½ and below 1, with whole degrees of freedom.

    SciPy has it, and sacrecap does without SciPy. Up to 200 degrees of freedom the distribution is a finite sum, which
    is bisected; above, Cornish and Fisher's expansion is right to 1e-9 (Abramowitz and Stegun 1964, 26.7.3 to 26.7.5).
    """
    if freedom > 200:
        z = _normal(1 - share)
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))
    low, high, odd = 0.0, math.pi / 2, freedom % 2
    for _ in range(80):
        angle = (low + high) / 2
        term = total = math.cos(angle) if odd else 1.0
        for step in range(2 + odd, freedom - 1, 2):
            term *= math.cos(angle) ** 2 * (step - 1) / step
            total += term
        within = math.sin(angle) * total if freedom > 1 else 0.0
        below = (1 + ((angle + within) * 2 / math.pi if odd else within)) / 2  # of less than tan(angle) · √freedom
        low, high = (angle, high) if below < share else (low, angle)
    return math.tan(low) * math.sqrt(freedom)


def _normal(tail: float) -> float:
    """The point beyond which a normal distribution has this tail, up to ½."""
    low, high = 0.0, 40.0
    for _ in range(80):
        point = (low + high) / 2
        low, high = (point, high) if math.erfc(point / math.sqrt(2)) / 2 > tail else (low, point)
    return low


def notes(metrics: Iterable[Metric], resampling: Resampling, *, images: int, own_frequencies: bool) -> list[str]:
    """Notes that a reader of the scores and intervals needs, one sentence each; `own_frequencies`: whether words were
    weighed by the corpus itself, not by document frequencies from elsewhere.
    """
    parts = list(dict.fromkeys(part for metric in metrics for part in metric.parts))
    notes = []
    level = resampling.interval
    if level is not None and images < FEW_IMAGES and resampling.interval_method == "percentile":
        what = "1 image" if images == 1 else f"{images} images"
        jackknife = spelled(python='interval_method="jackknife"', command="--interval jackknife")
        notes.append(f"Intervals of {what} are too narrow: below {FEW_IMAGES} images take {jackknife}, or more images.")
    weighing = [part for part in parts if part.uses_document_frequency]
    if own_frequencies and weighing and 1 < images < SMALL_CORPUS:
        beyond = "" if level is None else ", often below its interval"
        from sacrecap.metrics.cider import proposed

        notes.append(
            f"{', '.join(part.label for part in weighing)}: words are weighed by these {images:,} images. On more "
            f"images the score falls{beyond}; to compare with other sets, take {proposed(weighing)}."
        )
    learning = [part.label for part in parts if part.trained_on_references and part.rises_with_references]
    if level is not None and learning:
        notes.append(
            f"{', '.join(learning)}: learns from these references and rises with their number; its interval is too "
            "narrow."
        )
    return notes
