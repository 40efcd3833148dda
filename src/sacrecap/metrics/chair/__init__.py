"""CHAIR: the objects that captions name, compared with the objects in the image."""

from sacrecap.metrics.chair.metric import ChairI, ChairRecall, ChairS

__all__ = ["ChairI", "ChairRecall", "ChairS"]
