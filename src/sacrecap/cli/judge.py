"""`sacrecap judge`: the texts by which language models are asked about captions."""

from __future__ import annotations

import click

from sacrecap.cli import options
from sacrecap.metrics.judge.prompts import ASKED, Asked, prompt


@click.command(name="judge")
@click.argument("asked", type=click.Choice(ASKED))
@options.quiet
def command(asked: Asked) -> None:
    """Print what a judge is asked, for --judge-prompt to change: sacrecap judge rating > mine.txt."""
    options.emit(prompt(asked, "default").text)
