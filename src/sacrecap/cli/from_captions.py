"""What is made of files of captions: what they hold, document frequencies, scene graphs."""

from __future__ import annotations

import json
import shlex
import textwrap
from itertools import islice
from typing import Any

import click

from sacrecap._core import Captions
from sacrecap.choices import GRAMMARS, OWN_TOKENIZERS, Grammar, Tokenizer
from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command, Group, takes
from sacrecap.cli.interruptible import stage
from sacrecap.cli.output import ENGINE, Engine
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.document_frequency import DocumentFrequency, find_frequencies
from sacrecap.data.writers import atomic_write
from sacrecap.errors import UsageError
from sacrecap.metrics.declared import spell
from sacrecap.metrics.spice.scene_graph import scene_graphs
from sacrecap.scoring.findings import findings, histogram, quantile
from sacrecap.scoring.result import counted


@click.command(
    cls=Command,
    values=(caption_files("caption"),),
    common="--format --caption-format --split --id-column --caption-column --quiet".split(),
)
@click.argument("file")
@options.table_or_json
@options.quiet
def inspect_command(file: str, format_: str, files: CaptionFiles) -> None:
    """Say what FILE holds: its format, columns, rows, the lengths of its captions, and what looks wrong in them.

    FILE may be of any format that candidates, caption sets or references have; - is stdin. What scores of it would be
    worth is told by sacrecap score, which sees the candidates beside their references.
    """
    stage.text = "reading"
    source = files.open("captions", file)
    looks = source.looks(files.columns)
    parts = ("candidates", "references") if looks.holds_both else ("sets",)
    read = [source.captions(part, columns=files.columns, image_ids=files.image_ids) for part in parts]
    [corpus] = Corpus.of_part(None, {"": read[0]}, tokenizer=files.tokenizer).values()
    if looks.holds_both:
        corpus = Corpus(read[1], read[0], tokenizer=files.tokenizer, on_missing="skip")
    notes = findings(corpus.seen, (), "candidates" if looks.holds_both else "captions")
    names = parts if looks.holds_both else ("captions",)
    histograms = [histogram(corpus.seen.everywhere, part) for part in ("candidates", "references")[: len(parts)]]
    document: dict[str, Any] = {
        "file": source.name,
        "format": looks.format,
        "columns": list(looks.columns),
        "rows": looks.rows if looks.rows is not None else read[0].caption_count,
        **{
            name: {
                "images": captions.image_count,
                "captions": captions.caption_count,
                "captions_per_image": [min(counts, default=0), max(counts, default=0)],
                "first": {image: captions.captions(image) for image in captions.image_ids[:3]},
            }
            for name, captions in zip(names, read, strict=True)
            for counts in [captions.caption_counts()]
        },
        "lengths": {
            name: {"least": min(lengths, default=0), "median": quantile(lengths), "most": max(lengths, default=0)}
            for name, lengths in zip(names, histograms, strict=True)
        },
        "use": _use(shlex.quote(source.name), read[0], holds_both=looks.holds_both),
    }
    if format_ == "json":
        document["findings"] = [finding.to_dict() for finding in notes]
        options.emit(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        options.emit(_printed(document, [str(finding) for finding in notes]))


def _use(name: str, captions: Captions, *, holds_both: bool) -> str:
    """The command that takes the file; its format is an option of another name for each part that a file may play."""
    parameters = click.get_current_context().params
    uses: dict[str, str] = {}
    for parameter in options.on_command_line():
        called = str(parameter.name)
        if called not in ("file", "format_", "quiet"):  # which are for this command alone
            values = parameters[called] if isinstance(parameters[called], (list, tuple)) else [parameters[called]]
            uses[called] = "".join(f" {parameter.opts[0]} {shlex.quote(str(value))}" for value in values)
    format_ = uses.pop("captions_format", "")
    spellings = "".join(uses.values())

    def read_as(part: str) -> str:
        return format_.replace("--caption-format", f"--{part}-format") + spellings

    if holds_both:
        return f"sacrecap score {name}{spellings}"
    if {*captions.caption_counts()} == {1}:
        return f"sacrecap score REFERENCES {name}{read_as('candidate')}"
    score = f"sacrecap score {name} CANDIDATES{read_as('reference')}"
    return f"{score}, or sacrecap diversity {name}{read_as('set')} for caption sets"


def _printed(document: dict[str, Any], notes: list[str]) -> str:
    from sacrecap.report.printing.table import Column, Table
    from sacrecap.report.printing.terminal import render

    rows = [
        ("format", document["format"]),
        ("columns", ", ".join(document["columns"]) or "–"),
        ("rows", f"{document['rows']:,}"),
    ]
    for name, lengths in document["lengths"].items():
        section = document[name]
        per_image = "–".join(dict.fromkeys(map(str, section["captions_per_image"])))
        rows += [
            (name, f"{section['captions']:,}, {per_image} each of {counted(section['images'], 'image')}"),
            ("  words", f"{lengths['least']} to {lengths['most']}, median {lengths['median']}"),
            *(("  " + image, textwrap.shorten(" | ".join(texts), 100)) for image, texts in section["first"].items()),
        ]
    rows += zip(("use", "or"), document["use"].split(", or "), strict=False)
    columns = [Column("what", align="left"), Column("seen", align="left", names=True)]
    notes = notes or ["found: nothing that looks wrong"]
    return render([Table(columns, rows, title=document["file"], notes=notes)], width=options.width("-"))


def _output(_: click.Context, __: click.Parameter, output: str | None) -> str:
    if output is None:
        raise UsageError("give -o FILE, the file to write")
    return output


OUTPUT = takes("--output, -o FILE  The file to write.", o={"callback": _output})


@click.group(name="df", cls=Group)
def df_command() -> None:
    """Document frequencies: build from references, import a COCO pickle, merge, inspect."""


@df_command.command(
    cls=Command,
    values=(caption_files("reference"), ENGINE),
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
    engine: Engine,
    threads: int,
) -> None:
    """Count, for each n-gram, in how many images' REFERENCES it occurs.

    With --language-model, learn from all REFERENCES, such as those of a training split.
    """
    options.check_outputs(output=output)
    for name, is_given in (("--stem", stem), ("--engine", engine != "local")):
        if language_model and is_given:
            raise UsageError(f"{name} is for document frequencies; leave it out with --language-model")
    [captions] = files.read([("references", references)])
    if language_model:
        from sacrecap.corpus.language_model import LanguageModel

        LanguageModel.build(captions, tokenizer=files.tokenizer, n=n or 3, threads=threads).save(output)
        return
    count = DocumentFrequency.build if engine == "local" else engine.document_frequency
    count(captions, tokenizer=files.tokenizer, n=n or 4, stem=stem, threads=threads).save(output)


@df_command.command(name="import", cls=Command, short_help="Read a COCO pickle without executing it.")
@click.argument("pickle")
@OUTPUT
@options.quiet
def import_(pickle: str, output: str) -> None:
    """Read a COCO document-frequency PICKLE, without executing anything in it."""
    options.check_outputs(output=output)
    DocumentFrequency.import_pickle(pickle).save(output)


@df_command.command(cls=Command, short_help="Add counts up, as if counted together.")
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


@df_command.command(short_help="Say what is in a file, or under a name.")
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


BATCH = 10_000
"""Number of captions that are parsed, and then written, together: only these and their graphs are in memory."""


@click.command(
    cls=Command,
    values=(caption_files("caption", tokenizer=False),),
    common="--format --output --grammar --tokenizer --threads --quiet".split(),
)
@click.argument("captions")
@takes(
    """
    --format  An object per caption, or its tuples as text for people to read; both say what is denied, hedged, aside.
    -o, --output FILE  Where to print it; - is stdout.
    --tokenizer  ptb: the COCO suite's; whitespace, none, blanks: captions are tokenised already.
    --grammar  The rules: those of the original SPICE, or those for longer texts; auto takes paragraph for texts of
        several sentences, spice for others.
    """,
    format={"name": "format_", "type": click.Choice(["jsonl", "text"]), "default": "jsonl"},
    output={"default": "-"},
    tokenizer={"type": click.Choice([name for name in OWN_TOKENIZERS if name != "ptb-stream"]), "default": "ptb"},
    grammar={"type": click.Choice(GRAMMARS), "default": "auto"},
)
@options.threads
@options.quiet
def graph_command(
    captions: str, format_: str, output: str, tokenizer: Tokenizer, grammar: Grammar, files: CaptionFiles, threads: int
) -> None:
    """Parse English CAPTIONS into scene graphs: objects, their attributes and their relations.

    Files may be of any format that candidates, caption sets or references have; - is stdin. Captions come out in the
    order of the file.
    """
    from sacrecap.report.printing.table import one_line

    options.check_outputs(output=output)
    stage.text = "reading"
    read = files.read([("captions", captions)])[0]
    with atomic_write(output) as file:
        parsed = 0
        captions_of_images = ((image, caption) for image in read.image_ids for caption in read.captions(image))
        while batch := list(islice(captions_of_images, BATCH)):
            stage.text = f"parsing {parsed:,} of {read.caption_count:,} captions"
            texts = [caption for _, caption in batch]
            graphs = scene_graphs(texts, tokenizer=tokenizer, grammar=grammar, threads=threads)
            for (image, caption), graph in zip(batch, graphs, strict=True):
                if format_ == "jsonl":
                    document = {"image_id": image, "caption": caption, "graph": graph.to_dict()}
                    file.write(json.dumps(document, ensure_ascii=False) + "\n")
                else:
                    lines = "".join(f"  {line}\n" for line in str(graph).splitlines())
                    file.write(f"{one_line(image)}: {one_line(caption)}\n{lines}")
            parsed += len(batch)
