"""CIDEr-D, which the package calls CIDEr."""

from sacrecap.compat.evaluation.cider.cider import Cider

__all__ = ["Cider"]
