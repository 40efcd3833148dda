"""Every registered metric that references and installed tables are enough for, and variations of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from corpora import Pairs
from sacrecap.metrics import Bleu, CiderD, Combine, Judge, Meteor, Metric
from sacrecap.metrics.declared import Parameter, ParameterValue
from sacrecap.metrics.learned import LearnedMetric
from sacrecap.metrics.registry import own_metrics

REGISTERED = own_metrics()
HERE = {"references", "language_model", "objects", "embeddings", "vocabulary"}
"""What `Pairs.score` gives, or the package has."""
SCORABLE = tuple(metric for metric in REGISTERED if {*metric.needs} <= HERE)

ELSEWHERE = (LearnedMetric, Judge)
"""Those that need a network, here or elsewhere: see tests/learned and tests/metrics/test_judge.py."""

COMBINATION = Combine(Bleu(n=4), CiderD(), weights=(1, 2))
ALL = (*SCORABLE, COMBINATION)
COMPARING = tuple(metric for metric in ALL if not metric.trained_on_references)

every_metric = pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.key)
every_comparing_metric = pytest.mark.parametrize("metric", COMPARING, ids=lambda metric: metric.key)
"""Those that compare a candidate with its references. A language model of the references does not: a sentence of theirs
is not the likeliest one, and fewer or other references are another model."""
every_consensus_metric = pytest.mark.parametrize(
    "metric", [metric for metric in COMPARING if "objects" not in metric.needs], ids=lambda metric: metric.key
)
"""Those that compare with references and nothing else."""

few = settings(max_examples=max(settings.default.max_examples // 5, 3))
"""A law tries few corpora with each of many metrics."""


def variations(metric: Metric) -> tuple[Metric, ...]:
    """The metric itself, then every declared parameter changed, one at a time."""
    changed = (
        metric.with_parameters({p.name: value})
        for p in metric.parameters()
        # One file or model at a time; a category may have no score; a precision is a network's.
        if (p.kind is not str or p.choices is not None) and p.name not in ("category", "precision")
        for value in other_values(p, getattr(metric, p.name))
    )
    return metric, *changed


def other_values(declared: Parameter, default: Any) -> Iterator[ParameterValue]:
    """Acceptable values that are not the default."""
    if declared.choices:
        candidates: tuple[ParameterValue, ...] = declared.choices
    elif isinstance(default, bool):
        candidates = (not default,)
    elif isinstance(default, int):
        numbers = (declared.least, default - 1, default + 1, declared.most)
        candidates = tuple(int(value) for value in numbers if value is not None and within(value, declared))
    else:
        candidates = tuple(value for value in (default / 3, default * 1.5 + 0.25) if within(value, declared))
    yield from dict.fromkeys(value for value in candidates if value != default)


def within(value: float, bounds: Parameter) -> bool:
    return not (
        (bounds.least is not None and value < bounds.least)
        or (bounds.most is not None and value > bounds.most)
        or (bounds.above is not None and value <= bounds.above)
    )


def score_of_equals(metric: Metric) -> float | None:
    """What captions equal to their references score: the largest, but METEOR can weigh another module above `exact`."""
    return metric.exact if isinstance(metric, Meteor) else metric.largest


def frequencies(corpus: Pairs, metric: Metric) -> Any:
    """What the metric or a variation of it weighs words by, counted over the whole corpus, where one does."""
    return corpus.every_frequency() if any(one.uses_document_frequency for one in variations(metric)) else None
