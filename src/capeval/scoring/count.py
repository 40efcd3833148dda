"""Counts sufficient statistics, from which every result is computed, in a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from capeval import _core
from capeval.errors import UsageError, warn
from capeval.metrics.base import PythonMetric, remembered
from capeval.scoring.in_python import counted_in_python

if TYPE_CHECKING:
    from capeval.corpus.corpus import Corpus
    from capeval.metrics.base import Metric, Ready
    from capeval.resources.needs import Needs


class Counted(NamedTuple):
    """The statistics of one metric in a corpus."""

    metric: Metric
    ready: Ready
    """The prepared metric: its corpus and resources."""
    statistics: _core.Statistics
    """A row per candidate, or per caption set."""

    def signature(self, corpus: Corpus) -> str:
        """Signature: the settings that reproduce the score, as text."""
        metric = self.metric
        parts = [*_settings(metric), *self.ready.signature, f"tok:{corpus.tokenizer}"]
        if corpus.holds_sets:
            parts.append(f"captions:{_span(corpus.candidate_counts)}")
        if not metric.scores_sets:
            parts.append(f"refs:{_span(corpus.reference_counts)}")
        return "|".join([*parts, f"capeval:{_core.__version__}"])


@remembered
def _settings(metric: Metric) -> tuple[str, ...]:
    """The metric's own part of a signature."""
    return metric.name, *metric.signature_parts()


def count(corpus: Corpus, metrics: Sequence[Metric], needs: Needs) -> list[Counted]:
    """The metrics' statistics of the corpus, in their order; warns of what makes a score doubtful.

    Metrics are counted in one pass where they see the same words and take no two different resources of one kind.

    Raises what `Metric.ready` raises, and `DataError` where a metric of another package returns unusable statistics.
    """
    needs.check_known({name for metric in metrics for part in metric.parts for name in part.needs})
    ready = [metric.ready(corpus, needs) for metric in metrics]
    statistics: dict[int, _core.Statistics] = {}
    for members in _passes(metrics, ready):
        calls = [(metrics[n].key, metrics[n].arithmetic, metrics[n].kernel_parameters()) for n in members]
        resources = list({id(resource): resource for n in members for resource in ready[n].resources}.values())
        counted = _core.evaluate(ready[members[0]].corpus, calls, resources, needs.threads)
        statistics.update(zip(members, counted, strict=True))
    counted_metrics = []
    for number, metric in enumerate(metrics):
        if isinstance(metric, PythonMetric):
            statistics[number] = counted_in_python(metric, corpus, ready[number], needs)
        counted_metrics.append(Counted(metric, ready[number], statistics[number]))
        for message in metric.warnings(ready[number], statistics[number]):
            warn(message)
    return counted_metrics


def _passes(metrics: Sequence[Metric], ready: Sequence[Ready]) -> list[list[int]]:
    """Numbers of the metrics that native code counts together."""
    passes: list[tuple[Ready, dict[type, object], list[int]]] = []
    for number, (metric, ready_metric) in enumerate(zip(metrics, ready, strict=True)):
        if isinstance(metric, PythonMetric):
            continue
        kinds = {type(resource): resource for resource in ready_metric.resources}
        for first, taken, members in passes:
            if first.corpus is ready_metric.corpus and all(taken.get(kind, one) is one for kind, one in kinds.items()):
                taken.update(kinds)
                members.append(number)
                break
        else:
            passes.append((ready_metric, kinds, [number]))
    return [members for *_, members in passes]


def check_unit(corpus: Corpus, metrics: Sequence[Metric]) -> None:
    """Raises `UsageError` unless metrics of captions get one caption per image, and metrics of sets caption sets."""
    for metric in metrics:
        if metric.scores_sets and not corpus.holds_sets:
            raise UsageError(
                f"{metric.key} scores caption sets, several captions per image of one system, and here is one per "
                "image; use capeval diversity (capeval.diversity in Python)"
            )
        if corpus.holds_sets and not metric.scores_sets:
            raise UsageError(
                f"{metric.key} scores one caption per image, and these are caption sets; as their accuracy, capeval "
                f"diversity takes it with --accuracy {metric.name}"
            )


def _span(counts: tuple[int, int]) -> str:
    least, most = counts
    return f"{least}" if least == most else f"{least}-{most}"
