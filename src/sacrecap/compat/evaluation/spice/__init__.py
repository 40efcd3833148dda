"""Spice."""

from sacrecap.compat.evaluation.spice.spice import Spice

__all__ = ["Spice"]
