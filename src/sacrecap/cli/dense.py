"""`sacrecap dense`: timed captions of videos."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sacrecap.choices import ANNOTATORS, Annotators, Tokenizer
from sacrecap.cli import options
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import output
from sacrecap.errors import UsageError

if TYPE_CHECKING:
    from sacrecap.cli.output import Output
    from sacrecap.resources.needs import Needs


def _numbers(_: click.Context, __: click.Parameter, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--tiou takes numbers separated by commas, such as 0.3,0.5, got {text!r}") from None


@click.command(cls=Command, values=(options.NEEDS, output()))
@click.argument("references")
@click.argument("candidates")
@options.metrics
@options.tokenizer
@click.option(
    "--add-references", "more", multiple=True, metavar="FILE", help="References of another annotator; may be repeated."
)
@click.option(
    "--tiou",
    "tious",
    default="0.3,0.5,0.7,0.9",
    callback=_numbers,
    metavar="LIST",
    help="Least overlaps in time, intersection over union, separated by commas.",
)
@click.option(
    "--annotators",
    type=click.Choice(ANNOTATORS),
    default="together",
    help="What several annotators mean for SODA_c: one story, or the one who agrees best.",
)
@click.option(
    "--most", type=click.IntRange(1), default=1000, metavar="N", help="Candidates of a video that count, the first N."
)
def command(
    references: str,
    candidates: str,
    metrics: str,
    tokenizer: Tokenizer,
    more: tuple[str, ...],
    tious: tuple[float, ...],
    annotators: Annotators,
    most: int,
    needs: Needs,
    output: Output,
) -> None:
    """Score timed CANDIDATES of videos against timed REFERENCES: each metric at each overlap, and SODA_c.

    Files are ActivityNet Captions' annotations and submissions in JSON, or JSON and JSON lines of rows with video_id,
    start, end (in seconds) and caption.
    """
    from sacrecap.scoring.dense import dense

    output.check()
    stage.text = "scoring"
    output.show(
        dense(
            [references, *more],
            candidates,
            metrics,
            tious=tious,
            annotators=annotators,
            most=most,
            tokenizer=tokenizer,
            needs=needs,
            threads=needs.threads,
        )
    )
