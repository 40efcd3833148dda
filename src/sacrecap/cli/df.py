"""`sacrecap df`: document frequencies, which CIDEr uses to weight words."""

from __future__ import annotations

import json

import click

from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command, Group, takes
from sacrecap.cli.output import ENGINE, EngineChoice
from sacrecap.corpus.document_frequency import DocumentFrequency, find_frequencies
from sacrecap.errors import UsageError
from sacrecap.metrics.declared import spell


def _output(_: click.Context, __: click.Parameter, output: str | None) -> str:
    if output is None:
        raise UsageError("give -o FILE, the file to write")
    return output


OUTPUT = takes("--output, -o FILE  The file to write.", o={"callback": _output})


@click.group(name="df", cls=Group)
def command() -> None:
    """Document frequencies: build from references, import a COCO pickle, merge, inspect."""


@command.command(
    cls=Command,
    values=(caption_files(), ENGINE),
    common="--output --n --stem --language-model --engine --threads --quiet".split(),
    short_help="Count in how many images each n-gram occurs.",
)
@click.argument("references")
@OUTPUT
@takes(
    """
    --n N  The longest n-gram; by default 4, and 3 with --language-model.
    --stem  Count stems, for cider-paper; cider-d needs word forms.
    --language-model  Learn how captions go on instead: for fluency(references=no) by --lm FILE.
    """,
    n={"type": click.IntRange(1, 4)},
    stem={"is_flag": True},
    language_model={"is_flag": True},
)
@options.threads
@options.quiet
def build(
    references: str,
    output: str,
    n: int | None,
    stem: bool,
    language_model: bool,
    files: CaptionFiles,
    engine: EngineChoice,
    threads: int,
) -> None:
    """Count, for each n-gram, in how many images' REFERENCES it occurs.

    With --language-model, learn from all REFERENCES, such as those of a training split.
    """
    options.check_outputs(output=output)
    for name, is_given in (("--stem", stem), ("--engine", engine.name != "local")):
        if language_model and is_given:
            raise UsageError(f"{name} is for document frequencies; leave it out with --language-model")
    where, [captions] = engine.options(), files.read([("references", references)])
    if language_model:
        from sacrecap.corpus.language_model import LanguageModel

        LanguageModel.build(captions, tokenizer=files.tokenizer, n=n or 3, threads=threads).save(output)
        return
    count = DocumentFrequency.build if isinstance(where, str) else where.document_frequency
    count(captions, tokenizer=files.tokenizer, n=n or 4, stem=stem, threads=threads).save(output)


@command.command(name="import", cls=Command, short_help="Read a COCO pickle without executing it.")
@click.argument("pickle")
@OUTPUT
@options.quiet
def import_(pickle: str, output: str) -> None:
    """Read a COCO document-frequency PICKLE, without executing anything in it."""
    options.check_outputs(output=output)
    DocumentFrequency.import_pickle(pickle).save(output)


@command.command(cls=Command, short_help="Add counts up, as if counted together.")
@click.argument("files", nargs=-1, required=True)
@OUTPUT
@options.quiet
def merge(files: tuple[str, ...], output: str) -> None:
    """Add FILES up, as if their references had been counted together; they must share no image."""
    options.check_outputs(output=output)
    total = find_frequencies(files[0])
    for file in files[1:]:
        total = total.merge(find_frequencies(file))
    total.save(output)


@command.command(short_help="Say what is in a file, or under a name.")
@click.argument("file", metavar="NAME|FILE")
@options.table_or_json
@options.quiet
def info(file: str, format_: str) -> None:
    """Say what is in a FILE, or under a NAME."""
    frequencies = find_frequencies(file)
    facts: dict[str, str | int] = {
        "images": frequencies.documents,
        "n-grams": frequencies.ngrams,
        "words": frequencies.words,
        "n": frequencies.n,
        "tokenizer": frequencies.tokenizer,
        "stem": frequencies.stem,
    }
    if format_ == "json":
        options.emit(json.dumps(facts, ensure_ascii=False))
        return
    for name, value in facts.items():
        facts[name] = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else spell(value)
    options.emit("\n".join(f"{name:<10} {value}" for name, value in facts.items()))
