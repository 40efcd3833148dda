"""`sacrecap inspect`: what a file of captions holds, and what looks wrong in it."""

from __future__ import annotations

import json
import shlex
import textwrap
from typing import Any

import click

from sacrecap._core import Captions
from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import stage
from sacrecap.corpus.corpus import Corpus
from sacrecap.scoring.findings import findings, quantile, words
from sacrecap.scoring.result import counted

SHOWN = 3
"""Images that are shown."""
WIDTH = 100
"""Characters of an image's captions that the table shows."""
_HERE = ("file", "format_", "quiet")
"""What is given for this command alone."""


@click.command(
    cls=Command,
    values=(caption_files(references=False, captions="caption"),),
    common="--format --caption-format --split --id-column --caption-column --quiet".split(),
)
@click.argument("file")
@options.table_or_json
@options.quiet
def command(file: str, format_: str, files: CaptionFiles) -> None:
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
    histograms = [words(corpus.seen.everywhere, part) for part in ("candidates", "references")[: len(parts)]]
    document: dict[str, Any] = {
        "file": source.name,
        "format": looks.format,
        "columns": list(looks.columns),
        "rows": looks.rows if looks.rows is not None else read[0].caption_count,
        **{name: _described(captions) for name, captions in zip(names, read, strict=True)},
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


def _described(captions: Captions) -> dict[str, Any]:
    counts = captions.caption_counts()
    first = captions.image_ids[:SHOWN]
    return {
        "images": captions.image_count,
        "captions": captions.caption_count,
        "captions_per_image": [min(counts, default=0), max(counts, default=0)],
        "first": {image: captions.captions(image) for image in first},
    }


def _use(name: str, captions: Captions, *, holds_both: bool) -> str:
    """The command that takes the file; its format is an option of another name for each part that a file may play."""
    parameters = click.get_current_context().params
    uses: dict[str, str] = {}
    for parameter in options.on_command_line():
        called = str(parameter.name)
        if called not in _HERE:
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
            *(("  " + image, textwrap.shorten(" | ".join(texts), WIDTH)) for image, texts in section["first"].items()),
        ]
    rows += zip(("use", "or"), document["use"].split(", or "), strict=False)
    columns = [Column("what", align="left"), Column("seen", align="left", names=True)]
    notes = notes or ["found: nothing that looks wrong"]
    return render([Table(columns, rows, title=document["file"], notes=notes)], width=options.width("-"))
