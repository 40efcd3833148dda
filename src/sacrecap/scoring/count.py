"""Counts sufficient statistics, from which every result is computed, in a corpus."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap import _core
from sacrecap.errors import DataError, UsageError, option, spelled, warn
from sacrecap.metrics.base import Metric, PythonMetric, Ready
from sacrecap.metrics.registry import STANDARDISED
from sacrecap.scoring.signature import Signature

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.combine import Scale, Standard
    from sacrecap.resources.needs import Needs


class CountedMetric(NamedTuple):
    """The statistics of one metric in a corpus."""

    metric: Metric
    ready: Ready
    """The prepared metric: its corpus and resources."""
    statistics: _core.Statistics
    """A row per candidate, or per caption set."""

    def signature(self, corpus: Corpus) -> str:
        """All that the score depends on, as text."""
        return str(Signature.of(self.metric, self.ready, corpus, self.statistics.rows))


@dataclass(frozen=True, eq=False)
class Summed:
    """The sums of one metric's statistics over rows that nobody kept, in the place of the rows.

    It stands where [`Statistics`][sacrecap._core.Statistics] of all images would; `row_scores` are of none.
    """

    rows: int
    """Number of rows."""
    unscored: int
    """Number of rows without a score."""
    total: _core.Statistics
    """One row: the sums over all rows, with the metric's formula."""

    @classmethod
    def of_metrics(cls, sums: _core.ExactSums) -> list[Summed]:
        """Those of each metric."""
        return [cls(sums.rows, unscored, sums.statistics(place)) for place, unscored in enumerate(sums.unscored)]

    @property
    def width(self) -> int:
        """Numbers per row."""
        return self.total.width

    def score(self) -> float:
        """Score of all rows together."""
        return self.total.score()

    def sums(self) -> list[float]:
        """Sums of the columns, over all rows."""
        return self.total.sums()

    def row_scores(self) -> bytes:
        """Nothing."""
        return b""


def count(corpus: Corpus, metrics: Sequence[Metric], needs: Needs) -> list[CountedMetric]:
    """The same as `count_quietly`; warns of what makes a score doubtful."""
    counted = count_quietly(corpus, metrics, needs)
    for table in counted:
        for message in table.metric.warnings(table.ready, table.statistics):
            warn(message)
    return counted


def count_quietly(corpus: Corpus, metrics: Sequence[Metric], needs: Needs) -> list[CountedMetric]:
    """The metrics' statistics of the corpus, in their order.

    Metrics are counted in one pass if they see the same words, do not need two different resources of one kind, and if
    those of the same arithmetic take the same resources. The members of a weighted mean are counted as metrics of their
    own, each once.

    Raises what `Metric.ready` raises, and `DataError` where a metric of another package returns unusable statistics.
    """
    needs.check_known({name for metric in metrics for part in metric.parts for name in part.needs})
    ready = [metric.ready(corpus, needs) for metric in metrics]
    simple: dict[Metric, Ready] = {}
    for metric, prepared in zip(metrics, ready, strict=True):
        for part in _simple(metric):
            simple.setdefault(part, prepared if part == metric else prepared.parts[part])
    statistics: dict[Metric, _core.Statistics] = {}
    for members in _passes(simple):
        calls = [(metric.key, metric.arithmetic, metric.kernel_parameters()) for metric in members]
        resources = {id(resource): resource for metric in members for resource in simple[metric].resources}
        counted = _core.evaluate(simple[members[0]].corpus, calls, list(resources.values()), needs.threads)
        statistics.update(zip(members, counted, strict=True))
    for metric, prepared in simple.items():
        if isinstance(metric, PythonMetric) and not metric.arithmetic:
            from sacrecap.scoring.in_python import counted_in_python

            statistics[metric] = counted_in_python(metric, corpus, prepared, needs)
    return [
        CountedMetric(metric, resources, _together(metric, statistics, needs))
        for metric, resources in zip(metrics, ready, strict=True)
    ]


def _simple(metric: Metric) -> list[Metric]:
    """The metrics that are counted: the metric itself, or the members of a weighted mean and of theirs."""
    members = _members(metric)
    return [part for _, member in members for part in _simple(member)] if members else [metric]


