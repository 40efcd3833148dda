"""Krippendorff's α from counts: its value, its interval, and what it is without each person.

Krippendorff, *Content Analysis* (2004), section 11.3; the thresholds are those of its section 11.4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from sacrecap_studies.clustered_intervals import Floats, Integers, Interval, bootstrap

TENTATIVE = 0.667
"""Below it, Krippendorff advises against conclusions; from it on, tentative ones are acceptable."""
RELIABLE = 0.8
"""From here on he calls data reliable."""
Level = Literal["nominal", "interval"]


def judgment(alpha: float) -> str:
    """What Krippendorff's thresholds say of a value: `low`, `tentative` or `reliable`."""
    return "reliable" if alpha >= RELIABLE else "tentative" if alpha >= TENTATIVE else "low"


class Alpha:
    """Krippendorff's α of counts.

    Args:
        votes: (units, values) how many people gave each unit each value.
        values: the values' places on the scale, for the level `interval`.
        level: whether values are only different (`nominal`), or their squared distances count (`interval`).
    """

    def __init__(self, votes: Floats, values: Sequence[float], level: Level) -> None:
        places = np.asarray(values, dtype=float)
        squared = (places[:, None] - places[None, :]) ** 2
        self._distance = (squared > 0).astype(float) if level == "nominal" else squared
        self._votes = votes.astype(float)
        self._parts = self._contributions(self._votes)

    @property
    def value(self) -> float | None:
        """α; None if no unit has two answers, or all answers are one value."""
        value = self._of_sums(self._parts.sum(axis=0, keepdims=True))[0]
        return None if np.isnan(value) else float(value)

    def interval(self, clusters: Integers) -> Interval | None:
        """By drawing clusters of units, such as all units of an image; `clusters` has each unit's, from 0."""
        shared = self._parts[:, 1:].sum(axis=1) > 0
        _, numbers = np.unique(clusters[shared], return_inverse=True)
        sums = np.zeros((int(numbers.max()) + 1 if len(numbers) else 0, self._parts.shape[1]))
        np.add.at(sums, numbers, self._parts[shared])
        return bootstrap(sums, self._of_sums)

    def without(self, people: Integers, units: Integers, values: Integers, count: int) -> list[float | None]:
        """α without each person, from the person, unit and value of every answer; `count` is how many people there are.

        The answers are those that the counts were made of, one per person and unit.
        """
        rest = self._votes[units]
        rest[np.arange(len(units)), values] -= 1
        change = self._contributions(rest) - self._parts[units]
        sums = np.repeat(self._parts.sum(axis=0, keepdims=True), count, axis=0)
        np.add.at(sums, people, change)
        return [None if np.isnan(value) else float(value) for value in self._of_sums(sums)]

    def _contributions(self, votes: Floats) -> Floats:
        """(units, 1 + values): a unit's disagreement, then its counts; nothing of units with fewer than two answers."""
        sizes = votes.sum(axis=1)
        shared = sizes > 1
        disagreement = ((votes @ self._distance) * votes).sum(axis=1) / np.where(shared, sizes - 1, 1)
        parts: Floats = np.concatenate([disagreement[:, None], votes], axis=1) * shared[:, None]
        return parts

    def _of_sums(self, sums: Floats) -> Floats:
        counts = sums[:, 1:]
        expected = ((counts @ self._distance) * counts).sum(axis=1)
        # Sums that were taken apart again may miss zero by a rounding.
        enough = expected > 1e-9
        return np.where(enough, 1 - (counts.sum(axis=1) - 1) * sums[:, 0] / np.where(enough, expected, 1), np.nan)
