"""The places of systems on a board, by all its tests at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic

from sacrecap.scoring.ranks import Name, corrected, rank_ranges

ALPHA = 0.05
LEVEL = 1 - ALPHA


@dataclass(frozen=True)
class Standing:
    """The ranks that a system may have on a board, and how they come about."""

    first: int
    last: int
    """Between these ranks, by all tests of the board at once."""
    better: int = 0
    """Number of others that it is better than."""
    worse: int = 0
    """Number of others that are better."""
    level: int = 0
    """Number of others that no test separates from it."""
    attempts: int = 1
    """Of how many attempts it is the best, by scores on the images that are shown."""

    @property
    def rank(self) -> str:
        """`2`, or `1–3` where no test separates it from its neighbours."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"

    @property
    def explanation(self) -> str:
        """How the rank comes about: `better than 4, worse than 2, not separated from 3`."""
        counts = ("better than", self.better), ("worse than", self.worse), ("not separated from", self.level)
        phrases = ", ".join(f"{words} {count}" for words, count in counts if count) or "the only one"
        return phrases if self.attempts == 1 else f"{phrases}; the best of {self.attempts} submissions"


@dataclass(frozen=True)
class Standings(Generic[Name]):
    """All places by one metric."""

    places: dict[Name, Standing]
    separated: set[tuple[Name, Name]]
    """(better, worse): the pairs that a test finds to differ."""


def standings(
    ordered: Sequence[Name], tests: Mapping[tuple[Name, Name], float], attempts: Mapping[Name, int]
) -> Standings[Name]:
    """The places of systems.

    Args:
        ordered: all systems, the best score first.
        tests: p of the pairs that were tested: (ahead, behind), by the test's own difference. Scores on a board are
            rounded: where they say otherwise, p is 1.
        attempts: of how many attempts a system is the best, where they are several: p is times these.
    """
    p = {pair: min(1.0, tests.get(pair, 1.0) * attempts.get(pair[0], 1)) for pair in combinations(ordered, 2)}
    separated = {pair for pair, value in corrected(ordered, p).items() if value <= ALPHA}
    ranks = rank_ranges(ordered, separated)
    places = {}
    for name in ordered:
        better, worse = (sum(pair[side] == name for pair in separated) for side in (0, 1))
        level = len(ordered) - 1 - better - worse
        places[name] = Standing(*ranks[name], better, worse, level, attempts.get(name, 1))
    return Standings(places, separated)
