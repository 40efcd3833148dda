"""CHAIR: the objects that captions name, against those that are there."""

from capeval.metrics.chair.metric import ChairI, ChairRecall, ChairS

__all__ = ["ChairI", "ChairRecall", "ChairS"]
