"""Spice."""

from capeval.compat.evaluation.spice.spice import Spice

__all__ = ["Spice"]
