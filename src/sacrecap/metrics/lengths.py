"""Sentences that are too long for a metric: some metrics do work that grows with the product of two lengths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sacrecap.errors import UnfitImages

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.base import Metric


def strictest(metrics: Iterable[Metric]) -> tuple[int, Metric] | None:
    """The fewest tokens of a sentence that one of the metrics takes at most, and that metric; None for any length.

    Examples:
        >>> import sacrecap
        >>> longest, metric = strictest([sacrecap.metrics.RougeL(), sacrecap.metrics.Meteor()])
        >>> longest, metric.label
        (2000, 'METEOR')
    """
    limits = [(part.longest, part) for metric in metrics for part in metric.parts if part.longest is not None]
    return min(limits, key=lambda limit: limit[0], default=None)


def reason(metric: Metric, words: int) -> str:
    """What is wrong with a sentence of so many tokens, and what to do."""
    return (
        f"a sentence of {words:,} words; {metric.label} takes up to {metric.longest:,} (its work grows with the "
        f"product of the lengths); shorten it or leave {metric.label} out"
    )


def check_lengths(metric: Metric, corpus: Corpus) -> None:
    """Raises `UnfitImages`, which names the first image, if sentences are too long for the metric."""
    found = [] if metric.longest is None else corpus._core.longer_than(metric.longest)
    if found:
        images = list(dict.fromkeys(image for image, _ in found))
        first = corpus.image_ids[images[0]]
        raise UnfitImages(f"image {first!r}: {reason(metric, found[0][1])}", images)
