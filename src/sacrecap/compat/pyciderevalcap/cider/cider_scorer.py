"""The scorer under CIDEr."""

from sacrecap.compat.encoded_captions import cook_refs, cook_test, precook
from sacrecap.compat.pyciderevalcap.ciderD import ciderD_scorer
from sacrecap.metrics import CiderPaper, Metric

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]


class CiderScorer(ciderD_scorer.CiderScorer):
    """The scorer of CIDEr as its authors' program counts it: a cosine, without clipping, length penalty and stems."""

    @property
    def metric(self) -> Metric:
        return CiderPaper(n=self.n, stem=False)
