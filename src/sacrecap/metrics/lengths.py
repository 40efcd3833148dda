"""Sentences that are too long for a metric: some metrics do work that grows with the product of two lengths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from sacrecap.errors import UnfitImages

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.base import Metric


class TooLong(NamedTuple):
    """A sentence that a metric cannot score."""

    image: int
    """The number of its image in the corpus, from 0."""
    caption: int | None
    """The number of the candidate among those of its image, from 0; None if it is a reference."""
    words: int
    """Its tokens."""
    metric: Metric
    """The metric that takes fewest."""

    @property
    def reason(self) -> str:
        """What is wrong, and what to do: `a sentence of 3,000 words; METEOR takes up to 2,000 (…)`."""
        name = self.metric.label
        return (
            f"a sentence of {self.words:,} words; {name} takes up to {self.metric.longest:,} (its work grows with the "
            f"product of the lengths); shorten it or leave {name} out"
        )


def too_long(metrics: Iterable[Metric], corpus: Corpus) -> list[TooLong]:
    """The sentences of the corpus that are too long for one of the metrics, image by image, references first.

    Examples:
        >>> import sacrecap
        >>> corpus = sacrecap.Corpus({"7": ["a dog"]}, {"7": "dog " * 3_000})
        >>> [(one.image, one.caption, one.words) for one in too_long([sacrecap.metrics.Meteor()], corpus)]
        [(0, 0, 3000)]
    """
    limits = [(part.longest, part) for metric in metrics for part in metric.parts if part.longest is not None]
    if not limits:
        return []
    longest, strictest = min(limits, key=lambda limit: limit[0])
    return [TooLong(*found, strictest) for found in corpus._core.longer_than(longest)]


def check_lengths(metric: Metric, corpus: Corpus) -> None:
    """Raises `UnfitImages`, which names the first image, if sentences are too long for the metric."""
    if found := too_long([metric], corpus):
        images = list(dict.fromkeys(one.image for one in found))
        raise UnfitImages(f"image {corpus.image_ids[images[0]]!r}: {found[0].reason}", images)
