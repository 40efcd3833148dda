"""The scores of a corpus row by row, and what metrics need for it, as rewards and their guards use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sacrecap.errors import UsageError
from sacrecap.metrics.cider import frequencies_for
from sacrecap.scoring.count import count

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap._core import Captions
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs


def row_scores(corpus: Corpus, metric: Metric, needs: Needs) -> npt.NDArray[np.float64]:
    """The score of each caption of the corpus, or of each set; NaN for one that has none."""
    [counted] = count(corpus, (metric,), needs)
    return np.frombuffer(counted.statistics.row_scores(), dtype="<f8")


class TermScores(NamedTuple):
    """What a term of a mixture gives each caption, times its weight."""

    scores: npt.NDArray[np.float64]
    is_by_chance: bool
    """Whether a score may be missing for one caption of an image and not for another, as where a judge is asked."""

    @classmethod
    def of(cls, metrics: Iterable[Metric], scores: npt.NDArray[np.float64]) -> TermScores:
        return cls(scores, any("judge" in metric.needs for metric in metrics))


def summed(terms: Iterable[TermScores], groups: Iterable[Sequence[int]], number: int) -> npt.NDArray[np.float64]:
    """The rewards of captions, from the terms of a mixture; NaN where there is none.

    The captions of a group are compared with each other. A term that has a score for none of them (SPICE of colours,
    where no reference names one) is left out for all. One that has no score for some of them, or whose score is missing
    by chance, leaves these without a reward: without it they would only seem worse than the others.
    """
    total, is_scored = np.zeros(number), np.zeros(number, dtype=bool)
    rows = [np.array(group, dtype=np.intp) for group in groups]
    for scores, is_by_chance in terms:
        missing = np.isnan(scores)
        is_scored |= ~missing
        left_out = [] if is_by_chance else [group for group in rows if missing[group].all()]
        counted = scores.copy()
        for group in left_out:
            counted[group] = 0.0
        total += counted
    return np.where(is_scored, total, np.nan)


def ready_needs(metric: Metric, references: Captions | None, tokenizer: Tokenizer, needs: Needs) -> Needs:
    """The needs of a metric, with document frequencies of all references if none are given.

    Raises:
        UsageError: something that the metric needs is not given.
    """
    reason = metric.status(needs).hindrance
    if reason is not None:
        raise UsageError(f"{metric.key}: {reason}")
    weighted = [part for part in metric.parts if part.uses_document_frequency]
    if not weighted or "document_frequency" in needs:
        return needs
    if references is None:
        raise UsageError(
            f"{metric.key} weights words by how many images have them, and the references of a batch are few; give "
            "those of the whole training split, or document frequencies (document_frequency=…); of metrics of caption "
            "sets lsa and vendi(kernel=words) weight no words"
        )
    if references.image_count < 2:
        raise UsageError(
            f"{metric.key} weights words by how many images have them, and these are the references of one image; give "
            "those of the whole training split, or document frequencies (document_frequency=…)"
        )
    return needs.with_({"document_frequency": frequencies_for([metric], references, tokenizer=tokenizer)})
