"""SPICE: the metric, scene graphs, and the comparison of graphs that explains its scores."""

from sacrecap.metrics.spice.metric import Spice

__all__ = ["Spice"]
