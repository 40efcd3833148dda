"""`sacrecap lm`: language models of captions, by which fluency can judge without references."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.group import Command, Group
from sacrecap.corpus.language_model import LanguageModel

if TYPE_CHECKING:
    from sacrecap.cli.caption_files import CaptionFiles


@click.group(name="lm", cls=Group)
def command() -> None:
    """Language models of captions."""


@command.command(cls=Command, values=(caption_files(),), short_help="Learn how captions go on.")
@click.argument("references")
@click.option("--output", "-o", metavar="FILE", required=True, help="The file to write.")
@click.option("--n", type=click.IntRange(1, 4), default=3, help="The longest n-gram: the n of fluency.")
@options.threads
@options.quiet
def build(references: str, output: str, n: int, files: CaptionFiles, threads: int) -> None:
    """Learn from all captions of REFERENCES, such as those of a training split, for fluency(references=no)."""
    options.check_outputs(output=output)
    captions = files.references(references)
    LanguageModel.build(captions, tokenizer=files.tokenizer, n=n, threads=threads).save(output)
