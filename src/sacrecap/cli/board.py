"""`sacrecap board`: a contest in a folder, or systems and hidden references, as a board."""

from __future__ import annotations

import os

import click

from sacrecap.boards.examination import CaptionLimits
from sacrecap.choices import Tokenizer
from sacrecap.cli import options
from sacrecap.cli.group import Command, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import Output, output
from sacrecap.cli.system_names import in_folder, named
from sacrecap.errors import UsageError
from sacrecap.resources.needs import Needs

_PERCENT = click.IntRange(0, 100)
_USUAL = CaptionLimits()
_DECLARED = {"metrics", "tokenizer", "objects", "rank_by", "title", *vars(_USUAL)}
"""What a contest's folder declares in place of the command line."""


@click.command(
    cls=Command,
    values=(options.NEEDS, output(elsewhere=False)),
    common="--site --metrics --rank-by --title --df --format --threads --quiet".split(),
)
@click.argument("references", metavar="FOLDER | REFERENCES")
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option("-o", "--site", metavar="DIR", help="Write the board's page and its JSON, index.html and board.json.")
@takes(
    """
    --rank-by METRIC  Whose ranks the board shows: CIDEr-D by default, or else the first.
    --title TEXT  The heading of the page.
    --most-degenerate PERCENT  Refuse a file with more captions that are empty, too long or too short, or repeat one
        word.
    --most-same PERCENT  Refuse a file with more captions that are one and the same.
    --longest-words N  A caption of more words is too long.
    """,
    heading="Captions",
    most_degenerate={"type": _PERCENT, "default": _USUAL.most_degenerate},
    most_same={"type": _PERCENT, "default": _USUAL.most_same},
    longest_words={"type": click.IntRange(1), "default": _USUAL.longest_words},
)
@options.metrics
@options.tokenizer
def command(
    references: str,
    systems: tuple[str, ...],
    site: str | None,
    metrics: str,
    tokenizer: Tokenizer,
    needs: Needs,
    output: Output,
    rank_by: str | None,
    title: str | None,
    **limits: int,
) -> None:
    """Rank systems on references that stay hidden.

    FOLDER is a contest: its contest.toml declares references, metrics, dates and rules, submissions/TEAM/ has the files
    of a team, of which the best is ranked. Or give REFERENCES and SYSTEMS, as for sacrecap compare, each a team of its
    own.

    The board tells four decimals of each score, ranks, and which pairs a test separates; no number on it hangs on
    single images. Write it with -o where a web server finds it: its page needs no other file.
    """
    from sacrecap.boards import Contest, board
    from sacrecap.boards.contest_board import write_site

    output.check()
    if not systems and os.path.isdir(references):
        for parameter in options.on_command_line():
            if parameter.name in _DECLARED:
                place = os.path.join(references, "contest.toml")
                raise UsageError(f"{parameter.opts[0]} is declared in {place}; change it there")
        contest = Contest.load(references)
        stage.text = "scoring"
        of_contest = contest.board(needs=needs)
        if site is not None:
            of_contest.write(site)
        output.show(of_contest)
        return
    teams = {name: {name: path} for name, path in named(in_folder(systems)).items()}
    stage.text = "scoring"
    rules = CaptionLimits(**limits)
    result = board(references, teams, metrics, rank_by=rank_by, tokenizer=tokenizer, limits=rules, needs=needs)
    if site is not None:
        write_site(site, result, [references], title=title)
    output.show(result)
