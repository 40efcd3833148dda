"""Which systems are better than which: equal scores, missing ones, corrected tests, and the ranks that follow.

Rounding must not decide which system or caption is better. A system has no score of an image where a judge refused to
answer, or nothing can be computed. Means over different images are not compared: what is hard for both may be missing
for one; so the images are compared on which both systems have a score.

One relation gives significance and ranks, by all tests at once: a pair is significant if and only if it separates the
ranks of its systems. How often all of it is true, and how wide the ranges are, is measured against other methods:
docs/explanation/intervals.md has the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap import _core
    from sacrecap.scoring.result import Score

    Floats = npt.NDArray[np.float64]


SAME = 1e-9
"""Scores that differ by no more are equal; above 1, this share of them. The native tests have the same numbers."""
SHARE = 1e-6
"""Scores that differ by more than this share are not: without a match of the longest n-grams BLEU-4 is 1e-4 to 1e-8,
and its order there is that of the shorter ones, on which published accuracies rest.
"""


def same(a: float, b: float) -> bool:
    """Whether two scores are equal, but for rounding."""
    size = max(abs(a), abs(b))
    return a == b or abs(a - b) <= min(SAME * max(size, 1.0), SHARE * size)


def gaps(a: Floats, b: Floats) -> Floats:
    """The differences of scores, shape (n,); 0 where the two are the same, or one is NaN, no score."""
    import numpy as np

    size = np.maximum(np.abs(a), np.abs(b))
    differences = a - b
    is_apart = np.abs(differences) > np.minimum(SAME * np.maximum(size, 1.0), SHARE * size)
    clipped: Floats = np.where(is_apart, differences, 0.0)
    return clipped


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


Name = TypeVar("Name", str, int)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979) of a family of p-values, in the order given."""
    corrected = [1.0] * len(p)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[place]))
        corrected[place] = largest
    return corrected


def corrected(systems: Sequence[Name], p: Mapping[tuple[Name, Name], float]) -> dict[tuple[Name, Name], float]:
    """Corrects the p of each pair for the number of pairs: with probability 1 - α, all pairs of α at most are right.

    By Holm's correction; and if the first is better than the second, and the second than the third, so is the first
    than the third: a pair's p is no larger than those that it follows from. `systems` have the best first, `p` is by
    (better, worse); 1 for a pair that was not tested.
    """
    corrected = dict(zip(p, holm(list(p.values())), strict=True))
    for place, middle in enumerate(systems):
        for better in systems[:place]:
            above = corrected[better, middle]
            if above < 1:
                for worse in systems[place + 1 :]:
                    corrected[better, worse] = min(corrected[better, worse], max(above, corrected[middle, worse]))
    return corrected


def rank_ranges(systems: Iterable[Name], separated: Iterable[tuple[Name, Name]]) -> dict[Name, tuple[int, int]]:
    """The best and the worst rank, from 1, that each system may have: behind those that are better and before those
    that are worse, by the pairs (better, worse) in `separated`, each once; systems that no test separates share their
    ranks.
    """
    better = dict.fromkeys(systems, 0)
    worse = dict(better)
    for winner, loser in separated:
        better[loser] += 1
        worse[winner] += 1
    return {system: (1 + better[system], len(better) - worse[system]) for system in better}
