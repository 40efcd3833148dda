"""`sacrecap rank`: an image's references against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import output

if TYPE_CHECKING:
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.cli.output import Output
    from sacrecap.resources.needs import Needs


@click.command(cls=Command, values=(options.NEEDS, caption_files(), output(scores=False)))
@click.argument("references")
@click.option("--image", "ranked", multiple=True, metavar="IMAGE_ID", help="Rank this image; may be repeated.")
@click.option("--all", "all_", is_flag=True, help="Rank every image.")
@options.metrics
def command(
    references: str,
    ranked: tuple[str, ...],
    all_: bool,
    metrics: str,
    needs: Needs,
    files: CaptionFiles,
    output: Output,
) -> None:
    """Rank the REFERENCES of an image against each other, by each metric.

    Each reference is scored against the image's other references: the one that ranks first agrees most with the
    others. The table is in the order of the last metric.
    """
    from sacrecap.judgments import rank_references

    if bool(ranked) == all_:
        raise click.UsageError("name images with --image, or rank every image with --all")
    output.check()
    stage.text = "reading"
    captions = files.references(references)
    stage.text = "scoring"
    ranking = rank_references(
        captions, ranked or None, metrics, tokenizer=files.tokenizer, needs=needs, threads=needs.threads
    )
    output.show(ranking)
