"""BLEU: clipped n-gram precision with a brevity penalty.

Papineni, Roukos, Ward, Zhu, *BLEU: a method for automatic evaluation of machine translation* (ACL 2002); as image
captioning uses it: Vedantam, Zitnick, Parikh (CVPR 2015), appendix.

    P_n    = Σ_k min(h_k(c), max_j h_k(s_j)) / Σ_k h_k(c)
    b      = 1 if l_C > l_S else exp(1 − l_S / l_C)
    BLEU_N = b · exp(Σ_{n ≤ N} log(P_n) / N)

Where papers and programs differ: docs/reference/metrics/bleu.md.
"""

from typing import ClassVar

from sacrecap.metrics.base import Bears, NgramMetric
from sacrecap.metrics.declared import parameter

_BEARS = {1: Bears(0.5, 2, 0.9), 2: Bears(0.4, 2.5, 0.8), 3: Bears(0.4, 2.5, 0.8), 4: Bears(0.3, 2.5, 0.7)}


class Bleu(NgramMetric):
    """BLEU of n-grams up to `n`; the corpus score pools counts and lengths over all images."""

    n: int = parameter("the longest n-gram", default=4, least=1, most=4, in_name=True)
    smoothing: str = parameter(
        "how to treat orders without a match: coco adds its tiny constants; none makes the score 0; floor sets "
        "their numerator to k; add-k adds k to both sides of orders above 1 (Lin and Och 2004); exp halves again for "
        "each (NIST mteval)",
        default="coco",
        choices=("coco", "none", "floor", "add-k", "exp"),
    )
    k: float = parameter("the constant of smoothing floor and add-k", default=1.0, least=0.0)
    length: str = parameter(
        "the reference length for the brevity penalty, if there are several references",
        default="closest",
        choices=("closest", "average", "shortest"),
    )
    brevity: bool = parameter("whether to multiply by the brevity penalty b", default=True)
    stem: bool = parameter("reduce words to Snowball English stems first", default=False)

    title = "BLEU"
    summary = "Share of the candidate's n-grams that some reference has, if it is long enough."
    equation = (
        "BLEU_N = b · (∏_{n ≤ N} P_n)^(1/N),  P_n = Σ_k min(h_k(c), max_j h_k(s_j)) / Σ_k h_k(c),  "
        "b = min(1, exp(1 − l_S / l_C))"
    )
    source = "Papineni et al., ACL 2002; Vedantam et al., CVPR 2015, appendix; COCO caption evaluation"
    cites = ("papineni2002bleu",)
    upper = 1.0
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "caption shorter than n words": "tiny but not 0 with the COCO constants",
    }

    @property
    def bears(self) -> Bears | None:  # type: ignore[override]
        return _BEARS[self.n] if self.brevity else None


LENGTHS: dict[str, int] = {"candidate": 0, "closest": 1, "average": 2, "shortest": 3}
"""Columns of BLEU's statistics: numbers of words of the candidate, and of the references as `length` takes them."""
MATCHES = 4
"""The first of the columns of matches and n-grams, two for each order."""
