"""`sacrecap caption generate`: caption sets of a captioner."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.interruptible import stage
from sacrecap.data.writers import write_caption_sets
from sacrecap_captioning.cli import places
from sacrecap_captioning.cli.checkpoint import checkpoint
from sacrecap_captioning.cli.early import listed_images
from sacrecap_captioning.cli.threads import one_thread, torch_needed


@click.command()
@click.argument("captioner", metavar="RUN|CHECKPOINT")
@click.option("--data", metavar="FOLDER", help="The captioned images; those of the run by default.")
@click.option("--split", default="test", show_default=True, metavar="NAME", help="Which split of them.")
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
@places.features
@options.captioning
@checkpoint
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
    listed = listed_images(captioner, data, split)
    journal = None if output == "-" or is_device(output) else f"{output}.part.jsonl"
    sets = caption_sets(captioner, features, data=data, listed=listed, split=split, journal=journal, **how)
    stage.text = "writing"
    write_caption_sets(output, sets)
    if journal is not None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(journal)


def caption_sets(captioner: str, features: str | None, **how: Any) -> dict[str, list[str]]:
    """What `generate` makes, with the value of `--features`; `how` are its other arguments."""
    stage.text = "loading the captioner"
    with torch_needed("captioning images"):
        from sacrecap_captioning.decoding.generation import generate, is_run
    if is_run(captioner):
        one_thread()
    file, cache = places.places(features)
    return generate(captioner, features=file, cache=cache, progress=_show, **how)


def is_device(path: str) -> bool:
    """Whether the output is a pipe, a device or similar: then no partial file is kept."""
    return os.path.exists(path) and not os.path.isfile(path)


def _show(what: str, done: int, images: int) -> None:
    """A bar, for the line that a terminal shows."""
    filled = 20 * done // max(1, images)
    stage.text = f"{what} {'█' * filled}{'░' * (20 - filled)} {done:,} of {images:,} images"
