"""`sacrecap caption train`: one captioner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sacrecap.cli import options
from sacrecap.cli.group import Command
from sacrecap.cli.interruptible import stage
from sacrecap.errors import UsageError
from sacrecap_captioning.captioned_images import read_images
from sacrecap_captioning.cli import shared
from sacrecap_captioning.settings import Settings, check_encoder

if TYPE_CHECKING:
    from sacrecap_captioning.training import Position


@click.command(
    cls=Command,
    common="--output --model --loss --init --features --encoder --batch --steps --rate --device --seed --quiet".split(),
)
@click.argument("data", required=False)
@click.option("--output", "-o", required=True, metavar="RUN", help="The run folder to make.")
@shared.settings(Settings, *"model loss baseline retrieval init".split())
@shared.features
@shared.settings(Settings, *"encoder weights encoder_epochs train_encoder side images on_missing".split())
@shared.settings(Settings, *"tokenizer least length hidden embedding attention latent dropout".split())
@shared.settings(Settings, *"batch captions steps rate schedule warmup weight_decay clip seed".split())
@shared.settings(Settings, *"validate_every patience log_every device".split())
@options.quiet
def command(data: str | None, output: str, features: str | None, **settings: Any) -> None:
    """Train a captioner on the images of DATA, and keep the run in a folder.

    DATA is a folder with a Karpathy split file, Flickr8k, Flickr30k or COCO, or a folder of sacrecap caption scenes.
    """
    given = {name: value for name, value in settings.items() if shared.was_given(name)}
    if data is not None:
        given["data"] = data
    file, cache = shared.places(features)
    if file is not None:
        shared.check_no_encoder(file, given)
        given["features"] = file
    with shared.torch_needed("training captioners"):
        end = _run(output, given, cache=cache)
    early = " (stopped early)" if end.step < end.steps else ""
    options.emit(f"{output}: {end.step:,} steps{early}; best CIDEr-D {end.best:.4f} at step {end.best_step:,}")


def _run(output: str, given: dict[str, Any], **places: Any) -> Position:
    """A new run, from random weights or from those of another."""
    if "init" not in given:
        if "data" not in given:
            raise UsageError("which images? Give their folder: sacrecap caption train DATA -o RUN")
        stage.text = "reading the data"  # before torch is loaded, which takes seconds
        settings = Settings(**given)
        check_encoder(settings.encoder, settings.weights)
        places["images"] = images = read_images(settings)
        for split in ("train", "val"):
            images.split(split)
    stage.text = "loading PyTorch"
    from sacrecap_captioning import training
    from sacrecap_captioning.run_folder import RunFolder

    shared.one_thread()
    shown = {"progress": _show, "reading": lambda split, *at: shared.show_images(f"reading {split}", *at), **places}
    if "init" in given:
        begun = RunFolder.open(given["init"]).settings
        given = {**{name: getattr(begun, name) for name in ("data", "features", *training.INHERITED)}, **given}
    return training.train(Settings(**given), output, **shown)


def _show(at: Position) -> None:
    """A bar with losses and CIDEr-D, for the line that a terminal shows."""
    losses = " · ".join(f"{name} {value:.3f}" for name, value in at.means().items() if name != "seconds")
    scores = "" if at.last is None else f" · CIDEr-D {at.last:.3f} (best {at.best:.3f})"
    stage.text = f"training {shared.bar(at.step, at.steps)} steps · {losses}{scores}"
