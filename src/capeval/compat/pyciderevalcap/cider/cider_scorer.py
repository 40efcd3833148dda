"""The scorer under CIDEr."""

from capeval.compat.ciderscorer import CosineScorer as CiderScorer
from capeval.compat.cooked import cook as cook_test
from capeval.compat.cooked import cook as precook
from capeval.compat.cooked import cook_refs

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]
