"""Which systems are better than which, by all tests at once, and the ranks that they may have.

One relation gives both: a pair is significant if and only if it separates the ranks of its systems. How often all of it
is true, and how wide the ranges are, is measured against other methods: docs/explanation/significance.md has the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

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
    than the third: a pair's p is no larger than those that it follows from.

    Args:
        systems: the best first.
        p: of each pair, (better, worse), by the scores; 1 for one that was not tested.
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
    """The best and the worst rank that each system may have, 1 being the best.

    A system stands behind those that are better and before those that are worse; systems that no test separates share
    their ranks.

    Args:
        systems: all that are ranked.
        separated: (better, worse): the pairs that a test finds to differ, each once.
    """
    better = dict.fromkeys(systems, 0)
    worse = dict(better)
    for winner, loser in separated:
        better[loser] += 1
        worse[winner] += 1
    return {system: (1 + better[system], len(better) - worse[system]) for system in better}
