"""Bleu."""

from sacrecap.compat.evaluation.bleu.bleu import Bleu

__all__ = ["Bleu"]
