"""`sacrecap caption sweep`: the trade-off of diversity and accuracy."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import click

from sacrecap.choices import FORMATS
from sacrecap.cli import options
from sacrecap.cli.interruptible import stage
from sacrecap.errors import UsageError
from sacrecap.report.pictures import check_matplotlib
from sacrecap_captioning.cli import places
from sacrecap_captioning.cli.threads import torch_needed
from sacrecap_captioning.cli.train import ENCODER_HELP, was_given
from sacrecap_captioning.names import AUTO, check_weights, is_checkpoint
from sacrecap_captioning.sweep.plan import Sweep
from sacrecap_captioning.training.settings import FEATURE_DTYPES, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

TRAINING = {
    "weights": "words",
    "hidden": 128,
    "embedding": 128,
    "attention": 64,
    "batch": 40,
    "steps": 300,
    "rate": 4e-3,
    "schedule": "cosine",
    "warmup": 30,
    "baseline": "others",
}
"""Settings of training whose defaults differ from those of `sacrecap caption train`: they are small and quick."""

_COUNT, _POSITIVE = click.IntRange(1), click.FloatRange(0, min_open=True)


def _setting(name: str, text: str, kind: Any = None, **others: Any) -> Callable[[Any], Any]:
    """The option of a setting of training."""
    default = {**{field.name: field.default for field in dataclasses.fields(Settings)}, **TRAINING}[name]
    shown = default is not None and not isinstance(default, bool)
    return click.option(
        f"--{name.replace('_', '-')}", name, type=kind, default=default, show_default=shown, help=text, **others
    )


def _swept(name: str, option: str, text: str, kind: Any = None, **others: Any) -> Callable[[Any], Any]:
    """The option of a swept setting; lists are comma-separated."""
    default = {field.name: field.default for field in dataclasses.fields(Sweep)}[name]
    default = ",".join(default) if isinstance(default, tuple) else default
    return click.option(option, name, type=kind, default=default, show_default=default is not None, help=text, **others)


@click.command()
@click.argument("data")
@click.option("--output", "-o", required=True, metavar="SWEEP", help="The folder to make, or to continue.")
@_swept("models", "--models", "Captioners.", metavar="LIST")
@click.option(
    "--loss",
    "losses",
    multiple=True,
    metavar="MIXTURE",
    help="What to minimise after cross-entropy, as for sacrecap caption train; {0,5,only} instead of a weight is an "
    f"axis. May be given several times.  [default: {Sweep.losses[0]}]",
)
@_swept("seeds", "--seeds", "How many times to train everything.", _COUNT, metavar="N")
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("rs",),
    show_default=True,
    metavar="METHOD",
    help="How to make sets, as for sacrecap caption generate; may be given several times. One that a captioner cannot "
    "use is left out for it.",
)
@_swept("set_size", "--captions", "Captions per image.", _COUNT, metavar="N")
@_swept("split", "--split", "The split whose sets are made and scored.", metavar="NAME")
@_swept("reward_steps", "--reward-steps", "Steps with each loss, after --steps of cross-entropy.", _COUNT, metavar="N")
@_swept("reward_batch", "--reward-batch", "Images of such a step.", _COUNT, metavar="N")
@_swept("reward_rate", "--reward-rate", "Learning rate of these steps.", _POSITIVE)
@_setting("baseline", "What a sample's reward is compared with.", click.Choice(["greedy", "others"]))
@_setting("retrieval", "The model of the reward retrieval; by default the sweep trains one.", metavar="FILE")
@_swept("retrieval_epochs", "--retrieval-epochs", "Passes over the images to train that model.", _COUNT, metavar="N")
@_setting("steps", "Steps of cross-entropy.", _COUNT, metavar="N")
@_setting("batch", "Images of such a step.", _COUNT, metavar="N")
@_setting("rate", "Highest learning rate of these steps, of Adam.", _POSITIVE)
@_setting("warmup", "First of these steps, over which the rate rises.", click.IntRange(0), metavar="N")
@_setting("schedule", "How the rate falls.", click.Choice(["constant", "linear", "cosine"]))
@_setting("features", "A file of features by image id (.npz, .safetensors), instead of an encoder.", metavar="FILE")
@_setting(
    "features_dtype",
    "Number format of stored features; float16 needs half the disk space.",
    click.Choice(FEATURE_DTYPES),
)
@_setting("encoder", ENCODER_HELP, metavar="NAME|FOLDER")
@_setting(
    "weights", "The encoder's weights, as for sacrecap caption train; a checkpoint has its own.", metavar="NAME|FILE"
)
@_setting("encoder_epochs", "Passes over the images to learn --weights words.", _COUNT, metavar="N")
@_setting("images", "Use only this many images of each split; all by default.", _COUNT, metavar="N")
@_setting("side", "Pixels of the square that images are resized to.", _COUNT, metavar="PIXELS")
@_setting("on_missing", "What to do with an image without a file.", click.Choice(["error", "skip"]))
@_setting("least", "Least occurrences of a word of the vocabulary.", _COUNT, metavar="N")
@_setting("length", "Most words of a caption.", _COUNT, metavar="N")
@_setting("hidden", "Units of the LSTM.", _COUNT, metavar="N")
@_setting("embedding", "Size of a word vector.", _COUNT, metavar="N")
@_setting("attention", "Units of the attention.", _COUNT, metavar="N")
@_setting("device", "cpu, cuda, cuda:1; auto: the GPU when there is one.", metavar="NAME")
@click.option(
    "--processes",
    type=_COUNT,
    metavar="N",
    help="Captioners at a time, each with one thread; by default one per core, or 1 on a GPU.",
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="table", show_default=True, help="What to print."
)
@options.quiet
def command(
    data: str,
    output: str,
    models: str,
    losses: tuple[str, ...],
    methods: tuple[str, ...],
    processes: int | None,
    format_: str,
    **others: Any,
) -> None:
    """Train a grid of captioners on DATA, make and score their caption sets, and draw them next to people.

    Each model is trained by cross-entropy, and then with each loss. SWEEP gets every run, set and score,
    results.json, and pictures/: the plane of diversity and accuracy, F, vocabulary, measures and ranking. The same
    command continues an interrupted sweep.
    """
    names = {field.name for field in dataclasses.fields(Sweep)}
    training = {name: value for name, value in others.items() if name not in names}
    swept = {name: value for name, value in others.items() if name in names}
    given = {name for name in training if was_given(name)}
    if training["features"] is not None:
        places.check_no_encoder(training["features"], given)
    if "weights" not in given and (training["features"] is not None or is_checkpoint(training["encoder"])):
        training["weights"] = AUTO
    check_weights(training["encoder"], training["weights"])
    with torch_needed("sweeping captioners"):
        from sacrecap_captioning.sweep.grid import run_sweep
        from sacrecap_captioning.sweep.report import render, write_pictures

        check_matplotlib()
        _check_names(_list(models), methods)
        given_losses = losses or Sweep.losses
        sweep = Sweep(data, models=_list(models), losses=given_losses, methods=methods, training=training, **swept)
        _quieten_tracker()
        result = run_sweep(sweep, output, processes=processes or _processes(others["device"]), progress=_show)
    stage.text = "drawing"
    write_pictures(result, os.path.join(output, "pictures"))
    options.emit(render(result, format_, colour=options.colour("-"), width=options.width("-")))


def _quieten_tracker() -> None:
    """Ctrl-C ends this process at once; Python's resource tracker cleans up silently."""
    known = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [known, "ignore:resource_tracker:UserWarning"]))


def _check_names(models: tuple[str, ...], methods: tuple[str, ...]) -> None:
    """Raises `UsageError` for an unknown model or method, before the others have run for hours."""
    from sacrecap.errors import accepted_name
    from sacrecap_captioning.decoding.sets import set_method
    from sacrecap_captioning.models import MODELS

    for model in models:
        accepted_name("the model", model, list(MODELS))
    texts = [str(set_method(method)) for method in methods]
    if len(set(texts)) < len(texts) or len(set(models)) < len(models):
        raise UsageError("a model or a method is given twice; give each once")


def _list(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (piece.strip() for piece in text.split(","))))


def _processes(device: str) -> int:
    """The number of cores; 1 on a GPU."""
    from sacrecap.vision.devices import choose_device

    if choose_device(device).type != "cpu":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _show(what: str, done: int, of: int) -> None:
    filled = 20 * done // max(1, of)
    stage.text = f"{what} {'█' * filled}{'░' * (20 - filled)} {done:,} of {of:,}"
