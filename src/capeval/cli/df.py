"""`capeval df`: document frequencies, which CIDEr weighs words by."""

from __future__ import annotations

import json

import click

from capeval.cli import options
from capeval.cli.group import Group
from capeval.corpus.document_frequency import DocumentFrequency
from capeval.data import FORMATS, read_references
from capeval.metrics.base import spell

_output = click.option("--output", "-o", required=True, metavar="FILE", help="The file to write.")


@click.group(name="df", cls=Group)
def command() -> None:
    """Document frequencies: build from references, import a COCO pickle, merge, inspect."""


@command.command(short_help="Count in how many images each n-gram occurs.")
@click.argument("references")
@_output
@click.option("--n", type=click.IntRange(1, 4), default=4, show_default=True, help="The longest n-gram.")
@click.option("--stem", is_flag=True, help="Count stems, for cider; cider-d needs word forms.")
@options.tokenizer
@click.option("--reference-format", type=click.Choice(FORMATS), help="Instead of recognising it from content.")
@click.option("--split", metavar="NAME", help="Split of a Karpathy file, such as train.")
@options.threads
@options.quiet
def build(
    references: str,
    output: str,
    n: int,
    stem: bool,
    tokenizer: str,
    reference_format: str | None,
    split: str | None,
    threads: int,
) -> None:
    """Count, for each n-gram, in how many images' REFERENCES it occurs."""
    options.check_outputs(output=output)
    captions = read_references(references, format=reference_format, split=split)
    DocumentFrequency.build(captions, tokenizer=tokenizer, n=n, stem=stem, threads=threads).save(output)


@command.command(name="import", short_help="Read a COCO pickle, executing nothing in it.")
@click.argument("pickle")
@_output
def import_(pickle: str, output: str) -> None:
    """Read a COCO document-frequency PICKLE, without executing anything in it."""
    options.check_outputs(output=output)
    DocumentFrequency.import_pickle(pickle).save(output)


@command.command(short_help="Add files up, as if counted together.")
@click.argument("files", nargs=-1, required=True)
@_output
def merge(files: tuple[str, ...], output: str) -> None:
    """Add FILES up, as if their references had been counted together; they must share no image."""
    options.check_outputs(output=output)
    total = DocumentFrequency.load(files[0])
    for file in files[1:]:
        total = total.merge(DocumentFrequency.load(file))
    total.save(output)


@command.command()
@click.argument("file")
@options.table_or_json
def info(file: str, format_: str) -> None:
    """Say what is in FILE."""
    frequencies = DocumentFrequency.load(file)
    facts: dict[str, str | int] = {
        "images": frequencies.documents,
        "n-grams": frequencies.ngrams,
        "words": frequencies.words,
        "n": frequencies.n,
        "tokenizer": frequencies.tokenizer,
        "stem": frequencies.stem,
    }
    if format_ == "json":
        options.emit(json.dumps(facts))
        return
    options.emit("\n".join(f"{name:<10} {_spell(value)}" for name, value in facts.items()))


def _spell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else spell(value)
