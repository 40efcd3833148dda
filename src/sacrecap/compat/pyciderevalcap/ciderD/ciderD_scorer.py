"""The scorer under CIDEr-D."""

from sacrecap.compat.ciderscorer import IdfScorer as CiderScorer
from sacrecap.compat.cooked import cook_refs, cook_test, precook

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]
