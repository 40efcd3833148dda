"""`sacrecap caption evaluate`: one caption per image by a captioner, scored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sacrecap.choices import Tokenizer
from sacrecap.cli import options
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import show_share, stage
from sacrecap.cli.output import output
from sacrecap.data.atomic import atomic_write
from sacrecap.data.captioned import of_split
from sacrecap.errors import UsageError
from sacrecap_captioning.cli import shared

if TYPE_CHECKING:
    from sacrecap.cli.output import Output
    from sacrecap.scoring.intervals import Resampling


@click.command(cls=Command, values=(options.resampling("Bootstrap samples.", ways=False), output()))
@shared.captioner
@options.metrics
@click.option(
    "--method",
    default="beam",
    show_default=True,
    metavar="METHOD",
    help="How to caption an image once; beam is then greedy: the likeliest word at every step.",
)
@click.option("--candidates", "written", metavar="FILE", help="Write the captions as COCO results, too.")
@options.tokenizer
@options.threads
def command(
    captioner: str,
    data: str | None,
    split: str,
    metrics: str,
    written: str | None,
    features: str | None,
    tokenizer: Tokenizer,
    threads: int,
    resampling: Resampling,
    output: Output,
    **how: Any,
) -> None:
    """Caption each image once and score the captions against people's, as sacrecap score does.

    SPEAKER is a folder of sacrecap caption train, or an image-to-text checkpoint of transformers: its folder, or
    owner/name on the hub.
    """
    from sacrecap.metrics.registry import parse_metrics
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.score import score

    output.check(candidates=written)
    needs = Needs(threads=threads, progress=show_share)
    chosen = parse_metrics(metrics, needs)
    listed = shared.listed_images(captioner, data, split)
    if listed is None and data is not None:
        raise UsageError(f"{data}: these images have no captions of people, with which captions could be compared")
    how.update(data=data, split=split, listed=listed, captions=1, seed=resampling.seed)
    sets = shared.caption_sets(captioner, features, **how)
    candidates = {image: captions[0] for image, captions in sets.items()}
    stage.text = "scoring"
    references = {image.id: list(image.references) for image in of_split(listed or [], split) if image.id in candidates}
    result = score(
        references, candidates, chosen, tokenizer=tokenizer, needs=needs, resampling=resampling, threads=threads
    )
    if written is not None:
        with atomic_write(written) as results:
            rows = [{"image_id": image, "caption": caption} for image, caption in candidates.items()]
            json.dump(rows, results, ensure_ascii=False)
    output.show(result)
