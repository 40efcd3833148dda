"""Systems: how often each wins (or how high it is rated) by people and by each metric, and how the two correlate."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

from sacrecap.judgments import accuracy, correlation
from sacrecap.judgments.judged_rows import Pairs

if TYPE_CHECKING:
    from sacrecap.judgments.bootstrap import Floats
    from sacrecap.judgments.judged_rows import Ratings
    from sacrecap.judgments.row_scorer import Columns

LEAST = 3
"""Least number of systems for a correlation over systems."""


def by_people(judgments: Pairs | Ratings) -> dict[str, float] | None:
    """Share of wins, or mean rating, of each system; None if the file names fewer than `LEAST`."""
    import numpy as np

    systems = judgments.systems()
    if systems is None:
        return None
    if isinstance(judgments, Pairs):
        found = _wins(np.asarray(judgments.preferred, dtype=float), judgments)
    else:
        found = _means(np.array(list(map(fmean, judgments.ratings))), systems["caption"])
    return found if len(found) >= LEAST else None


def by_metric(judgments: Pairs | Ratings, scores: Columns) -> dict[str, float]:
    """The same by a metric: share of wins, where a tie is half a win, or mean score."""
    if isinstance(judgments, Pairs):
        return _wins(accuracy.difference(scores), judgments)
    return _means(scores["caption"], (judgments.systems() or {})["caption"])


def agreement(people: dict[str, float], metric: dict[str, float]) -> dict[str, float]:
    """Correlations over systems."""
    names = [name for name in people if not math.isnan(metric[name])]
    return correlation.plain([metric[name] for name in names], [people[name] for name in names])


def _wins(difference: Floats, pairs: Pairs) -> dict[str, float]:
    """Share of wins over the pairs of two systems that people decided."""
    systems = pairs.systems() or {}
    won: dict[str, float] = {}
    took_part: dict[str, int] = {}
    for gap, preferred, *sides in zip(difference, pairs.preferred, systems["b"], systems["c"], strict=True):
        if preferred == 0 or sides[0] == sides[1]:
            continue
        for name, sign in zip(sides, (1, -1), strict=True):
            won[name] = won.get(name, 0.0) + (0.5 if gap == 0 else float(gap * sign > 0))
            took_part[name] = took_part.get(name, 0) + 1
    return {name: won[name] / took_part[name] for name in sorted(won)}


def _mean(values: Floats) -> float:
    """The mean of the known values; NaN if there is none."""
    import numpy as np

    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _means(values: Floats, systems: list[str]) -> dict[str, float]:
    import numpy as np

    names = np.array(systems)
    return {name: _mean(values[names == name]) for name in sorted(set(systems))}
