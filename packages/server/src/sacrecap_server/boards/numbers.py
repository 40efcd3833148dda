"""The precision of all numbers that leave this server.

A score with many digits reveals much at once: which of several images' references have a word, and how long they are
(docs/explanation/what-a-board-tells.md). Scores and ends of intervals have four decimals everywhere. Of a p, which does
not get smaller with more images as an image's part of a score does, people learn only below which limit it is.
"""

from __future__ import annotations

DECIMALS = 4
LIMITS = (0.001, 0.01, 0.05)


def shown(value: float) -> float:
    """The number as anybody but the server may know it."""
    # Adding 0 makes 0 of -0, whose sign would tell more.
    return round(value, DECIMALS) + 0.0


def limit_of(p: float) -> str:
    """`< 0.01`, or `≥ 0.05` if it is below none of the limits."""
    return next((f"< {limit}" for limit in LIMITS if p < limit), f"≥ {LIMITS[-1]}")
