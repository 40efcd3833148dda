"""Bleu."""

from capeval.compat.evaluation.bleu.bleu import Bleu

__all__ = ["Bleu"]
