"""VIFIDEL: the metric, and the plans that explain its scores."""

from capeval.metrics.vifidel.metric import Vifidel

__all__ = ["Vifidel"]
