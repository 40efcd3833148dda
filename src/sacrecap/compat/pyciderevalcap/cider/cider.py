"""CIDEr of numbered samples, by document frequencies that have a name."""

from sacrecap.compat.pyciderevalcap.cider.cider_scorer import CiderScorer
from sacrecap.compat.pyciderevalcap.ciderD.ciderD import CiderD


class Cider(CiderD):
    """CIDEr without stems; `df` as in CIDEr-D."""

    printed = "CIDEr"
    scorer = CiderScorer

    def __init__(self, n: int = 4, df: str = "corpus") -> None:
        super().__init__(n, df=df)
