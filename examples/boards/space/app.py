"""A Space that shows a board: `systems/` is in its repository, the references are in a private data set.

The Space has the secret HF_TOKEN, which may read the data set, and the variable REFERENCES, `owner/name`, in which
`references.json` is. A pull request adds a file to `systems/`; each restart makes the board anew.
"""

from __future__ import annotations

import html
import os
from pathlib import Path

import gradio
from huggingface_hub import hf_hub_download

from sacrecap.boards import board, in_folder
from sacrecap.report.html import render_html

HERE = Path(__file__).parent
METRICS = "cider-d, bleu-4, meteor, rouge-l"


def page() -> str:
    """The board's page, in a frame of its own."""
    references = hf_hub_download(os.environ["REFERENCES"], "references.json", repo_type="dataset", local_dir=HERE)
    made = board(references, in_folder(HERE).teams, METRICS)
    text = render_html(made, title="Captioning benchmark")
    return f'<iframe srcdoc="{html.escape(text)}" style="width: 100%; height: 90vh; border: 0"></iframe>'


with gradio.Blocks(title="Captioning benchmark") as demo:
    gradio.HTML(page())

if __name__ == "__main__":
    demo.launch()
