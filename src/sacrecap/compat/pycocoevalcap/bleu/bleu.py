"""BLEU-1 to BLEU-n."""

from __future__ import annotations

from sacrecap.compat.encoded_captions import Captions, SuiteMetric
from sacrecap.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer, Scores


class Bleu(SuiteMetric):
    """BLEU of n-grams up to 1, 2, … n words."""

    printed = "Bleu"

    def __init__(self, n: int = 4) -> None:
        self._n = n

    def compute_score(self, gts: Captions, res: Captions, verbose: int = 1) -> Scores:
        """BLEU-1 to BLEU-n of all images together, and for each of them the scores of the images.

        With `verbose` above 0, the counts behind the scores are printed.
        """
        return BleuScorer(n=self._n).with_all(gts, res).compute_score(option="closest", verbose=verbose)
