"""Whether document frequencies fit a captioner's vocabulary: if not, rewards are 0 or captions learn bad endings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.errors import DataError
from sacrecap.rewards.host import CiderDReward
from sacrecap_captioning.rewards.base import TrainingCaptions
from sacrecap_captioning.vocabulary import END

LEAST_KNOWN = 0.5
"""A smaller share of the commonest bigrams that the counts know means that they are of another vocabulary."""
_COMMONEST = 100
_REMEDY = (
    "count them over the training captions as this vocabulary numbers them, "
    "DocumentFrequency.from_token_ids(references, end_of_sentence=0), or leave them out: training then does so"
)


def check_counts(counts: DocumentFrequency, training: TrainingCaptions) -> None:
    """Raises `DataError` if the counts are of one image, lack the end, or are of another vocabulary.

    Raises `UsageError` if they are keyed by words.
    """
    CiderDReward(counts, threads=1)
    if counts.documents < 2:
        raise DataError(
            "the document frequencies are those of one image: every n-gram is in every document, so every weight "
            "and every reward is 0; train on more images, or give the counts of more"
        )
    ends = counts.count([str(END)])
    if ends == 0:
        raise DataError(
            f"the document frequencies {counts.source} lack the end of a caption (id {END}): endings would get "
            f"the largest weight, and captions would end badly; {_REMEDY}"
        )
    known = _known_share(counts, training)
    if known < LEAST_KNOWN:
        raise DataError(
            f"the document frequencies {counts.source} are of another vocabulary: they know {known:.0%} of the "
            f"{_COMMONEST} commonest pairs of words in the training captions; {_REMEDY}"
        )


def _known_share(counts: DocumentFrequency, training: TrainingCaptions) -> float:
    pairs = Counter(pair for group in training.ids for ids in group for pair in pairwise(ids))
    commonest = [pair for pair, _ in pairs.most_common(_COMMONEST)]
    known = [counts.count([str(number) for number in pair]) > 0 for pair in commonest]
    return sum(known) / len(known) if known and counts.n > 1 else 1.0


def padded(rows: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """(R, T): rows of ids, padded with the end."""
    array = np.full((len(rows), max(map(len, rows), default=0)), END)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array
