"""When scores are equal: rounding must not decide which system or caption is better."""

from __future__ import annotations

import math

SAME = 1e-9
"""Scores that differ by no more are equal; above 1, this share of them. The native tests have the same number."""


def same(a: float, b: float) -> bool:
    """Whether two scores are equal, but for rounding."""
    return math.isclose(a, b, rel_tol=SAME, abs_tol=SAME)
