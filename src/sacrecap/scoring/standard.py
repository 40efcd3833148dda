"""Mean and deviation of standardised scores, from all captions of a call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sacrecap.errors import DataError
from sacrecap.metrics.registry import STANDARDISED
from sacrecap.scoring.count import count_quietly

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics import Metric
    from sacrecap.metrics.standardised import Scale, Standard
    from sacrecap.resources.needs import Needs


def with_standard(
    metrics: Iterable[Metric], corpora: Mapping[str, Corpus], needs: Mapping[str, Needs]
) -> dict[str, Needs]:
    """The needs of each system, with mean and deviation of all captions of all systems, where `z(…)` needs them and no
    file gives them.

    Raises `DataError` where all captions have one score.
    """
    wanted = without_standard(metrics, needs.values())
    if not wanted:
        return dict(needs)
    scores: dict[str, list[float]] = {metric.key: [] for metric in wanted}
    for name, corpus in corpora.items():
        for table in count_quietly(corpus, wanted, needs[name]):
            scores[table.metric.key] += memoryview(table.statistics.row_scores()).cast("d").tolist()
    standard = standard_of(scores)
    return {name: system_needs.with_({"standard": standard}) for name, system_needs in needs.items()}


def without_standard(metrics: Iterable[Metric], needs: Iterable[Needs]) -> list[Metric]:
    """The metrics whose mean and deviation are taken from all captions of the call, since no file gives them."""
    named = [metric for metric in metrics if f"{STANDARDISED}(" in metric.key]
    if not named or any("standard" in system_needs for system_needs in needs):
        return []
    from sacrecap.metrics.standardised import unscaled

    return list(unscaled(named))


def standard_of(scores: Mapping[str, list[float]]) -> Standard:
    """Mean and deviation of these scores, by the keys of their metrics."""
    from sacrecap.metrics.standardised import Standard

    return Standard({key: _scale(key, distribution) for key, distribution in scores.items()})


def standard_in(needs: Needs) -> dict[str, Any]:
    """The entry of a JSON document with mean and deviation that were taken from all captions of the call, if any."""
    return {"standard": dict(needs.get("standard").scales)} if hasattr(needs.get("standard"), "scales") else {}


def _scale(key: str, scores: list[float]) -> Scale:
    known = [score for score in scores if not math.isnan(score)]
    mean = math.fsum(known) / len(known) if known else 0.0
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in known) / len(known)) if known else 0.0
    if not deviation > 1e-12 * max(1.0, abs(mean)):
        raise DataError(f"z({key}): all {len(scores):,} captions have the same score, so it has no deviation")
    return {"mean": mean, "deviation": deviation}
