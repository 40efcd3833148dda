"""Metrics with weights, as rewards: `cider-d`, `cider-d + 0.5*rouge-l`, `cider-d + 2*self-cider`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from sacrecap.errors import UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import parse_metrics

EXAMPLES = "cider-d, cider-d + 0.5*rouge-l, cider-d(sigma=5)"


class Term(NamedTuple):
    """A metric and its weight in a reward."""

    metric: Metric
    weight: float

    @property
    def sign(self) -> float:
        """−1 for a metric for which lower is better, so that a higher reward is always better."""
        return -1.0 if self.metric.lower_is_better else 1.0

    def __str__(self) -> str:
        return self.metric.key if self.weight == 1 else f"{self.weight:g}*{self.metric.key}"


def terms_of(reward: str | Metric | Mapping[str, float]) -> tuple[Term, ...]:
    """The metrics of a reward with their weights.

    Args:
        reward: a metric, its name, `{name: weight}`, or text of the form `weight*name + weight*name`.

    Raises:
        UsageError: text of another form, an unknown metric, one that is named twice, a group of several, or a weight
            that is not a number above 0.
    """
    if isinstance(reward, Metric):
        return (Term(reward, 1.0),)
    pieces = reward.items() if isinstance(reward, Mapping) else [_weighted(piece, reward) for piece in cut(reward)]
    terms = []
    for name, weight in pieces:
        metrics = parse_metrics(name)
        if len(metrics) > 1:
            raise UsageError(f"reward {name!r} is a group of {len(metrics)} metrics; name each with its weight")
        if isinstance(weight, bool) or not 0 < weight < math.inf:
            raise UsageError(f"reward {name!r}: a weight is a number above 0, got {weight!r}")
        terms.append(Term(metrics[0], float(weight)))
    keys = [term.metric.key for term in terms]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise UsageError(f"reward: {twice[0]} occurs twice; add its weights")
    if not terms:
        raise UsageError(f"no reward given; examples: {EXAMPLES}")
    return tuple(terms)


def cut(text: str) -> list[str]:
    """Cuts at plus signs outside parentheses."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _weighted(piece: str, text: str) -> tuple[str, float]:
    """Name and weight of `weight*name`, or of only a name."""
    weight, name = piece.split("*", 1) if "*" in piece.partition("(")[0] else ("1", piece)
    try:
        number = float(weight)
    except ValueError:
        number = math.nan
    if not name.strip() or math.isnan(number):
        raise UsageError(f"reward {text!r}: {piece.strip()!r} is not of the form weight*name; examples: {EXAMPLES}")
    return name.strip(), number
