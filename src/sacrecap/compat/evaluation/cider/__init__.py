"""CIDEr-D, which the package calls CIDEr."""

from capeval.compat.evaluation.cider.cider import Cider

__all__ = ["Cider"]
