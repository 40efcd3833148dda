"""When scores are equal: rounding must not decide which system or caption is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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
