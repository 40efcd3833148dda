"""VIFIDEL: the metric, and the plans that explain its scores."""

from sacrecap.metrics.vifidel.metric import Vifidel

__all__ = ["Vifidel"]
