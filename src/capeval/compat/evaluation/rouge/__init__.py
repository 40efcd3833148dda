"""Rouge."""

from capeval.compat.evaluation.rouge.rouge import Rouge

__all__ = ["Rouge"]
