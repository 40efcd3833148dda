"""The scorer under CIDEr-D."""

from capeval.compat.ciderscorer import Scorer as CiderScorer
from capeval.compat.cooked import cook as cook_test
from capeval.compat.cooked import cook as precook
from capeval.compat.cooked import cook_refs

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]
