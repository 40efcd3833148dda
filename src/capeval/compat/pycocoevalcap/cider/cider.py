"""CIDEr-D, which the suite calls CIDEr."""

from __future__ import annotations

from capeval.compat.captions import Captions, paired
from capeval.compat.ciderscorer import Scores
from capeval.compat.pycocoevalcap.cider.cider_scorer import CiderScorer


class Cider:
    """CIDEr-D of n-grams up to `n` words, by document frequencies of the references; `test` and `refs` are not used."""

    def __init__(self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0) -> None:  # noqa: ARG002
        self._n = n
        self._sigma = sigma

    def compute_score(self, gts: Captions, res: Captions) -> Scores:
        """The mean score, and the scores of the images in the order of `gts`, shape (images,).

        Args:
            gts: `{image id: [reference, …]}`, tokens joined by blanks.
            res: `{image id: [candidate]}`.
        """
        _, candidates, references = paired(gts, res)
        scorer = CiderScorer(n=self._n, sigma=self._sigma)
        for candidate, captions in zip(candidates, references, strict=True):
            scorer += (candidate, captions)
        return scorer.compute_score()

    def method(self) -> str:
        """The name that is printed."""
        return "CIDEr"
