"""The scorer under CIDEr."""

from sacrecap.compat.ciderscorer import CosineScorer as CiderScorer
from sacrecap.compat.cooked import cook_refs, cook_test, precook

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]
