"""What compares where scores are missing: the images on which both systems have one.

A system has no score of an image where a judge refused to answer, or nothing can be computed. Means over different
images are not compared: what is hard for both may be missing for one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from sacrecap.scoring.ties import same

if TYPE_CHECKING:
    from sacrecap import _core
    from sacrecap.scoring.result import Score


def in_common(a: Score, b: Score) -> tuple[_core.Statistics, _core.Statistics] | None:
    """The statistics of two systems on the images that both have a score of; None where none is missing."""
    if not (a.unscored or b.unscored):
        return None
    values = zip(a.per_image_values(), b.per_image_values(), strict=True)
    rows = [row for row, pair in enumerate(values) if not any(map(math.isnan, pair))]
    return a.rows.select(rows), b.rows.select(rows)


def difference(a: Score, b: Score) -> float:
    """By how much the first score is higher, on the images that both systems have; NaN where they share none."""
    common = in_common(a, b)
    if common is None:
        return a.value - b.value
    if not common[0].rows:
        return math.nan
    of_a, of_b = (statistics.score() for statistics in common)
    return 0.0 if same(of_a, of_b) else of_a - of_b


def best_first(results: Mapping[str, Mapping[str, Score]], key: str) -> list[str]:
    """The systems by the metric of this key, best first; equal ones in the order given, those without a score last.

    Where scores are missing, a system stands before those that it is better than on the images that both have: by how
    many these are, and then by its mean.
    """
    scores = {system: result[key] for system, result in results.items()}
    ahead = dict.fromkeys(scores, 0)
    if any(score.unscored for score in scores.values()):
        for a, b in combinations(scores, 2):
            better = _better(scores[a], scores[b])
            ahead[a] += better > 0
            ahead[b] += better < 0

    def place(system: str) -> tuple[bool, int, float]:
        score = scores[system]
        return math.isnan(score.value), -ahead[system], score.value if score.metric.lower_is_better else -score.value

    return sorted(scores, key=place)


def best(results: Mapping[str, Mapping[str, Score]], key: str) -> set[str]:
    """The systems that no other one is better than, on the images that both have; none where no image has a score.

    Of a system that has scores on no image with another one nothing is known: then none is the best.
    """
    scores = {system: result[key] for system, result in results.items()}
    if not any(score.unscored for score in scores.values()):
        first = scores[best_first(results, key)[0]]
        return {system for system, score in scores.items() if same(score.value, first.value)}
    return {
        system
        for system, score in scores.items()
        if not math.isnan(score.value)
        and all(
            _better(score, other) >= 0
            for name, other in scores.items()
            if name != system and not math.isnan(other.value)
        )
    }


def _better(a: Score, b: Score) -> float:
    """By how much the first system is better; NaN where they share no image."""
    return -difference(a, b) if a.metric.lower_is_better else difference(a, b)
