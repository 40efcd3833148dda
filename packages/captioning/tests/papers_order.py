"""The order of the paper's captioners in a sweep of `--quick`: what its tests look for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

PLAIN, COOL = "rs", "rs(temperature=0.5)"
WEIGHTS = ("0", "5", "20", "only")


def by_weight(
    result: dict[str, Any], figure: str, method: str = PLAIN, weights: Sequence[str] = WEIGHTS
) -> list[list[float]]:
    """The figure of each seed, along the weights of CIDEr-D."""
    found = {(one["weight"], one["method"]): one[figure]["seeds"] for one in result["places"]}
    return [list(own) for own in zip(*(found[weight, method] for weight in weights), strict=True)]


def rises(values: list[float]) -> bool:
    return all(one < other for one, other in pairwise(values))


def check_order(result: dict[str, Any]) -> None:
    """More weight of CIDEr-D, or a lower temperature: more accurate, less diverse, in each seed; people above all."""
    assert all(rises(own[:3]) for own in by_weight(result, "accuracy"))
    assert all(rises(own[::-1]) for method in (PLAIN, COOL) for own in by_weight(result, "self-cider", method))
    for figure, sign in (("accuracy", 1), ("self-cider", -1)):
        pairs = zip(by_weight(result, figure, COOL), by_weight(result, figure), strict=True)
        assert all(sign * cool > sign * plain for one, other in pairs for cool, plain in zip(one, other, strict=True))
    for figure in ("accuracy", "f"):
        best = max(value for method in (PLAIN, COOL) for own in by_weight(result, figure, method) for value in own)
        assert result["people"][figure] > 1.5 * best
