"""`sacrecap board`: a folder of systems and hidden references as a board."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from sacrecap.boards.leaks import CaptionLimits
from sacrecap.cli import options
from sacrecap.cli.group import Command, Value, declared
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import output
from sacrecap.errors import DataError

if TYPE_CHECKING:
    from sacrecap.boards import Board
    from sacrecap.choices import Tokenizer
    from sacrecap.cli.output import Output
    from sacrecap.resources.needs import Needs

_PERCENT = click.IntRange(0, 100)
_LIMITS = Value(
    "limits",
    "Captions",
    CaptionLimits,
    declared(
        """
        --most-degenerate PERCENT  Refuse a file with more captions that are empty, too long or too short, or repeat one
            word.
        --most-same PERCENT  Refuse a file with more captions that are one and the same.
        --longest-words N  A caption of more words is too long.
        """,
        most_degenerate={"type": _PERCENT, "default": 5},
        most_same={"type": _PERCENT, "default": 30},
        longest_words={"type": click.IntRange(1), "default": 100},
    ),
)


@click.command(
    cls=Command,
    values=(options.NEEDS, _LIMITS, output(elsewhere=False)),
    common="--site --metrics --rank-by --title --df --format --threads --quiet".split(),
)
@click.argument("folder")
@click.option("-o", "--site", metavar="DIR", help="Write the board's page and its JSON, index.html and board.json.")
@options.metrics
@options.tokenizer
@click.option("--rank-by", metavar="METRIC", help="Whose ranks the board shows: CIDEr-D by default, or else the first.")
@click.option("--title", metavar="TEXT", help="The heading of the page.")
def command(
    folder: str,
    site: str | None,
    metrics: str,
    tokenizer: Tokenizer,
    rank_by: str | None,
    title: str | None,
    limits: CaptionLimits,
    needs: Needs,
    output: Output,
) -> None:
    """Rank the systems of FOLDER on references that stay hidden.

    FOLDER has references.json and systems/: each file in it is a system's captions, each folder in it the files of one
    team, of which the best is ranked. Files are as for sacrecap score.

    The board tells four decimals of each score, ranks, and which pairs a test separates; no number on it hangs on
    single images. Write it with -o where a web server finds it: its page needs no other file.
    """
    from sacrecap.boards import board, in_folder

    output.check()
    stage.text = "scoring"
    made = board(
        *in_folder(folder),
        metrics,
        rank_by=rank_by,
        tokenizer=tokenizer,
        limits=limits,
        needs=needs,
        threads=needs.threads,
    )
    if site is not None:
        _write(made, site, title)
    output.show(made)


def _write(board: Board, site: str, title: str | None) -> None:
    """Writes the page and the JSON."""
    from sacrecap.data.atomic import atomic_write
    from sacrecap.report.html import write_report
    from sacrecap.report.printing import json_text

    try:
        os.makedirs(site, exist_ok=True)
    except OSError as error:
        raise DataError(f"{site}: cannot be made: {error.strerror}") from None
    with atomic_write(os.path.join(site, "board.json")) as file:
        file.write(json_text(board.to_dict()) + "\n")
    write_report(board, os.path.join(site, "index.html"), title=title)
