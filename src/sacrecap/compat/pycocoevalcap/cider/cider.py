"""CIDEr-D, which the suite calls CIDEr."""

from __future__ import annotations

from sacrecap.compat.encoded_captions import Captions, SuiteMetric
from sacrecap.compat.pyciderevalcap.ciderD.ciderD_scorer import CiderScorer, Scores


class Cider(SuiteMetric):
    """CIDEr-D of n-grams up to `n` words; as in the original, `test` and `refs` have no effect.

    `df`, which some versions of the suite take, names the file that document frequencies come from; by default they are
    those of the references of each call.
    """

    printed = "CIDEr"

    def __init__(
        self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0, *, df: str = "corpus"
    ) -> None:
        self._n = n
        self._sigma = sigma
        self._empty = CiderScorer(df, n=n, sigma=sigma)

    def compute_score(self, gts: Captions, res: Captions) -> Scores:
        """The mean score, and the scores of the images in the order of `gts`, shape (images,)."""
        return self._empty.copy_empty().with_all(gts, res).compute_score()
