"""CHAIR: the objects that captions name, compared with the objects in the image."""

from capeval.metrics.chair.metric import ChairI, ChairRecall, ChairS

__all__ = ["ChairI", "ChairRecall", "ChairS"]
