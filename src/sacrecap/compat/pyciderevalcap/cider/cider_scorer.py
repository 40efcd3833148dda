"""The scorer under CIDEr."""

from sacrecap.compat.ciderscorer import CosineScorer as CiderScorer
from sacrecap.compat.cooked import cook as cook_test
from sacrecap.compat.cooked import cook as precook
from sacrecap.compat.cooked import cook_refs

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]
