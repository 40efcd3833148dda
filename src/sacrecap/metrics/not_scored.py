"""Placeholder of a metric that this machine cannot compute: a row without a score, which says why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sacrecap.errors import warn
from sacrecap.metrics.base import Metric, PythonMetric, Ready

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.base import Totals
    from sacrecap.resources.needs import Needs


class NotScored(PythonMetric):
    """Replaces `metric`, under its name, and scores no image. `reason` says what is missing, and how to get it.

    So a group's table has the same rows on every machine, independent of what is installed.
    """

    needs = ()
    metric: Metric
    reason: str

    def __init__(self, metric: Metric, reason: str) -> None:
        vars(self).update(metric=metric, reason=reason)

    def __getattr__(self, name: str) -> Any:
        """The description of the metric."""
        if name in {"metric", "reason"}:
            raise AttributeError(name)
        return getattr(self.metric, name)

    name: Any = property(attrgetter("metric.name"))
    key: Any = property(attrgetter("metric.key"))
    label: Any = property(attrgetter("metric.label"))
    head: Any = property(attrgetter("metric.head"))
    largest: Any = property(attrgetter("metric.largest"))
    smallest: Any = property(attrgetter("metric.smallest"))
    lower_is_better: Any = property(attrgetter("metric.lower_is_better"))
    no_score_where: Any = property(attrgetter("reason"))

    def __str__(self) -> str:
        return str(self.metric)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:  # noqa: ARG002
        return Ready(corpus._core, signature=(f"not scored:{self.reason}",))

    def notes(self, statistics: Totals) -> list[str]:  # noqa: ARG002
        return [f"{self.label} has no score: {self.reason}."]

    def formula(self, sums: Sequence[float]) -> float:  # noqa: ARG002
        return 0.0  # never used as a score: no image has one

    def row_formula(self, row: Sequence[float]) -> float:  # noqa: ARG002
        return math.nan

    def statistics(self, corpus: Corpus, ready: Ready) -> Sequence[Sequence[float]]:  # noqa: ARG002
        """Rows of zeros."""
        return [(0.0, 0.0)] * corpus.candidate_count


def computable(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """The metrics that this machine can compute, for tables in which a row without scores is useless; warns about the
    others.
    """
    scorable = []
    for metric in metrics:
        if isinstance(metric, NotScored):
            warn(f"{metric.label} is left out: {metric.reason}")
        else:
            scorable.append(metric)
    return tuple(scorable)
