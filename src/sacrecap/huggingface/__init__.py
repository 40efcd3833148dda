"""The metrics as a module of Hugging Face's `evaluate` library.

`evaluate.load(capeval.huggingface.MODULE)` loads it; see the how-to *Use in a training loop*.
"""

from pathlib import Path

MODULE = str(Path(__file__).with_name("caption_scores.py"))
"""The path of the module, which `evaluate.load` takes."""
