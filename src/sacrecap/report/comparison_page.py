"""The data of the page of a comparison, as one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from sacrecap.report.comparison_formats import best_and_worse, tested
from sacrecap.report.html import ReportPage
from sacrecap.report.score_page import (
    DECIMALS,
    SAMPLE_SEED,
    PageHead,
    first_and_sample,
    fitting,
    known,
    lead,
    page_head,
)
from sacrecap.scoring.result import finite

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.scoring.comparison import Comparison

MOST_CAPTIONS = 60_000
"""Most candidates on the page: with more, it would be slow to open; only some images are shown then."""
EXTREMES = 1_000
"""Number of images on the page that are chosen because the systems differ most; the others are sampled."""

_MOST_NAMES = 6


class ComparedScore(TypedDict):
    """A system by a metric."""

    value: float | None
    interval: tuple[float, float] | None
    ranks: tuple[int, int]
    best: bool
    worse: bool


class ComparedMetric(TypedDict):
    """A metric, the systems by it, and their scores of the images on the page, system by system; None for no score."""

    label: str
    summary: str
    signature: str
    systems: list[ComparedScore]
    scores: list[list[float | None]]


class ComparedPair(TypedDict):
    """Two systems, by index, and their difference by each metric."""

    a: int
    b: int
    metrics: list[ComparedDifference]


class ComparedDifference(TypedDict):
    """A difference and its test."""

    delta: float | None
    interval: tuple[float, float] | None
    p: float
    corrected: float
    significant: bool


class ComparedImage(TypedDict):
    """An image's captions: one per system (None if it has none), and the references."""

    id: str
    candidates: list[str | None]
    references: list[str]


class ComparisonPage(PageHead):
    """Everything the page shows. `lead` is the index of the metric that it shows first, `first` that of the pair."""

    references: tuple[int, int]
    test: str
    alpha: float
    extremes: int | None
    seed: int
    lead: int
    first: int
    systems: list[str]
    metrics: list[ComparedMetric]
    pairs: list[ComparedPair]
    images: list[ComparedImage]


def page(comparison: Comparison, _draw: Sequence[str] = ()) -> ReportPage:
    """The page of a comparison."""
    data = comparison_data(comparison)
    return ReportPage(
        "comparison", "Comparison of captioning systems", names(comparison), data, [one["id"] for one in data["images"]]
    )


def names(systems: Iterable[str]) -> str:
    """The systems by name in one line; of many the first, and how many more there are."""
    *first, last = systems
    if len(first) >= _MOST_NAMES:
        first, last = first[:_MOST_NAMES], f"{len(first) + 1 - _MOST_NAMES} more"
    return f"{', '.join(first)} and {last}" if first else last


def comparison_data(comparison: Comparison) -> ComparisonPage:
    """The document for a comparison."""
    first = next(iter(comparison.values()))
    leading = lead(first)
    scores = {
        key: np.array([result[key].per_image for result in comparison.values()]).round(DECIMALS)
        for key in comparison.metrics
    }
    most = fitting(
        max(MOST_CAPTIONS // len(comparison), 2 * EXTREMES),
        first.image_ids,
        lambda image: _texts(_image(comparison, image)),
    )
    chosen = _chosen(list(scores.values())[leading], most)
    pairs = list(combinations(comparison, 2))
    best = set(comparison.ranking(list(comparison.metrics)[leading])[:2])
    return {
        **page_head(first.version, comparison, first),
        "references": first.corpus.reference_counts,
        "test": tested(comparison),
        "alpha": comparison.alpha,
        "extremes": min(EXTREMES, most) if len(chosen) < len(first.image_ids) == first.images else None,
        "seed": SAMPLE_SEED,
        "lead": leading,
        "first": next(number for number, pair in enumerate(pairs) if best == set(pair)),
        "systems": list(comparison),
        "metrics": [_metric(comparison, key, scores[key][:, chosen]) for key in comparison.metrics],
        "pairs": [_pair(comparison, a, b) for a, b in pairs],
        "images": [_image(comparison, first.image_ids[number]) for number in chosen],
    }


def _chosen(scores: npt.NDArray[np.float64], most: int) -> list[int]:
    """Indices of at most that many images, for scores of shape (systems, images)."""
    if scores.shape[1] <= most:
        return list(range(scores.shape[1]))
    order = np.argsort(scores.min(axis=0) - scores.max(axis=0), kind="stable").tolist()
    return first_and_sample(order, EXTREMES, most)


def _metric(comparison: Comparison, key: str, scores: npt.NDArray[np.float64]) -> ComparedMetric:
    best, worse = best_and_worse(comparison, key)
    ranks = comparison.ranks(key)
    any_score = next(iter(comparison.values()))[key]
    return {
        "label": any_score.metric.label,
        "summary": any_score.metric.summary,
        "signature": any_score.signature,
        "systems": [
            {
                "value": finite(result[key].value),
                "interval": result[key].interval,
                "ranks": ranks[name],
                "best": name in best,
                "worse": name in worse,
            }
            for name, result in comparison.items()
        ],
        "scores": known(scores),
    }


def _pair(comparison: Comparison, a: str, b: str) -> ComparedPair:
    systems = list(comparison)
    found = [comparison.pair(a, b, key) for key in comparison.metrics]
    return {
        "a": systems.index(a),
        "b": systems.index(b),
        "metrics": [
            {
                "delta": finite(pair.delta),
                "interval": pair.interval,
                "p": pair.p,
                "corrected": pair.p_corrected,
                "significant": pair.significant,
            }
            for pair in found
        ],
    }


def _image(comparison: Comparison, image_id: str) -> ComparedImage:
    captions = [result.corpus.captions(image_id) for result in comparison.values()]
    return {"id": image_id, "candidates": [candidate for candidate, _ in captions], "references": captions[0][1]}


def _texts(image: ComparedImage) -> list[str]:
    return [*(candidate or "" for candidate in image["candidates"]), *image["references"]]
