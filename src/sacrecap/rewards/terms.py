"""Metrics with weights, as rewards: `cider-d`, `cider-d + 0.5*rouge-l`, `cider-d + 2*self-cider`.

The notation is that of `sacrecap.metrics.weighted_sum`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sacrecap.errors import UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.weighted_sum import above_zero, check_distinct, read_term, terms, write_term


class Term(NamedTuple):
    """A metric and its weight in a reward."""

    metric: Metric
    weight: float

    @property
    def sign(self) -> float:
        """−1 for a metric for which lower is better, so that a higher reward is always better."""
        return -1.0 if self.metric.lower_is_better else 1.0

    def __str__(self) -> str:
        return write_term(self.metric.key, self.weight)


def terms_of(reward: str | Metric | Mapping[str, float]) -> tuple[Term, ...]:
    """The metrics of a reward with their weights.

    Args:
        reward: a metric, its name, `{name: weight}`, or a weighted sum such as `cider-d + 0.5*rouge-l`.

    Raises:
        UsageError: text of another form, an unknown metric, one that is named twice, a group of several, or a weight
            that is not a number above 0.
    """
    if isinstance(reward, Metric):
        return (Term(reward, 1.0),)
    where = f"reward {reward!r}"
    weights = reward.items() if isinstance(reward, Mapping) else [read_term(term, where) for term in terms(reward)]
    found = tuple(Term(single_metric(name, where), above_zero(weight, where)) for name, weight in weights)
    check_distinct([term.metric.key for term in found], where)
    if not found:
        raise UsageError("no reward given; examples: cider-d, cider-d + 0.5*rouge-l, cider-d(sigma=5)")
    return found


def single_metric(name: str, where: str) -> Metric:
    """The metric of that name. Raises `UsageError`, beginning with `where`, for an unknown name and for a group."""
    try:
        metrics = parse_metrics(name)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    if len(metrics) > 1:
        raise UsageError(f"{where}: {name} is a group of {len(metrics)} metrics; name each with its weight")
    return metrics[0]
