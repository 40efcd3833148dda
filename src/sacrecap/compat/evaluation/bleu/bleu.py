"""BLEU, by the name it has in that package."""

from sacrecap.compat.bleuscorer import Scores
from sacrecap.compat.encoded_captions import Captions
from sacrecap.compat.pycocoevalcap.bleu import bleu


class Bleu(bleu.Bleu):
    """BLEU of n-grams up to 1, 2, … n words; prints nothing."""

    def compute_score(self, gts: Captions, res: Captions, verbose: int = 0) -> Scores:
        return super().compute_score(gts, res, verbose)

    def __str__(self) -> str:
        return "BLEU"
