"""`sacrecap graph`: the scene graphs of captions."""

from __future__ import annotations

import json
from itertools import islice

import click

from sacrecap.choices import GRAMMARS, OWN_TOKENIZERS, Grammar, Tokenizer
from sacrecap.cli import options
from sacrecap.cli.caption_files import CaptionFiles, caption_files
from sacrecap.cli.group import Command, takes
from sacrecap.cli.interruptible import stage
from sacrecap.data.atomic import atomic_write
from sacrecap.metrics.spice.scene_graph import scene_graphs

BATCH = 10_000
"""Number of captions that are parsed, and then written, together: only these and their graphs are in memory."""


@click.command(
    cls=Command,
    values=(caption_files(references=False, captions="caption", tokenizer=False),),
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
def command(
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
