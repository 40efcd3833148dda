"""A Space that shows a board: teams' files are in its repository, the references in a private data set.

The Space has the secret HF_TOKEN, which may read the data set, and the variable REFERENCES, `owner/name`: the data set
that is downloaded to `hidden/`, where the Space's `contest/contest.toml` finds the references. A pull request adds
`contest/submissions/TEAM/FILE`; each restart makes the board anew.
"""

from __future__ import annotations

import html
import os
from pathlib import Path

import gradio
from huggingface_hub import snapshot_download

from sacrecap.boards import Contest
from sacrecap.report.html import render_html

HERE = Path(__file__).parent


def page() -> str:
    """The board's page, in a frame of its own."""
    snapshot_download(os.environ["REFERENCES"], repo_type="dataset", local_dir=HERE / "hidden")
    contest = Contest.load(HERE / "contest")
    if contest.private and not Path(contest.private_path).exists():  # each restart would draw another one
        raise FileNotFoundError(f"{contest.private_path}: run sacrecap board at home, and put it into the data set")
    board = contest.board()
    return f'<iframe srcdoc="{html.escape(render_html(board))}" style="width: 100%; height: 90vh; border: 0"></iframe>'


with gradio.Blocks(title="Captioning benchmark") as demo:
    gradio.HTML(page())

if __name__ == "__main__":
    # Gradio shows files of this folder only where it is told to; and never these.
    demo.launch(blocked_paths=[str(HERE / "hidden")])
