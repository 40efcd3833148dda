"""Statistics of agreement as their papers define them, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations


def sign(value: float) -> int:
    return int(value > 0) - int(value < 0)


def kendall(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """τ-b (Kendall 1945) and τ-c (Stuart 1953); NaN where a side is constant."""
    pairs = [(sign(x[i] - x[j]), sign(y[i] - y[j])) for i, j in combinations(range(len(x)), 2)]
    surplus = sum(a * b for a, b in pairs)
    by_x, by_y = sum(a != 0 for a, _ in pairs), sum(b != 0 for _, b in pairs)
    least = min(len(set(x)), len(set(y)))
    if not by_x or not by_y:
        return math.nan, math.nan
    return surplus / math.sqrt(by_x * by_y), 2 * surplus * least / (len(x) ** 2 * (least - 1))


def ranks(values: Sequence[float]) -> list[float]:
    """Rank from 1; equal values share their mean rank."""
    return [1 + sum(o < v for o in values) + (sum(o == v for o in values) - 1) / 2 for v in values]


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    top = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    bottom = sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)
    return top / math.sqrt(bottom) if bottom else math.nan


def correlations(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    tau_b, tau_c = kendall(x, y)
    return {"kendall_b": tau_b, "kendall_c": tau_c, "spearman": pearson(ranks(x), ranks(y)), "pearson": pearson(x, y)}


def in_images(statistic: str, x: Sequence[float], y: Sequence[float], images: Sequence[str]) -> float:
    """The mean of a statistic over the images in which both sides differ."""
    found = []
    for image in dict.fromkeys(images):
        own = [number for number, other in enumerate(images) if other == image]
        found.append(correlations([x[n] for n in own], [y[n] for n in own])[statistic])
    defined = [value for value in found if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def tied(scores: list[float]) -> list[float]:
    """The scores, with one value for those that are equal but for rounding."""
    found: dict[float, float] = {}
    last = -math.inf
    for score in sorted(scores):
        last = last if score - last <= 1e-9 else score
        found[score] = last
    return [found[score] for score in scores]
