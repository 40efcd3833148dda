"""`sacrecap rank`: an image's references against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.interruptible import stage

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.resources.needs import Needs


@click.command()
@click.argument("references")
@click.option("--image", "ranked", multiple=True, metavar="IMAGE_ID", help="Rank this image; may be repeated.")
@click.option("--all", "all_", is_flag=True, help="Rank every image.")
@options.metrics
@options.needs
@options.tokenizer
@caption_files()
@options.printing
@options.threads
@options.quiet
def command(
    references: str,
    ranked: tuple[str, ...],
    all_: bool,
    metrics: str,
    needs: Needs,
    tokenizer: Tokenizer,
    files: CaptionFiles,
    format_: str,
    output: str,
    threads: int,
) -> None:
    """Rank the REFERENCES of an image against each other, by each metric.

    Each reference is scored against the image's other references: the one that ranks first agrees most with the
    others. The table is in the order of the last metric.
    """
    from sacrecap.judgments import rank_references
    from sacrecap.report.ranking import render

    if bool(ranked) == all_:
        raise click.UsageError("name images with --image, or rank every image with --all")
    options.check_outputs(output=output)
    stage.text = "reading"
    captions = files.references(references)
    stage.text = "scoring"
    ranking = rank_references(captions, ranked or None, metrics, tokenizer=tokenizer, needs=needs, threads=threads)
    options.emit(render(ranking, format_, colour=options.colour(output), width=options.width(output)), output)
