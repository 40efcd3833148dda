"""`sacrecap caption train`: one captioner."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sacrecap.cli import options
from sacrecap.cli.interruptible import stage
from sacrecap.errors import UsageError
from sacrecap_captioning.cli import places
from sacrecap_captioning.cli.threads import one_thread, torch_needed
from sacrecap_captioning.names import check_weights
from sacrecap_captioning.training.images import read_images
from sacrecap_captioning.training.settings import FEATURE_DTYPES, PRECISIONS, SCHEDULES, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from sacrecap_captioning.training.loop import Outcome, TrainingProgress


def _setting(name: str, text: str, kind: Any = None, **others: Any) -> Callable[[Any], Any]:
    """The option of a setting, with the default that `Settings` has."""
    default = {field.name: field.default for field in dataclasses.fields(Settings)}[name]
    shown = default is not None and not isinstance(default, bool)
    return click.option(
        f"--{name.replace('_', '-')}", name, type=kind, default=default, show_default=shown, help=text, **others
    )


ENCODER_HELP = (
    "small (for the made-up scenes), a classification network of torchvision, or a vision model of transformers: its "
    "folder, or owner/name on the hub."
)

_NUMBER, _COUNT, _POSITIVE = click.IntRange(0), click.IntRange(1), click.FloatRange(0, min_open=True)


@click.command()
@click.argument("data", required=False)
@click.option("--output", "-o", required=True, metavar="RUN", help="The run folder to make, or to continue.")
@_setting("model", "The captioner: nic, fc, softatt, att2in, adapatt, cvae, gmm-cvae, cgan.", metavar="NAME")
@_setting("loss", "What to minimise: a mixture such as 'xe + 5*cider-d'.", metavar="MIXTURE")
@_setting(
    "baseline",
    "What a sample's reward is compared with: the greedy caption's, or the mean of the image's other samples.",
    click.Choice(["greedy", "others"]),
)
@_setting("df", "Document frequencies of ids for the reward cider-d; by default the captions' own.", metavar="FILE")
@_setting("retrieval", "The model of the reward retrieval, from sacrecap caption retrieval.", metavar="FILE")
@_setting("init", "Start from the best weights of this run, as cross-entropy before rewards.", metavar="RUN")
@click.option("--resume", is_flag=True, help="Continue RUN from its last checkpoint, with its own settings.")
@_setting("encoder", ENCODER_HELP, metavar="NAME|FOLDER")
@_setting(
    "weights",
    "The encoder's weights: a name of torchvision, a file, random, or words: learned first from the words of the "
    "training captions; auto: those of a checkpoint, else random.",
    metavar="NAME|FILE",
)
@_setting("encoder_epochs", "Passes over the images to learn --weights words.", _COUNT, metavar="N")
@_setting("images", "Use only this many images of each split; all by default.", _COUNT, metavar="N")
@_setting("train_encoder", "Train the encoder too, instead of computing its features once.", is_flag=True)
@_setting("side", "Pixels of the square that images are resized to.", _COUNT, metavar="PIXELS")
@_setting("on_missing", "What to do with an image without a file.", click.Choice(["error", "skip"]))
@_setting("tokenizer", "The tokenizer, which cuts captions into words.", click.Choice(["ptb", "whitespace"]))
@_setting("least", "Least occurrences of a word of the vocabulary.", _COUNT, metavar="N")
@_setting("length", "Most words of a caption.", _COUNT, metavar="N")
@_setting("hidden", "Units of the LSTM.", _COUNT, metavar="N")
@_setting("embedding", "Size of a word vector.", _COUNT, metavar="N")
@_setting("attention", "Units of the attention.", _COUNT, metavar="N")
@_setting("latent", "Size of the latent vector, or of the noise.", _COUNT, metavar="N")
@_setting("dropout", "Share of the units before the word layer to leave out in training.", click.FloatRange(0, 0.99))
@_setting("batch", "Images per step, over all processes.", _COUNT, metavar="N")
@_setting("captions", "Captions per image of a step.", _COUNT, metavar="N")
@_setting("steps", "Steps in all.", _COUNT, metavar="N")
@_setting("rate", "Learning rate of Adam.", _POSITIVE)
@_setting("schedule", "How the rate falls over the steps.", click.Choice(SCHEDULES))
@_setting("warmup", "First steps, over which the rate rises.", _NUMBER, metavar="N")
@_setting("weight_decay", "Of AdamW.", click.FloatRange(0))
@_setting("clip", "Largest norm of a step's gradient.", _POSITIVE)
@_setting("precision", "Number format of the forward pass.", click.Choice(PRECISIONS))
@_setting("seed", "Seed of everything random.", _NUMBER, metavar="N")
@_setting("validate_every", "Steps between validations; 0: one per pass over the images.", _NUMBER, metavar="N")
@_setting("patience", "Stop after this many validations without a better CIDEr-D; 0: never.", _NUMBER, metavar="N")
@_setting("log_every", "Steps per line of the log.", _COUNT, metavar="N")
@_setting("device", "cpu, cuda, cuda:1, mps; auto: the GPU when there is one.", metavar="NAME")
@places.features
@_setting(
    "features_dtype",
    "Number format of stored features of frozen encoders; float16 needs half the disk space.",
    click.Choice(FEATURE_DTYPES),
)
@click.option("--tensorboard/--no-tensorboard", default=True, show_default=True, help="Write for TensorBoard too.")
@options.quiet
def command(
    data: str | None, output: str, resume: bool, features: str | None, tensorboard: bool, **settings: Any
) -> None:
    """Train a captioner on the images of DATA, and keep the run in a folder.

    DATA is a folder with a Karpathy split file, Flickr8k, Flickr30k or COCO, or a folder of sacrecap caption scenes.
    Several GPUs: torchrun --nproc-per-node 4 -m sacrecap caption train …
    """
    given = {name: value for name, value in settings.items() if was_given(name)}
    if data is not None:
        given["data"] = data
    file, cache = places.places(features)
    if file is not None:
        places.check_no_encoder(file, given)
        given["features"] = file
    with torch_needed("training captioners"):
        outcome = _run(output, given, resume, cache=cache, tensorboard=tensorboard)
    if os.environ.get("RANK", "0") != "0":
        return  # torchrun's first process speaks for all
    early = " (stopped early)" if outcome.stopped_early else ""
    options.emit(
        f"{outcome.folder}: {outcome.step:,} steps{early}; best CIDEr-D {outcome.cider_d:.4f} at step "
        f"{outcome.best_step:,}"
    )


def _run(output: str, given: dict[str, Any], resume: bool, **places: Any) -> Outcome:
    """Begins a run, or continues it."""
    if not resume and "init" not in given:
        if "data" not in given:
            raise UsageError("which images? Give their folder: sacrecap caption train DATA -o RUN")
        stage.text = "reading the data"  # before torch is loaded, which takes seconds
        settings = Settings(**given)
        check_weights(settings.encoder, settings.weights)
        places["images"] = images = read_images(settings)
        for split in ("train", "val"):
            images.split(split)
    stage.text = "loading PyTorch"
    from sacrecap_captioning.training import training
    from sacrecap_captioning.training.run_folder import RunFolder

    one_thread()
    if resume:
        return training.resume(output, changes=given, progress=_show, reading=_show_reading, **places)
    if "init" in given:
        begun = RunFolder.open(given["init"]).settings
        given = {**{name: getattr(begun, name) for name in ("data", "features", *training.INHERITED)}, **given}
    return training.train(Settings(**given), output, progress=_show, reading=_show_reading, **places)


def was_given(name: str) -> bool:
    """Whether the option of this name is on the command line."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def _show_reading(split: str, done: int, images: int) -> None:
    stage.text = f"reading {split} {_bar(done, images)} {done:,} of {images:,} images"


def _show(progress: TrainingProgress) -> None:
    """A bar with losses and CIDEr-D, for the line that a terminal shows."""
    losses = " · ".join(f"{name} {value:.3f}" for name, value in progress.losses.items() if name != "seconds")
    scores = "" if progress.validation is None else f" · CIDEr-D {progress.validation:.3f} (best {progress.best:.3f})"
    done = f"{_bar(progress.step, progress.steps)} step {progress.step:,} of {progress.steps:,}"
    stage.text = f"training {done} · {losses}{scores}"


def _bar(done: int, of: int) -> str:
    filled = 20 * done // max(1, of)
    return "█" * filled + "░" * (20 - filled)
