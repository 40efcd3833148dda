"""`sacrecap caption evaluate`: one caption per image by a captioner, scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sacrecap.choices import Tokenizer
from sacrecap.cli import options
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import show_share, stage
from sacrecap.cli.output import output
from sacrecap.data.captioned import of_split
from sacrecap.data.writers import write_candidates
from sacrecap.errors import UsageError
from sacrecap_captioning.cli import shared

if TYPE_CHECKING:
    from sacrecap.cli.output import Output
    from sacrecap.scoring.intervals import Resampling


@click.command(
    cls=Command,
    values=(options.resampling("Bootstrap samples."), output()),
    common="--images --split --metrics --method --candidates --blind --interval --format --output --quiet".split(),
)
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
@click.option(
    "--blind",
    is_flag=True,
    help="Compare with captions that need no captioner: the most typical caption of the split train and, for a folder "
    "of sacrecap caption train, one of the image that looks most alike.",
)
@options.tokenizer
@options.threads
def command(
    captioner: str,
    data: str | None,
    split: str,
    metrics: str,
    written: str | None,
    blind: bool,
    features: str | None,
    tokenizer: Tokenizer,
    threads: int,
    resampling: Resampling,
    output: Output,
    **how: Any,
) -> None:
    """Caption each image once and score the captions against people's, as sacrecap score does, or compare.

    SPEAKER is a folder of sacrecap caption train, or an image-to-text checkpoint of transformers: its folder, or
    owner/name on the hub.
    """
    from sacrecap.metrics.registry import parse_metrics
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.compare import compare
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
    if written is not None:
        write_candidates(written, candidates)
    stage.text = "scoring"
    references = {image.id: list(image.references) for image in of_split(listed or [], split) if image.id in candidates}
    scoring: dict[str, Any] = {"tokenizer": tokenizer, "needs": needs, "resampling": resampling, "threads": threads}
    if blind:
        others = shared.blind_captions(captioner, features, data, listed, split, how["on_missing"], 1)
        alike = {name: {image: own[image][0] for image in candidates} for name, own in others.items()}
        output.show(compare(references, {"captioner": candidates, **alike}, chosen, **scoring))
    else:
        output.show(score(references, candidates, chosen, **scoring))
