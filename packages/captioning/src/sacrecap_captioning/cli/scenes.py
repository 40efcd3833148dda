"""`sacrecap caption scenes`: the made-up data set."""

from __future__ import annotations

import click

from sacrecap.cli import options
from sacrecap.cli.interruptible import stage
from sacrecap_captioning.scenes import write_scenes


@click.command()
@click.argument("folder")
@click.option("--images", type=click.IntRange(10), default=3000, show_default=True, metavar="N", help="How many.")
@click.option(
    "--captions", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="Captions per image."
)
@click.option(
    "--shapes",
    type=click.IntRange(1, 3),
    default=3,
    show_default=True,
    metavar="N",
    help="Most shapes per scene; captioners learn scenes of one shape fastest.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Random seed.")
@options.quiet
def command(folder: str, images: int, captions: int, shapes: int, seed: int) -> None:
    """Draw scenes of coloured shapes into FOLDER: images/NAME.png, and dataset.json with captions, splits and objects.

    Of ten images eight are for training, one for validation and one for testing. A larger set with the same seed begins
    with the same images.
    """
    stage.text = "drawing"

    def show(done: int) -> None:
        stage.text = f"drawing: {done:,} of {images:,} images"

    write_scenes(folder, images, seed=seed, captions=captions, shapes=shapes, progress=show)
