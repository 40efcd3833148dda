"""p of the exact paired test in plain Python: all signs one by one, or the whole distribution of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np


def one_by_one(differences: Sequence[float]) -> float:
    """The share of all signs whose sum is as far from 0 as the sum itself, but for 1e-9."""
    least = abs(sum(differences)) - 1e-9
    far = [abs(np.dot(signs, differences)) >= least for signs in product((1, -1), repeat=len(differences))]
    return float(np.mean(far))


def of_whole_numbers(differences: Sequence[int]) -> float:
    """The same for whole numbers, of which there may be hundreds: the distribution, number by number."""
    negative = np.ones(1)  # the probability of each sum of those with a turned sign
    for size in map(abs, differences):
        added = np.zeros(len(negative) + size)
        added[: len(negative)] += negative / 2
        added[size:] += negative / 2
        negative = added
    sums = np.abs(len(negative) - 1 - 2 * np.arange(len(negative)))
    return float(negative[sums >= abs(sum(differences))].sum())
