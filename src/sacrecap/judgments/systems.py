"""Systems: how often each wins (or how high it is rated) by people and by each metric, and how the two correlate.

Where some of the captions are people's, the systems are compared among themselves, as in figure 4 of the CIDEr paper,
and people stand apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from sacrecap.judgments import accuracy, correlation
from sacrecap.judgments.judged_rows import Pairs

if TYPE_CHECKING:
    from sacrecap.judgments.bootstrap import Floats
    from sacrecap.judgments.judged_rows import Ratings
    from sacrecap.judgments.row_scorer import Columns

LEAST = 3
"""Least number of systems for a correlation over systems."""
_PEOPLE = ("human", "humans", "people")


def is_people(system: str) -> bool:
    """Whether the captions of this name are people's: `human`, also with more after a comma."""
    return system.partition(",")[0].strip().casefold() in _PEOPLE


def by_people(judgments: Pairs | Ratings, scores: Columns | None = None) -> dict[str, float] | None:
    """Share of wins, or mean rating, of each system, then of people; None if the file names fewer than `LEAST`.

    With a metric's scores, mean ratings are of the images that its means are of.
    """
    systems = judgments.systems()
    if systems is None:
        return None
    if isinstance(judgments, Pairs):
        estimates = _wins(np.asarray(judgments.preferred, dtype=float), judgments)
    else:
        ratings = np.array(list(map(fmean, judgments.ratings)))
        if scores is not None:
            ratings = _of_scored_images(ratings, judgments, scores)
        estimates = _means(ratings, systems["caption"])
    return estimates if len(estimates) >= LEAST else None


def by_metric(judgments: Pairs | Ratings, scores: Columns) -> dict[str, float]:
    """The same by a metric: share of wins, where a tie is half a win, or mean score.

    Means are of the images all of whose captions have a score: of others, one system could gain by what is missing.
    """
    if isinstance(judgments, Pairs):
        return _wins(accuracy.difference(scores), judgments)
    values = _of_scored_images(scores["caption"], judgments, scores)
    return _means(values, (judgments.systems() or {})["caption"])


def _of_scored_images(values: Floats, judgments: Ratings, scores: Columns) -> Floats:
    """The values of captions; NaN of images of which a caption has no score."""
    missing = np.isnan(scores["caption"])
    if not missing.any():
        return values
    images = np.array([row.image_id for row in judgments.rows])
    return np.where(np.isin(images, images[missing]), np.nan, values)


def agreement(people: dict[str, float], metric: dict[str, float]) -> dict[str, float]:
    """Correlations over systems, without people; NaN of fewer than `LEAST`."""
    names = [name for name in people if not math.isnan(metric[name]) and not is_people(name)]
    if len(names) < LEAST:
        names = []
    return correlation.plain([metric[name] for name in names], [people[name] for name in names])


def _wins(difference: Floats, pairs: Pairs) -> dict[str, float]:
    """Share of wins over the pairs of two systems that people decided; a system's pairs with people do not count."""
    systems = pairs.systems() or {}
    won: dict[str, float] = {}
    took_part: dict[str, int] = {}
    for gap, preferred, *sides in zip(difference, pairs.preferred, systems["b"], systems["c"], strict=True):
        if preferred == 0 or sides[0] == sides[1]:
            continue
        of_people = [is_people(name) for name in sides]
        for name, sign in zip(sides, (1, -1), strict=True):
            if any(of_people) and not is_people(name):
                continue
            won[name] = won.get(name, 0.0) + (0.5 if gap == 0 else float(gap * sign > 0))
            took_part[name] = took_part.get(name, 0) + 1
    return {name: won[name] / took_part[name] for name in _ordered(won)}


def _ordered(systems: Iterable[str]) -> list[str]:
    """The systems, then people."""
    return sorted(set(systems), key=lambda name: (is_people(name), name))


def _means(values: Floats, systems: list[str]) -> dict[str, float]:
    """The mean of each system's known values; NaN if there is none."""
    names, known = np.array(systems), ~np.isnan(values)
    scored = {name: values[(names == name) & known] for name in _ordered(systems)}
    return {name: float(numbers.mean()) if len(numbers) else math.nan for name, numbers in scored.items()}
