"""`sacrecap caption generate`: caption sets of a captioner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from sacrecap.cli import options
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import stage
from sacrecap.data.source import read_bytes
from sacrecap.data.writers import write_caption_sets
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.cli import shared

if TYPE_CHECKING:
    from sacrecap.data.captioned import CaptionedImage


@click.command(
    cls=Command, common="--images --split --method --captions --output --model --seed --device --quiet".split()
)
@shared.captioner
@click.option(
    "--method",
    default="rs",
    show_default=True,
    metavar="METHOD",
    help="rs, beam, diverse-beam, rci, gnc, ss or drv; a name may carry parameters: rs(temperature=0.7).",
)
@click.option(
    "--captions", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="Captions per image."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Most words of a caption, by default as in training; of other speakers most tokens, 64 of those that are "
    "asked in words, 20 of others.",
)
@click.option("--output", "-o", default="-", show_default=True, metavar="FILE", help="The sets as JSON; - is stdout.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Seed of everything random."
)
@click.option(
    "--prompts",
    metavar="FILE",
    help="Several prompts, one per line, which share out the captions of a set; one caption each, unless --captions "
    "says otherwise.",
)
@click.option(
    "--blind",
    type=click.Choice(["typical", "nearest"]),
    help="Instead of what SPEAKER says, people's captions of the split train, which it has to beat: the most typical "
    "ones, the same for all images; or those of the images nearest by the features of SPEAKER, a run of caption train.",
)
@click.option("--model", metavar="NAME", help="The model behind an endpoint.")
@click.option(
    "--key-env",
    metavar="VARIABLE",
    help="The variable of the environment that holds the endpoint's key, if it has one.",
)
@click.option(
    "--price", type=(float, float), metavar="IN OUT", help="What a million tokens cost, of questions and of answers."
)
@click.option("--budget", metavar="N", help="What may be spent: money, or '200000 tokens'.")
@click.option("--at-once", type=click.IntRange(1), metavar="N", help="Requests at the same time; 8 by default.")
@options.quiet
def command(
    captioner: str,
    data: str | None,
    split: str,
    output: str,
    features: str | None,
    prompts: str | None,
    blind: str | None,
    **how: Any,
) -> None:
    """Write several captions of each image: what sacrecap diversity scores.

    SPEAKER is a folder of sacrecap caption train; an image-to-text checkpoint of transformers, its folder or owner/name
    on the hub; or the address of an OpenAI-compatible endpoint (vLLM, SGLang, Ollama, clouds), such as
    http://localhost:8000/v1, with --model. An image's captions depend on the seed, not on the batch.
    """
    options.check_outputs(output=output)
    if prompts is not None:
        how["prompt"] = _read_prompts(prompts, how["prompt"])
        how["captions"] = how["captions"] if shared.was_given("captions") else len(how["prompt"])
    listed = shared.listed_images(captioner, data, split)
    if blind is not None:
        stage.text = "copying captions"
        write_caption_sets(output, _copied(blind, captioner, features, data, listed, split, **how))
        return
    sets = shared.caption_sets(captioner, features, data=data, listed=listed, split=split, **how)
    stage.text = "writing"
    write_caption_sets(output, sets)


def _copied(
    blind: str,
    captioner: str,
    features: str | None,
    data: str | None,
    listed: Sequence[CaptionedImage] | None,
    split: str,
    **how: Any,
) -> dict[str, list[str]]:
    """The sets that need no captioner. Raises `UsageError` where it is not known which images look alike."""
    with shared.torch_needed("captioning images"):
        found = shared.blind_captions(captioner, features, data, listed, split, how["on_missing"], how["captions"])
    own = next((sets for name, sets in found.items() if blind in name), None)
    if own is None:
        raise UsageError(
            f"{captioner}: is no folder of sacrecap caption train, whose features would say which images look alike; "
            "give one, or take --blind typical"
        )
    return own


def _read_prompts(path: str, other: str | None) -> list[str]:
    """The lines of a file. Raises `UsageError` beside --prompt, and `DataError` for a file without a line."""
    if other is not None:
        raise UsageError("--prompt is one prompt, and --prompts a file of several; give one of them")
    try:
        lines = read_bytes(path).decode().splitlines()
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not text in UTF-8; prompts are lines of text") from None
    prompts = [line.strip() for line in lines if line.strip()]
    if not prompts:
        raise DataError(f"{path}: has no prompt; write one per line")
    return prompts
