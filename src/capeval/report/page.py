"""What the HTML report shows, as one JSON document: scores, histograms, and the captions of the images on the page."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, TypedDict

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from capeval.scoring.result import Result, Score

MOST_IMAGES = 20_000
"""Larger corpora are not written out whole: the page would be slow to open."""
EXTREMES = 1_000
"""How many of the best, and of the worst, images of a larger corpus are on the page; the others are sampled."""
SAMPLE_SEED = 0
_MOST_BINS = 30
DECIMALS = 6
"""Of scores of single images; enough for any figure the page prints, and half the size of full precision."""


class Histogram(TypedDict):
    """Counts of images between consecutive edges; a bin holds its lower edge, the last bin both."""

    edges: list[float]
    counts: list[int]


class MetricData(TypedDict):
    """A metric, its corpus score, and the scores of the images on the page."""

    key: str
    label: str
    summary: str
    signature: str
    value: float
    interval: tuple[float, float] | None
    upper: float | None
    lower_is_better: bool
    median: float
    histogram: Histogram
    scores: list[float]


class AlignmentData(TypedDict):
    """How METEOR aligned a candidate: the best reference's number, both sides' tokens joined by blanks, and the links:
    module, span of the candidate, span of the reference.
    """

    number: int
    candidate: str
    reference: str
    links: list[tuple[str, tuple[int, int], tuple[int, int]]]


class PlanData(TypedDict):
    """VIFIDEL's plan: shares and ρ of objects and of words, and what moves: object, word, share, cost."""

    objects: tuple[str, ...]
    words: tuple[str, ...]
    weights: tuple[list[float], list[float]]
    importance: tuple[list[float], list[float]]
    flows: list[tuple[int, int, float, float]]
    distance: float


class ImageData(TypedDict):
    """An image's captions; METEOR's alignment and VIFIDEL's plan where they were scored."""

    id: str
    candidate: str | None
    references: list[str]
    alignment: AlignmentData | None
    plan: PlanData | None


class PageData(TypedDict):
    """Everything the page shows. `lead` is the number of the metric it sorts by at first."""

    version: str
    tokenizer: str
    level: float | None
    method: str
    notes: list[str]
    total: int
    references: tuple[int, int]
    extremes: int | None
    seed: int
    lead: int
    metrics: list[MetricData]
    images: list[ImageData]


def page_data(result: Result) -> PageData:
    """The document for a result."""
    scores = {key: np.round(score.per_image, DECIMALS) for key, score in result.items()}
    leading = lead(result)
    chosen = _chosen(list(scores.values())[leading])
    corpus = result.corpus
    return {
        "version": result.version,
        "tokenizer": corpus.tokenizer,
        "level": result.level,
        "method": result.interval_method,
        "notes": list(result.notes),
        "total": len(result.image_ids),
        "references": corpus.reference_counts,
        "extremes": EXTREMES if len(chosen) < len(result.image_ids) else None,
        "seed": SAMPLE_SEED,
        "lead": leading,
        "metrics": [_metric(score, scores[key], chosen) for key, score in result.items()],
        "images": [_image(result, number) for number in chosen],
    }


def histogram(scores: npt.NDArray[np.float64], upper: float | None) -> Histogram:
    """Counts of the scores in bins with round edges."""
    edges = _edges(min(0.0, float(scores.min())), _right_end(float(scores.max()), upper))
    bins = np.searchsorted(edges, scores, side="right") - 1
    counts = np.bincount(np.clip(bins, 0, len(edges) - 2), minlength=len(edges) - 1)
    return {"edges": edges, "counts": counts.tolist()}


def lead(result: Result) -> int:
    """The number of CIDEr-D among the metrics, or of the first."""
    names = [score.metric.name for score in result.values()]
    return names.index("cider-d") if "cider-d" in names else 0


def _chosen(scores: npt.NDArray[np.float64]) -> list[int]:
    """Numbers of the images on the page, in the result's order: all, or the extremes and a sample of the others."""
    if len(scores) <= MOST_IMAGES:
        return list(range(len(scores)))
    order = np.argsort(scores, kind="stable").tolist()
    others = random.Random(SAMPLE_SEED).sample(order[EXTREMES:-EXTREMES], MOST_IMAGES - 2 * EXTREMES)
    return sorted([*order[:EXTREMES], *others, *order[-EXTREMES:]])


def _metric(score: Score, per_image: npt.NDArray[np.float64], chosen: list[int]) -> MetricData:
    metric = score.metric
    upper = metric.largest
    return {
        "key": metric.key,
        "label": metric.label,
        "summary": metric.summary,
        "signature": score.signature,
        "value": score.value,
        "interval": score.interval,
        "upper": upper,
        "lower_is_better": metric.lower_is_better,
        "median": float(np.median(per_image)),
        "histogram": histogram(per_image, upper),
        "scores": per_image[chosen].tolist(),
    }


def _image(result: Result, number: int) -> ImageData:
    image_id = result.image_ids[number]
    candidate, references = result.corpus.captions(image_id)
    return {
        "id": image_id,
        "candidate": candidate,
        "references": references,
        "alignment": _alignment(result, image_id),
        "plan": _plan(result, image_id),
    }


def _alignment(result: Result, image_id: str) -> AlignmentData | None:
    found = result.alignment(image_id) if result.has_alignments else None
    if found is None:
        return None
    links = [(link.module, link.candidate, link.reference) for link in found.links]
    candidate, reference = " ".join(found.candidate), " ".join(found.reference)
    return {"number": found.number, "candidate": candidate, "reference": reference, "links": links}


def _plan(result: Result, image_id: str) -> PlanData | None:
    if not result.has_explanations:
        return None
    found = result.explanation(image_id)
    numbers = (found.object_weights, found.word_weights, found.object_importance, found.word_importance)
    of_objects, of_words, rho_of_objects, rho_of_words = (np.round(values, 3).tolist() for values in numbers)
    return {
        "objects": found.objects,
        "words": found.words,
        "weights": (of_objects, of_words),
        "importance": (rho_of_objects, rho_of_words),
        "flows": [(i, j, round(share, 3), round(cost, 3)) for i, j, share, cost in found.flows],
        "distance": round(found.distance, DECIMALS),
    }


def _right_end(largest: float, upper: float | None) -> float:
    """The metric's upper bound where scores come near it, so that charts of like metrics have like axes."""
    if upper is not None and upper / 2 < largest <= upper:
        return upper
    return largest if largest > 0 else (upper or 1.0)


def _edges(least: float, most: float) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten, from `least` or below to `most` or above."""
    rough = (most - least) / _MOST_BINS
    exponent = math.floor(math.log10(rough))
    step = next(factor * 10.0**exponent for factor in (1, 2, 2.5, 5, 10) if factor * 10.0**exponent >= rough)
    first, last = math.floor(round(least / step, 9)), math.ceil(round(most / step, 9))
    decimals = max(1 - exponent, 0)
    return [round(number * step, decimals) for number in range(first, last + 1)]
