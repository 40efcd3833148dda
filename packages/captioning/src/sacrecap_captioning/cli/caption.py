"""`sacrecap caption`: captioners, and the data and sets they need; one file per subcommand."""

from __future__ import annotations

import click

from sacrecap.cli.group import LazyGroup

COMMANDS = {
    "scenes": "Draw a made-up data set: scenes of coloured shapes with varied captions.",
    "train": "Train a captioner, with a metric as its reward or without.",
    "evaluate": "Caption images with a captioner, and score the captions.",
    "retrieval": "Train the model whose reward is how well a caption finds its image.",
    "generate": "Write caption sets of a captioner, by sampling, search and other ways.",
    "sweep": "Train a grid of captioners, score their sets, draw diversity against accuracy.",
}
"""Subcommands by name; each lives in `sacrecap_captioning.cli.<name>` and loads when it is called."""


@click.group(name="caption", cls=LazyGroup, section="Models", modules="sacrecap_captioning.cli.", summaries=COMMANDS)
def command() -> None:
    """Captioners: train them with the metrics as rewards, make caption sets, draw the trade-off.

    Needs the extra train: pip install 'sacrecap[train]'.
    """
