"""The precision of all numbers that leave this server.

A score with many digits reveals much at once: which of several images' references have a word, and how long they are
(docs/explanation/what-a-board-tells.md). Scores, ends of intervals, differences and p have four decimals everywhere.
"""

from __future__ import annotations

DECIMALS = 4


def shown(value: float) -> float:
    """The number as anybody but the server may know it."""
    # Adding 0 makes 0 of -0, whose sign would tell more.
    return round(value, DECIMALS) + 0.0
