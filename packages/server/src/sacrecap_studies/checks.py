"""Questions with known answers: when a person gets them, and what follows: a sequential test of whether they read.

One comes in every block of items, at a random place, which follows from a seed: it can be computed again later.

All checks count together, whatever their role. A person fails as soon as their right answers are fewer than a careful
person's could be: over all checks that somebody gets, a careful person fails with the probability `mistaken` at most.
That risk is spent evenly over the checks (Lan and DeMets, *Discrete sequential boundaries for clinical trials*,
Biometrika 70, 1983), so that who clicks at random fails early, and the limits are exact binomial probabilities.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

CAUGHT = 0.9
"""Share of the people who answer at random that a study's checks should find."""
MOST = 1000
"""Checks of one person that are looked at; far fewer decide."""
ENDLESS = 200
"""Checks that nobody can be asked to answer: where fewer are not enough, no number is."""


@dataclass(frozen=True)
class CheckRule:
    """What is asked of people, and what follows where they fail."""

    policy: str = "note"
    honest: float = 0.9
    """Share of checks that a careful person gets right."""
    mistaken: float = 0.02
    """The most probability that a careful person fails."""
    luck: float = 0.5
    """Share of checks that somebody gets right who answers at random."""

    def fails(self, right: int, answered: int, checks: int) -> bool:
        """Whether so many right answers of those to checks are too few, of a person who gets so many checks at most."""
        if not 0 < answered <= MOST:
            return False
        return right <= _limits(min(max(checks, answered), MOST), self.honest, self.mistaken)[answered - 1]

    def caught(self, checks: int) -> float:
        """The share of people answering at random who fail within so many checks."""
        limits = _limits(min(checks, MOST), self.honest, self.mistaken)
        left = np.eye(1, len(limits) + 1)[0]  # the probability of each number of right answers without having failed
        for limit in limits:
            left = _answer(left, self.luck)
            left[: limit + 1] = 0
        return 1 - float(left.sum())

    @property
    def needed(self) -> int:
        """The fewest checks that catch `CAUGHT` of the people who answer at random; `ENDLESS` if fewer do not."""
        return _needed(self)

    def problem(self, checks: int) -> str:
        """Why this rule can never say that somebody fails; empty if it can."""
        if self._acts(checks):
            return ""
        least = next((more for more in range(checks, MOST) if self._acts(more)), MOST)
        number = "1 check" if checks == 1 else f"{checks} checks"
        return f"{self.policy!r} cannot act: a person gets {number}, and nobody can fail with fewer than {least}"

    def _acts(self, checks: int) -> bool:
        return any(limit >= 0 for limit in _limits(min(checks, MOST), self.honest, self.mistaken))

    def remark(self, checks: int) -> str:
        """What the owner should know of the rule's power; empty if enough people are caught."""
        caught = self.caught(checks)
        if caught >= CAUGHT:
            return ""
        enough = f"for {100 * CAUGHT:.0f} %, {self.needed} checks are needed"
        if self.needed == ENDLESS:
            enough = f"they get {100 * self.luck:.0f} % of the checks right, so ask what is harder to guess"
        text = f"checks of a person: {checks}. Of the people who answer at random, {100 * caught:.0f} % are found; "
        return text + enough


def every(items: int, checks: Iterable[int], enough: int) -> int:
    """Items for one check of each role, so that who answers so many has `enough` checks of all roles, and none of the
    `checks` that there are of each role comes again.
    """
    there = list(checks)
    number, once = items * len(there) // enough, -(-items * len(there) // max(1, sum(there)))
    return min(10, max(1, number, once))  # no longer, however few are needed


def remarks(settings: Mapping[str, Any], pages: Mapping[str, int], items: int) -> list[str]:
    """Sentences for the owner of a study with these settings and pages of each role; none if there are enough checks.

    A person answers so many items.
    """
    every: Mapping[str, int] = settings["checks"]
    if not every or not items:
        return []
    short = shortage(every, sum(pages.get(role, 0) for role in every), items)
    again = f"checks will come again: {short}" if short else ""
    return list(filter(None, [again, CheckRule(**settings["rule"]).remark(needed(every, items))]))


@lru_cache(maxsize=64)
def _needed(rule: CheckRule) -> int:
    return next((checks for checks in range(1, ENDLESS) if rule.caught(checks) >= CAUGHT), ENDLESS)


@lru_cache(maxsize=512)
def _limits(checks: int, honest: float, mistaken: float) -> tuple[int, ...]:
    """With how many right answers of 1, 2, … a person fails: these or fewer; -1 where nobody can."""
    left, used, limits = np.eye(1, checks + 1)[0], 0.0, []
    for answered in range(1, checks + 1):
        left = _answer(left, honest)
        risk = used + np.cumsum(left)
        limits.append(int(np.searchsorted(risk, mistaken * answered / checks + 1e-12, side="right")) - 1)
        used = float(risk[limits[-1]]) if limits[-1] >= 0 else used
        left[: limits[-1] + 1] = 0
    return tuple(limits)


def _answer(left: Any, right: float) -> Any:
    """The probabilities after one more answer."""
    after = left * (1 - right)
    after[1:] += left[:-1] * right
    return after


FIRST = 3
"""The first check comes among so many first questions."""


def due(every: Mapping[str, int], seed: str, items: int, most: int) -> dict[str, int]:
    """How many checks of each role have come due before a person's next item.

    `every` has the length of a role's blocks, in items; the person has answered `items`, and answers `most` at most: no
    check is drawn for a place after them.
    """
    checks = {}
    for place, (role, length) in enumerate(every.items()):
        block, inside = divmod(items, length)
        long = max(1, min(length, most - block * length))
        drawn = random.Random(f"{seed}:{role}:{block}").randrange(long if block or place else min(FIRST, long))
        checks[role] = block + (inside >= drawn)
    return checks


def needed(every: Mapping[str, int], items: int) -> int:
    """The checks that come due for a person who answers so many items, all that there are for them."""
    return sum(-(-items // length) for length in every.values())


def shortage(every: Mapping[str, int], checks: int, items: int) -> str:
    """A sentence for the owner where a person can need more checks than there are; empty if there are enough."""
    if not every or needed(every, items) <= checks:
        return ""
    # Who answers one item more needs at least as many checks, so a bisection finds the last number that is covered.
    low, high = 0, items
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if needed(every, middle) <= checks else (low, middle)
    enough = needed(every, items)
    text = f"for {items:,} questions a person needs {enough:,} checks, but the study has {checks:,}: "
    return text + f"add {enough - checks:,}" + (f", or set most_per_person to {low:,} or less" if low else "")
