"""CIDEr-D of tokenised captions, with the weights of all references computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.rewards.host import CiderDReward

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.metrics import CiderD
    from sacrecap.rewards.completions import CompletionBatch

_PADDING = -1


class CiderDOfWords:
    """`cider-d` with the document frequencies of the references, by the scorer on token ids: words get numbers.

    The arithmetic is the same, and so are the scores. It avoids weighting the references again in every call.
    """

    def __init__(self, references: Mapping[str, Sequence[str]], metric: CiderD, threads: int) -> None:
        self._words: dict[str, int] = {}
        self._number = {image: number for number, image in enumerate(references)}
        groups = [
            _padded([[self._words.setdefault(word, len(self._words)) for word in text.split()] for text in group])
            for group in references.values()
        ]
        counts = DocumentFrequency.from_token_ids(groups, end_of_sentence=None, n=metric.n)
        self._reward = CiderDReward(counts, end_of_sentence=None, n=metric.n, sigma=metric.sigma, threads=threads)
        self._references = self._reward.encode(groups)

    def __call__(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        """(N,) scores of captions whose images have references."""
        new: dict[str, int] = {}
        known, first = self._words, len(self._words)
        ids = [
            known[word] if word in known else new.setdefault(word, first + len(new))
            for caption in batch.tokens
            for word in caption
        ]
        lengths = list(map(len, batch.tokens))
        return self._reward.scores(ids, lengths, [self._number[image] for image in batch.images], self._references)


def _padded(rows: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """(R, T) ids, padded at the end."""
    columns = list(zip_longest(*rows, fillvalue=_PADDING))
    return np.array(columns, dtype=np.int64).T if columns else np.zeros((len(rows), 0), dtype=np.int64)
