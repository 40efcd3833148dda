"""The scorer under CIDEr-D."""

from __future__ import annotations

from collections.abc import Sequence

from sacrecap.compat.encoded_captions import cook_refs, cook_test, precook
from sacrecap.compat.pyciderevalcap.ciderD import ciderD_scorer

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]


class CiderScorer(ciderD_scorer.CiderScorer):
    """Scores by document frequencies of the references that are scored."""

    def __init__(
        self, test: str | None = None, refs: Sequence[str] | None = None, n: int = 4, sigma: float = 6.0
    ) -> None:
        super().__init__("corpus", test, refs, n, sigma)
