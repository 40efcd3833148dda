"""When a person gets checks: one in every block of items, at a random place.

Everything follows from a seed, so that places need not be stored and can be computed again later.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

FIRST = 3
"""The first check comes among so many first questions."""


def due(every: Mapping[str, int], seed: str, items: int, most: int) -> dict[str, int]:
    """How many checks of each role have come due before a person's next item.

    Args:
        every: length of a role's blocks, in items.
        seed: of the person's draws.
        items: items that the person has answered.
        most: items that the person answers at most: no check is drawn for a place after them.
    """
    found = {}
    for place, (role, length) in enumerate(every.items()):
        block, inside = divmod(items, length)
        long = max(1, min(length, most - block * length))
        drawn = random.Random(f"{seed}:{role}:{block}").randrange(long if block or place else min(FIRST, long))
        found[role] = block + (inside >= drawn)
    return found


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
    more = needed(every, items) - checks
    advice = f", or set most_per_person to {low:,} or less" if low else ""
    return (
        f"a person who answers {items:,} questions needs {needed(every, items):,} checks, but the study has "
        f"{checks:,}. Add {more:,} {'check' if more == 1 else 'checks'}{advice}"
    )
