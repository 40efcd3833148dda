"""CIDEr-D, by the name it has in that package, and with document frequencies of other references."""

from __future__ import annotations

from collections.abc import Mapping

from sacrecap.compat.ciderscorer import Scores
from sacrecap.compat.cooked import Ngram
from sacrecap.compat.encoded_captions import Captions, paired
from sacrecap.compat.evaluation.cider.cider_scorer import CiderScorer
from sacrecap.compat.frequencies import Frequencies, given


class Cider:
    """CIDEr-D by document frequencies of `gts`, `{image id: [reference, …]}`; without, of the references of each call.

    Attributes:
        doc_frequency: in how many images' references each n-gram occurs; None without `gts`.
        ref_len: logarithm of the number of those images.
    """

    def __init__(self, gts: Captions | None = None, n: int = 4, sigma: float = 6.0) -> None:
        self._n = n
        self._sigma = sigma
        self._frequencies: Frequencies | None = None
        self.ref_len: float | None = None
        if gts is not None:
            scorer = CiderScorer(gts, n=n)
            self._frequencies, self.ref_len = scorer.frequencies, scorer.ref_len

    @property
    def doc_frequency(self) -> Mapping[Ngram, float] | None:
        """In how many images' references each n-gram occurs."""
        return None if self._frequencies is None else self._frequencies.counts

    @doc_frequency.setter
    def doc_frequency(self, counts: Mapping[Ngram, float] | None) -> None:
        self._frequencies = None if counts is None else given(counts)

    def compute_score(self, gts: Captions, res: Captions) -> Scores:
        """The mean score, and the scores of the images in the order of `gts`, shape (images,).

        Args:
            gts: `{image id: [reference, …]}`, tokens joined by blanks.
            res: `{image id: [candidate]}`.
        """
        paired(gts, res)
        return CiderScorer(gts, res, self._n, self._sigma, self._frequencies, self.ref_len).compute_score()

    def __str__(self) -> str:
        return "CIDEr"
