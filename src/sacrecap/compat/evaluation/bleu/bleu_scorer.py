"""The scorer under BLEU."""

from sacrecap.compat.bleuscorer import BleuScorer

__all__ = ["BleuScorer"]
