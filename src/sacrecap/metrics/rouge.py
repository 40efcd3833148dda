"""ROUGE: recall of the references' n-grams, common subsequences or skip bigrams.

Lin, *ROUGE: a package for automatic evaluation of summaries* (2004), as Vedantam, Zitnick, Parikh (CVPR 2015) write it
for image captions (appendix, eq. 9 to 15).

    ROUGE-N(c, S) = Σ_j Σ_k min(h_k(c), h_k(s_j)) / Σ_j Σ_k h_k(s_j)
    ROUGE-L(c, S) = (1 + β²) R P / (R + β² P),  R = max_j lcs(c, s_j) / |s_j|,  P = max_j lcs(c, s_j) / |c|
    ROUGE-S(c, S) : the same F over ordered word pairs at most `distance` words apart

Where papers and programs differ: docs/reference/metrics/rouge.md.
"""

import math
from typing import ClassVar

from sacrecap.metrics.base import Bears, NgramMetric
from sacrecap.metrics.declared import parameter

_BEARS = {1: Bears(0.5, 2, 0.8), 2: Bears(0.3, 5, 0.6), 3: Bears(0.4, math.inf, 0.4), 4: Bears(0.4, math.inf, 0.3)}
_LIN = "Lin 2004; Vedantam et al., CVPR 2015, appendix, "


class RougeN(NgramMetric):
    """Recall of the references' n-grams of length `n`, over all references together; corpus score = mean."""

    n: int = parameter("length of the n-grams", default=2, least=1, most=4, in_name=True)
    stem: bool = parameter("reduce words to Snowball English stems first", default=False)

    title = "ROUGE"
    summary = "Share of the references' n-grams that the candidate has."
    equation = "ROUGE-N = Σ_j Σ_k min(h_k(c), h_k(s_j)) / Σ_j Σ_k h_k(s_j)"
    source = _LIN + "eq. 9"
    cites = ("lin2004rouge",)
    upper = 1.0
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "references shorter than n words": "0 when no reference has an n-gram",
    }
    arithmetic = "rouge-n"

    @property
    def bears(self) -> Bears:  # type: ignore[override]
        return _BEARS[self.n]


class RougeL(NgramMetric):
    """F of the longest common subsequence; corpus score = mean."""

    beta: float = parameter("weight of recall; COCO's 1.2, the CIDEr paper's 2", default=1.2, above=0.0)
    stem: bool = parameter("reduce words to Snowball English stems first", default=False)

    title = "ROUGE-L"
    summary = "The candidate shares long word sequences, in order, with a reference."
    equation = "ROUGE-L = (1 + β²) R P / (R + β² P),  R = max_j lcs(c, s_j)/|s_j|,  P = max_j lcs(c, s_j)/|c|"
    source = _LIN + "eq. 10–12; COCO caption evaluation"
    cites = ("lin2004rouge",)
    upper = 1.0
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0, but 1 when a reference is empty too, as in the COCO code"}
    bears = Bears(0.3, 2.5, 0.6)


class RougeS(NgramMetric):
    """F of skip bigrams: ordered word pairs at most `distance` apart; corpus score = mean."""

    distance: int = parameter("how many words apart the two words of a pair may be", default=4, least=1, most=1000)
    beta: float = parameter("weight of recall", default=2.0, above=0.0)
    stem: bool = parameter("reduce words to Snowball English stems first", default=False)

    title = "ROUGE-S"
    summary = "The candidate shares ordered word pairs, gaps allowed, with a reference."
    equation = "ROUGE-S = (1 + β²) R P / (R + β² P) over skip bigrams"
    source = _LIN + "eq. 13–15"
    cites = ("lin2004rouge",)
    upper = 1.0
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0", "caption of one word": "0"}
    bears = Bears(0.4, 5, 0.6)
