"""Intervals over images, and notes on how to read them.

Their coverage is measured: docs/explanation/intervals.md has the tables, benchmarks/coverage.py makes them.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.choices import BOOTSTRAPS, INTERVAL_METHODS, Bootstrap, IntervalMethod
from sacrecap.errors import UsageError, accepted_name, as_number, option, whole_number

if TYPE_CHECKING:
    from sacrecap.metrics import Metric

Interval = tuple[float, float]
FEW_IMAGES = 30
"""With fewer images, percentile intervals contain the truth clearly less often than their level says."""
SMALL_CORPUS = 5_000
"""With fewer images, scores that weight words by the corpus itself differ from those on COCO's usual test sets."""


@dataclass(frozen=True)
class Resampling:
    """How a call tells its uncertainty.

    Args:
        level: confidence level of the intervals over images, or None for none.
        method: how intervals are made: `percentile` or `jackknife`.
        bootstrap: how a sample is drawn: `multinomial` or `poisson`.
        samples: number of bootstrap samples.
        seed: seed of the bootstrap.

    Raises:
        UsageError: an unacceptable level, number of samples, seed or name.
    """

    level: float | None = 0.95
    method: IntervalMethod = "percentile"
    bootstrap: Bootstrap = "multinomial"
    samples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        accepted_name("interval method", self.method, INTERVAL_METHODS)
        accepted_name("bootstrap", self.bootstrap, BOOTSTRAPS)
        if self.level is not None and not 0 < as_number("interval", self.level) < 1:
            raise UsageError(f"interval must be a confidence level between 0 and 1, or none, got {self.level!r}")
        whole_number("samples", self.samples, 1)
        whole_number("seed", self.seed)

    @classmethod
    def of(
        cls,
        level: float | None,
        method: IntervalMethod,
        bootstrap: Bootstrap | None,
        samples: int,
        seed: int,
        *,
        engine: str,
    ) -> Resampling:
        """That of a call on this engine, whose usual bootstrap it takes if the call names none."""
        return cls(level, method, bootstrap or ("multinomial" if engine == "local" else "poisson"), samples, seed)


def ids_for(bootstrap: str, image_ids: Sequence[str]) -> Sequence[str] | None:
    """The ids that the draws of the Poisson bootstrap depend on; None for the multinomial one, which needs none."""
    return image_ids if bootstrap == "poisson" else None


def intervals(
    statistics: Sequence[_core.Statistics],
    metrics: Sequence[Metric],
    *,
    level: float,
    ids: Sequence[str] | None = None,
    method: str = "percentile",
    samples: int = 1000,
    seed: int = 0,
    threads: int = 0,
) -> list[Interval]:
    """An interval for the score of each metric, over the rows (images) of its statistics.

    Args:
        statistics: a table for each metric, all of the same images.
        metrics: whose tables they are; their ranges bound the intervals.
        level: confidence level, above 0 and below 1.
        ids: of the images, for the Poisson bootstrap: see `ids_for`.
        method: `percentile`, of bootstrap samples; or `jackknife`, score ± Student's t · standard error of the
            jackknife, which draws nothing.
        samples: number of bootstrap samples.
        seed: seed of the bootstrap.
        threads: number of threads; 0 means one per core.

    Raises:
        UsageError: an unknown method, tables of different lengths, or the jackknife of one image.
    """
    accepted_name("interval method", method, INTERVAL_METHODS)
    if method == "percentile":
        return _core.bootstrap_intervals(statistics, samples, level, seed, threads, ids)
    return [
        jackknife(rows, level, metric.largest, metric.smallest)
        for rows, metric in zip(statistics, metrics, strict=True)
    ]


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


def jackknife_differences(systems: Sequence[Sequence[_core.Statistics]], level: float) -> list[Interval]:
    """The same for the difference of every two systems, which leaves the same image out of both.

    `systems`: the tables of each system, a table for each metric, all of the same images. Intervals are pair by pair
    (0 and 1, 0 and 2, … 1 and 2, …), metric by metric.
    """
    without = [[array("d", one.scores_without_each()) for one in tables] for tables in systems]
    found = []
    for first, second in combinations(range(len(systems)), 2):
        for metric, (one, other) in enumerate(zip(without[first], without[second], strict=True)):
            delta = systems[first][metric].score() - systems[second][metric].score()
            reach = _reach([a - b for a, b in zip(one, other, strict=True)], level)
            found.append((delta - reach, delta + reach))
    return found


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
        from statistics import NormalDist

        z = NormalDist().inv_cdf(share)
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_below(middle, freedom) < share else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


def _student_below(angle: float, freedom: int) -> float:
    """The probability of less than tan(angle) · √freedom."""
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for step in range(2 + odd, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (step - 1) / step
        total += term
    if odd:
        within = (angle + (math.sin(angle) * total if freedom > 1 else 0.0)) * 2 / math.pi
    else:
        within = math.sin(angle) * total
    return (1 + within) / 2


def intervals_made(method: str, bootstrap: str) -> dict[str, str]:
    """The entries in JSON about how intervals were made: only settings that are not the default."""
    return {
        **({"interval_method": method} if method != "percentile" else {}),
        **({"bootstrap": bootstrap} if bootstrap != "multinomial" else {}),
    }


def notes(
    metrics: Iterable[Metric], *, images: int, level: float | None, method: str, own_frequencies: bool
) -> list[str]:
    """Notes that a reader of the scores and intervals needs, one sentence each.

    Args:
        metrics: those scored.
        images: how many images were scored.
        level: confidence level of the intervals; None if there are none.
        method: how the intervals were made.
        own_frequencies: whether words were weighed by the corpus itself, not by document frequencies from elsewhere.
    """
    parts = list(dict.fromkeys(part for metric in metrics for part in metric.parts))
    notes = []
    if level is not None and images < FEW_IMAGES and method == "percentile":
        what = "1 image" if images == 1 else f"{images} images"
        notes.append(
            f"Intervals of {what} are too narrow: below {FEW_IMAGES} images take "
            f"{option('interval_method', 'jackknife')}, or more images."
        )
    weighing = [part.label for part in parts if part.uses_document_frequency]
    if own_frequencies and weighing and 1 < images < SMALL_CORPUS:
        beyond = "" if level is None else ", often below its interval"
        notes.append(
            f"{', '.join(weighing)}: words are weighed by these {images:,} images. On more images the score "
            f"falls{beyond}; to compare with other sets, take "
            f"{option('document_frequency', 'NAME', flag='--df')}."
        )
    learning = [part.label for part in parts if part.trained_on_references]
    if level is not None and learning:
        notes.append(
            f"{', '.join(learning)}: learns from these references and rises with their number; its interval is too "
            "narrow."
        )
    return notes
