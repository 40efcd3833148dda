"""`sacrecap caption generate`: caption sets of a captioner."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.interruptible import stage
from sacrecap.data.writers import write_caption_sets
from sacrecap_captioning.cli import shared


@click.command()
@shared.captioner
@click.option(
    "--method",
    default="rs",
    show_default=True,
    metavar="METHOD",
    help="rs, beam, diverse-beam, rci, gnc, ss or drv; a name may carry parameters: rs(temperature=0.7).",
)
@click.option(
    "--captions", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="Captions per image."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Most words of a caption; by default as in training, or 20 tokens for a checkpoint.",
)
@click.option("--output", "-o", default="-", show_default=True, metavar="FILE", help="The sets as JSON; - is stdout.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Seed of everything random."
)
@options.quiet
def command(captioner: str, data: str | None, split: str, output: str, features: str | None, **how: Any) -> None:
    """Write several captions of each image: what sacrecap diversity scores.

    RUN is a folder of sacrecap caption train; CHECKPOINT an image-to-text checkpoint of transformers: its folder, or
    owner/name on the hub. An image's captions depend on the seed, not on the batch. Captions are kept in
    FILE.part.jsonl as they are made: the same command continues an interrupted run.
    """
    options.check_outputs(output=output)
    listed = shared.listed_images(captioner, data, split)
    is_device = os.path.exists(output) and not os.path.isfile(output)
    journal = None if output == "-" or is_device else f"{output}.part.jsonl"
    sets = shared.caption_sets(captioner, features, data=data, listed=listed, split=split, journal=journal, **how)
    stage.text = "writing"
    write_caption_sets(output, sets)
    if journal is not None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(journal)
