"""`sacrecap df`: document frequencies, which CIDEr uses to weight words."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import caption_files
from sacrecap.cli.engine import ENGINE
from sacrecap.cli.group import Command, Group, Value, declared
from sacrecap.corpus import named_frequencies
from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.corpus.published_frequencies import PUBLISHED
from sacrecap.errors import UsageError
from sacrecap.metrics.declared import spell

if TYPE_CHECKING:
    from sacrecap.cli.caption_files import CaptionFiles
    from sacrecap.cli.engine import EngineChoice


class KeptCounts(NamedTuple):
    """Where counts go: to a file, or under a name."""

    output: str | None
    name: str | None
    force: bool

    def check(self) -> None:
        """Raises, before anything is counted, if the counts have no destination, two, or one that is taken."""
        if (self.output is None) == (self.name is None):
            raise UsageError(
                "give either -o FILE, the file to write, or --name NAME, to find the counts again from any folder"
            )
        if self.name is not None:
            named_frequencies.check_free(self.name, force=self.force)
        elif self.force:
            raise UsageError("--force is for --name; a file is replaced without it")
        else:
            options.check_outputs(output=self.output)

    def keep(self, frequencies: DocumentFrequency, source: str) -> None:
        if self.name is not None:
            named_frequencies.keep(frequencies, self.name, source=source, force=self.force)
        elif self.output is not None:
            frequencies.save(self.output)


KEPT = Value(
    "kept",
    "Output",
    KeptCounts,
    declared(
        """
        -o, --output FILE  The file to write.
        --name NAME  Keep them under this name instead: --df NAME finds them from any folder.
        --force  Replace the counts that have this name.
        """,
        force={"is_flag": True},
    ),
)


@click.group(name="df", cls=Group)
def command() -> None:
    """Document frequencies: build from references, import a COCO pickle, merge, list, inspect."""


@command.command(
    cls=Command,
    values=(KEPT, caption_files(), ENGINE),
    common="--output --name --n --stem --language-model --engine --threads --quiet".split(),
    short_help="Count in how many images each n-gram occurs.",
)
@click.argument("references")
@click.option("--n", type=click.IntRange(1, 4), help="The longest n-gram: 4, or 3 with --language-model, by default.")
@click.option("--stem", is_flag=True, help="Count stems, for cider-paper; cider-d needs word forms.")
@click.option(
    "--language-model", is_flag=True, help="Learn how captions go on instead: for fluency(references=no) by --lm FILE."
)
@options.threads
@options.quiet
def build(
    references: str,
    n: int | None,
    stem: bool,
    language_model: bool,
    kept: KeptCounts,
    files: CaptionFiles,
    engine: EngineChoice,
    threads: int,
) -> None:
    """Count, for each n-gram, in how many images' REFERENCES it occurs.

    With --language-model, learn from all REFERENCES, such as those of a training split.
    """
    if language_model:
        _build_language_model(
            references, n or 3, kept, files, threads, refused={"--stem": stem, "--engine": not engine.is_local}
        )
        return
    n = n or 4
    kept.check()
    where = engine.made(files, None, is_one=True)
    if isinstance(where, str):
        captions = files.references(references)
        frequencies = DocumentFrequency.build(captions, tokenizer=files.tokenizer, n=n, stem=stem, threads=threads)
    else:
        frequencies = where.document_frequency(references, tokenizer=files.tokenizer, n=n, stem=stem, threads=threads)
    kept.keep(frequencies, _called(references) + (f", split {files.split}" if files.split else ""))


def _build_language_model(
    references: str, n: int, kept: KeptCounts, files: CaptionFiles, threads: int, *, refused: dict[str, bool]
) -> None:
    for name, is_given in {"--name": kept.name is not None, "--force": kept.force, **refused}.items():
        if is_given:
            raise UsageError(f"{name} is for document frequencies; leave it out with --language-model")
    if kept.output is None:
        raise UsageError("give -o FILE, the file to write")
    options.check_outputs(output=kept.output)
    from sacrecap.corpus.language_model import LanguageModel

    captions = files.references(references)
    LanguageModel.build(captions, tokenizer=files.tokenizer, n=n, threads=threads).save(kept.output)


@command.command(name="import", cls=Command, values=(KEPT,), short_help="Read a COCO pickle without executing it.")
@click.argument("pickle")
@options.quiet
def import_(pickle: str, kept: KeptCounts) -> None:
    """Read a COCO document-frequency PICKLE, without executing anything in it."""
    kept.check()
    kept.keep(DocumentFrequency.import_pickle(pickle), _called(pickle))


@command.command(cls=Command, values=(KEPT,), short_help="Add counts up, as if counted together.")
@click.argument("files", nargs=-1, required=True)
@options.quiet
def merge(files: tuple[str, ...], kept: KeptCounts) -> None:
    """Add FILES up, as if their references had been counted together; they must share no image."""
    kept.check()
    total = named_frequencies.find(files[0])
    for file in files[1:]:
        total = total.merge(named_frequencies.find(file))
    kept.keep(total, " + ".join(map(_called, files)))


@command.command(name="list", short_help="List the names.")
@options.table_or_json
@options.quiet
def list_(format_: str) -> None:
    """List the named document frequencies, and where they come from. JSON has those that are made already."""
    known = [named_frequencies.describe(name) for name in named_frequencies.names()]
    if format_ == "json":
        options.emit(json.dumps([vars(named) for named in known], ensure_ascii=False))
        return
    from sacrecap.report.printing.table import Column, Table
    from sacrecap.report.printing.terminal import render

    heads = ("name", "images", "n", "tokens", "checksum", "source")
    rows = [
        [k.name, f"{k.images:,}", str(k.n), f"{k.tokenizer} {'stems' if k.stem else 'forms'}", k.checksum, k.source]
        for k in known
    ]
    to_make = sorted(set(PUBLISHED) - {named.name for named in known})
    rows += [[name, "", "", "", "", "made on first use"] for name in to_make]
    columns = [Column(head, align="right" if head in ("images", "n") else "left") for head in heads]
    options.emit(render([Table(columns, rows, title=named_frequencies.folder())]))


@command.command(short_help="Say what is in a file, or under a name.")
@click.argument("file", metavar="NAME|FILE")
@options.table_or_json
@options.quiet
def info(file: str, format_: str) -> None:
    """Say what is in a FILE, or under a NAME."""
    named = named_frequencies.describe(file) if named_frequencies.is_name(file) else None
    frequencies = named_frequencies.find(file)
    facts: dict[str, str | int] = {
        "images": frequencies.documents,
        "n-grams": frequencies.ngrams,
        "words": frequencies.words,
        "n": frequencies.n,
        "tokenizer": frequencies.tokenizer,
        "stem": frequencies.stem,
    }
    if named is not None:
        facts |= {"source": named.source, "checksum": named.checksum}
    if format_ == "json":
        options.emit(json.dumps(facts, ensure_ascii=False))
        return
    options.emit("\n".join(f"{name:<10} {_spell(value)}" for name, value in facts.items()))


def _called(path: str) -> str:
    """The file's name without its folders, which are private."""
    return "standard input" if path == "-" else os.path.basename(path)


def _spell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else spell(value)
