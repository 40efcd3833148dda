"""The metrics as a module of Hugging Face's `evaluate` library.

`evaluate.load(sacrecap.huggingface.MODULE)` loads it; see the how-to *Use in a training loop*.
"""

from pathlib import Path

__all__ = ["MODULE"]
__dir__ = __all__.copy

MODULE = str(Path(__file__).with_name("caption_scores.py"))
"""The path of the module, which `evaluate.load` takes."""
