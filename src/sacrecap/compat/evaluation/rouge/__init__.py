"""Rouge."""

from sacrecap.compat.evaluation.rouge.rouge import Rouge

__all__ = ["Rouge"]
