"""`capeval rank`: an image's references against each other."""

from __future__ import annotations

import click

from capeval.cli import options
from capeval.cli.interruptible import stage
from capeval.data import FORMATS, read_references
from capeval.registry import groups


@click.command()
@click.argument("references")
@click.option("--image", "images", multiple=True, metavar="IMAGE_ID", help="Rank this image; may be repeated.")
@click.option("--all", "all_", is_flag=True, help="Rank every image.")
@click.option(
    "--metrics",
    default="coco",
    show_default=True,
    metavar="LIST",
    help=f"Comma-separated names or groups ({', '.join(groups())}); a name may carry parameters: cider-d(sigma=5). "
    "The table is in the order of the last one.",
)
@click.option(
    "--df",
    default="corpus",
    show_default=True,
    metavar="corpus|FILE",
    help="What CIDEr weighs words by: all these references, or a file made by capeval df.",
)
@click.option(
    "--meteor-resources", metavar="DIR", help="Folder of a METEOR 1.5 release; an installed pycocoevalcap by default."
)
@options.tokenizer
@click.option("--reference-format", type=click.Choice(FORMATS), help="Instead of recognising it from content.")
@click.option("--split", metavar="NAME", help="Split of a Karpathy file, such as test.")
@options.printing
@options.threads
@options.quiet
def command(
    references: str,
    images: tuple[str, ...],
    all_: bool,
    metrics: str,
    df: str,
    meteor_resources: str | None,
    tokenizer: str,
    reference_format: str | None,
    split: str | None,
    format_: str,
    output: str,
    threads: int,
) -> None:
    """Rank the REFERENCES of an image against each other, by each metric.

    Each reference is scored against the image's other references: the one that ranks first says most what the others
    say.
    """
    from capeval.report.ranking import render
    from capeval.study import rank_references

    if bool(images) == all_:
        raise click.UsageError("name images with --image, or rank every image with --all")
    options.check_outputs(output=output)
    frequencies = None
    if df != "corpus":
        from capeval.document_frequency import DocumentFrequency

        frequencies = DocumentFrequency.load(df)
    stage.text = "reading"
    captions = read_references(references, format=reference_format, split=split)
    stage.text = "scoring"
    ranking = rank_references(
        captions,
        images or None,
        metrics,
        tokenizer=tokenizer,
        document_frequency=frequencies,
        meteor_resources=meteor_resources,
        threads=threads,
        progress=_building,
    )
    options.emit(render(ranking, format_, colour=options.colour(output)), output)


def _building(share: float) -> None:
    stage.text = f"building METEOR's tables, once: {share:.0%}" if share < 1 else "scoring"
