"""What EvalAI's worker imports of the evaluation script."""

from .main import evaluate

__all__ = ["evaluate"]
