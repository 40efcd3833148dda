"""When scores are equal: rounding must not decide which system or caption is better."""

from __future__ import annotations

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