def _together(metric: Metric, statistics: Mapping[Metric, _core.Statistics], needs: Needs) -> _core.Statistics:
    """The statistics of a metric; a weighted mean's are its members', side by side."""
    members = _members(metric)
    if not members:
        return statistics[metric]
    weighted = [(weight, _together(member, statistics, needs)) for weight, member in members]
    if metric.name == STANDARDISED:
        return weighted[0][1].standardised(metric.key, *metric.scale(needs))  # type: ignore[attr-defined]
    signs: Sequence[float] = metric.signs  # type: ignore[attr-defined]
    turned = [
        (weight, values.standardised(member.key, 0.0, sign) if sign < 0 else values)
        for sign, (weight, values), (_, member) in zip(signs, weighted, members, strict=True)
    ]
    return _core.Statistics.combined(metric.key, turned)


def _members(metric: Metric) -> list[tuple[float, Metric]]:
    """The members of a weighted mean, with their weights; none of any other metric."""
    if metric.parts == (metric,):
        return []  # without loading what means are
    from sacrecap.metrics.combine import WeightedMean

    return list(zip(metric.weights, metric.members, strict=True)) if isinstance(metric, WeightedMean) else []


def _passes(metrics: Mapping[Metric, Ready]) -> list[list[Metric]]:
    """The metrics that native code counts together."""
    passes: list[tuple[Ready, dict[type, object], list[Metric]]] = []
    for metric, ready in metrics.items():
        if not metric.arithmetic:
            continue
        kinds = {type(resource): resource for resource in ready.resources}
        for first, resources, members in passes:
            fits = all(resources.get(kind, resource) is resource for kind, resource in kinds.items()) and all(
                metrics[other].resources == ready.resources
                for other in members
                if other.arithmetic == metric.arithmetic
            )
            if fits and first.corpus is ready.corpus:
                resources.update(kinds)
                members.append(metric)
                break
        else:
            passes.append((ready, kinds, [metric]))
    return [members for *_, members in passes]


def check_unit(corpus: Corpus, metrics: Sequence[Metric]) -> None:
    """Raises `UsageError` unless metrics of captions get one caption per image, and metrics of sets caption sets."""
    for metric in metrics:
        if metric.scores_sets and not corpus.holds_sets:
            raise UsageError(
                f"{metric.key} scores caption sets, several captions per image of one system, and here is one per "
                f"image; use {spelled(python='sacrecap.diversity', command='sacrecap diversity')}"
            )
        if corpus.holds_sets and not metric.scores_sets:
            raise UsageError(
                f"{metric.key} scores one caption per image, and these are caption sets; as their accuracy, "
                f"{spelled(python='sacrecap.diversity', command='sacrecap diversity')} takes it with "
                f"{option('accuracy', metric.name)}"
            )


def with_standard(
    metrics: Iterable[Metric], corpora: Mapping[str, Corpus], needs: Mapping[str, Needs]
) -> dict[str, Needs]:
    """The needs of each system, with mean and deviation of all captions of all systems, where `z(…)` needs them and no
    file gives them.

    Raises `DataError` where all captions have one score.
    """
    unscaled = without_standard(metrics, needs.values())
    if not unscaled:
        return dict(needs)
    scores: dict[str, list[float]] = {metric.key: [] for metric in unscaled}
    for name, corpus in corpora.items():
        for table in count_quietly(corpus, unscaled, needs[name]):
            scores[table.metric.key] += memoryview(table.statistics.row_scores()).cast("d").tolist()
    standard = standard_of(scores)
    return {name: system_needs.with_({"standard": standard}) for name, system_needs in needs.items()}


def without_standard(metrics: Iterable[Metric], needs: Iterable[Needs]) -> list[Metric]:
    """The metrics whose mean and deviation are taken from all captions of the call, since no file gives them."""
    named = [metric for metric in metrics if f"{STANDARDISED}(" in metric.key]
    if not named or any("standard" in system_needs for system_needs in needs):
        return []
    from sacrecap.metrics.combine import unscaled

    return list(unscaled(named))


def standard_of(scores: Mapping[str, list[float]]) -> Standard:
    """Mean and deviation of these scores, by the keys of their metrics."""
    from sacrecap.metrics.combine import Standard

    scales: dict[str, Scale] = {}
    for key, distribution in scores.items():
        defined = [score for score in distribution if not math.isnan(score)]
        mean = math.fsum(defined) / len(defined) if defined else 0.0
        deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in defined) / len(defined)) if defined else 0.0
        if not deviation > 1e-12 * max(1.0, abs(mean)):
            raise DataError(f"z({key}): all {len(distribution):,} captions have the same score, so it has no deviation")
        scales[key] = {"mean": mean, "deviation": deviation}
    return Standard(scales)


def standard_in(needs: Needs) -> dict[str, Any]:
    """The entry of a JSON document with mean and deviation that were taken from all captions of the call, if any."""
    return {"standard": dict(needs.get("standard").scales)} if hasattr(needs.get("standard"), "scales") else {}
