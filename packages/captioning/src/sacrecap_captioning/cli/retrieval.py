"""`sacrecap caption retrieval`: the model that rewards captions which find their image."""

from __future__ import annotations

import os
from typing import Any

import click

from sacrecap.cli import options
from sacrecap.cli.interruptible import stage
from sacrecap_captioning.cli import shared

_COUNT = click.IntRange(1)


@click.command()
@click.argument("run")
@click.option("--output", "-o", metavar="FILE", help="The model.  [default: RUN/retrieval.pt]")
@click.option("--epochs", type=_COUNT, default=30, show_default=True, metavar="N", help="Passes over the images.")
@click.option("--batch", type=click.IntRange(2), default=64, show_default=True, metavar="N", help="Images per step.")
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    default=2e-3,
    show_default=True,
    help="Learning rate of Adam; a tenth of it in the second half.",
)
@click.option("--space", type=_COUNT, default=256, show_default=True, metavar="N", help="Size of a vector.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Random seed.")
@click.option("--device", default="cpu", show_default=True, metavar="NAME", help="Where it learns: cpu, cuda, cuda:1.")
@shared.features
@options.quiet
def command(run: str, output: str | None, features: str | None, **how: Any) -> None:
    """Train a retrieval model (VSE++) on the images, features and words of RUN, a run of sacrecap caption train.

    It is for the reward `retrieval`: sacrecap caption train --loss 'xe + 2*retrieval' --retrieval FILE.
    """
    with shared.torch_needed("training retrieval models"):
        from sacrecap_captioning.retrieval_model import train_retrieval
        from sacrecap_captioning.run_folder import RunFolder

    shared.one_thread()
    file, cache = shared.places(features)
    epochs = how["epochs"]

    def show(epoch: int, loss: float, recalls: dict[str, float]) -> None:
        stage.text = f"training: epoch {epoch} of {epochs} · loss {loss:.3f} · {_text(recalls)}"

    opened = RunFolder.open(run)
    model, epoch, recalls = train_retrieval(opened, features=file, cache=cache, progress=show, **how)
    path = output or os.path.join(run, "retrieval.pt")
    model.save(path)
    options.emit(f"{path}: epoch {epoch} of {epochs}; on the validation images {_text(recalls)}")


def _text(recalls: dict[str, float]) -> str:
    return ", ".join(f"{name} {share:.0%}" for name, share in recalls.items())
