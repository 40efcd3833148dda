"""The scorer under BLEU."""

from capeval.compat.bleuscorer import BleuScorer

__all__ = ["BleuScorer"]
