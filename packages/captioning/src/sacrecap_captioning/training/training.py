"""Trains one captioner: steps, validations, and checkpoints from which a run continues to the same bits.

    train(Settings(data="scenes", model="att2in"), "runs/att2in")
    train(Settings(data="scenes", model="att2in", loss="xe + 5*cider-d", init="runs/att2in"), "runs/att2in-5")

The data and random numbers of each step depend only on the settings and the step, and a checkpoint holds all state:
weights, Adam's moments, generators, sums of the log. So on a CPU, with the same number of threads, an interrupted and
resumed run ends with the same bits as one without a break.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

import sacrecap
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.encoders.encoder import Standard
from sacrecap_captioning.encoders.load import load_encoder
from sacrecap_captioning.models import Sizes, build
from sacrecap_captioning.names import WORDS
from sacrecap_captioning.training.data import TrainingData, cache_folder, prepare, tokenised
from sacrecap_captioning.training.images import read_images
from sacrecap_captioning.training.loop import Outcome, TrainingLoop, TrainingProgress
from sacrecap_captioning.training.pretraining import measured, prepared_encoder
from sacrecap_captioning.training.processes import Processes
from sacrecap_captioning.training.run_folder import BEGIN, RunFolder, check_new, with_features
from sacrecap_captioning.training.settings import MAY_CHANGE, Settings
from sacrecap_captioning.vocabulary import Vocabulary


def train(
    settings: Settings,
    folder: PathLike,
    *,
    images: CaptionedImages | None = None,
    cache: PathLike | None = None,
    tensorboard: bool = True,
    progress: Callable[[TrainingProgress], None] | None = None,
    reading: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """Trains a captioner in a new run folder.

    Args:
        settings: all settings that determine the result.
        folder: of the run; created if it does not exist.
        images: the data set, if it was read before; `settings.data` by default.
        cache: folder of frozen features; the user's cache folder by default.
        tensorboard: whether to write for TensorBoard too.
        progress: called after each step.
        reading: called while images are read, with split, images done, and all images.

    Raises:
        UsageError: settings that cannot be used together or with the data.
        DataError: the data cannot be used; the folder holds a run already; memory ran out.
    """
    check_new(folder)
    processes = Processes.join(settings.device)
    start = RunFolder.open(settings.init) if settings.init is not None else None
    images = images or read_images(settings)
    torch.manual_seed(settings.seed)
    with processes.first_then_others():
        if start is None:
            encoder = _encoder(images, settings, cache, processes, reading).to(processes.device)
        else:
            _check_same(start, settings)
            encoder = start.encoder().to(processes.device)
        objects = start.objects if start else None
        data = prepare(images, encoder, settings, objects=objects, cache=cache, progress=reading)
    vocabulary = _vocabulary(data, settings) if start is None else start.vocabulary
    sizes = _sizes(vocabulary, encoder, data, settings)
    run = RunFolder(Path(folder), settings, vocabulary, sizes, data.objects, data.checksum)
    model = build(settings.model, sizes)
    if start is not None:
        model.load_state_dict(start.captioner().state_dict())
    loop = TrainingLoop(run, data, model, encoder, processes, tensorboard)
    if processes.first:
        run.create(encoder, model)
    return loop.go(progress)


def resume(
    folder: PathLike,
    *,
    changes: Mapping[str, Any] | None = None,
    images: CaptionedImages | None = None,
    cache: PathLike | None = None,
    tensorboard: bool = True,
    progress: Callable[[TrainingProgress], None] | None = None,
    reading: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """Continues a run from its last checkpoint; the result is the same as without the break.

    Args:
        folder: of the run.
        changes: new values for settings of `MAY_CHANGE`: more `steps`, another `device`.
        images: as for `train`.
        cache: folder of frozen features.
        tensorboard: whether to write for TensorBoard too.
        progress: called after each step.
        reading: told while images are read.

    Raises:
        UsageError: a change of a setting that must stay the same.
        DataError: no run is there, it is of another version, or the data are not those that it began with.
    """
    run = _changed(RunFolder.open(folder), changes or {})
    settings = run.settings
    processes = Processes.join(settings.device)
    images = images or read_images(settings)
    if images.checksum != run.data_checksum:
        raise DataError(
            f"{settings.data}: the images, splits or captions are not those that {run.path} was trained with (checksum "
            f"{images.checksum}, then {run.data_checksum}); begin a new run from its weights (--init {run.path})"
        )
    torch.manual_seed(settings.seed)
    encoder = run.encoder("encoder.pt").to(processes.device)
    with processes.first_then_others():
        data = prepare(images, encoder, settings, objects=run.objects, cache=cache, progress=reading)
    loop = TrainingLoop(run, data, run.captioner(BEGIN), encoder, processes, tensorboard)
    loop.restore()
    return loop.go(progress)


def _changed(run: RunFolder, changes: Mapping[str, Any]) -> RunFolder:
    """The run with changed settings, where they may change."""
    now = run.settings.to_json()
    with_features(run, changes.get("features"))
    other = [name for name, value in changes.items() if now[name] != value and name not in MAY_CHANGE]
    if other:
        listed = ", ".join(f"{name} ({now[name]!r} before, {changes[name]!r} now)" for name in other)
        raise UsageError(
            f"a resumed run may change only {', '.join(MAY_CHANGE)}, but {listed} changed; leave these out, or "
            f"begin a new run from its weights (--init {run.path})"
        )
    if run.version != sacrecap.__version__:
        raise DataError(
            f"{run.path}: was begun by sacrecap {run.version}, this is {sacrecap.__version__}, which may not "
            f"continue with the same bits; use that version, or begin a new run from its weights (--init {run.path})"
        )
    return dataclasses.replace(run, settings=dataclasses.replace(run.settings, **changes))


INHERITED = (
    "model",
    "encoder",
    "side",
    "features_dtype",
    "tokenizer",
    "length",
    "hidden",
    "embedding",
    "attention",
    "latent",
)
"""Settings that a run has from the run whose weights it starts from."""


def _check_same(start: RunFolder, settings: Settings) -> None:
    """Raises `UsageError` if weights of the run could not be those of this one."""
    if (start.settings.features is None) != (settings.features is None):
        raise UsageError(
            f"the weights of {start.path} are for features of {_source(start.settings)}, not of {_source(settings)}; "
            "train without --init"
        )
    for name in INHERITED:
        before, now = getattr(start.settings, name), getattr(settings, name)
        if before != now:
            raise UsageError(
                f"{name} is {now!r}, but {before!r} in {start.path}, whose weights this run starts from; "
                "leave it out, or train without --init"
            )


def _source(settings: Settings) -> str:
    return f"the encoder {settings.encoder}" if settings.features is None else f"the file {settings.features}"


def _encoder(
    images: CaptionedImages,
    settings: Settings,
    cache: PathLike | None,
    processes: Processes,
    reading: Callable[[str, int, int], None] | None,
) -> Standard:
    """The encoder that a run begins with, or what standardises given features.

    Weights learned from words are kept in the cache.
    """
    if settings.features is not None:
        return measured(FeatureFile(settings.features), images.split("train"))
    if settings.train_encoder and settings.weights != WORDS:
        return load_encoder(settings.encoder, weights=settings.weights, side=settings.side)
    train = images.split("train")
    return prepared_encoder(
        train,
        tokenised(train, settings.tokenizer),
        cache or cache_folder(),
        name=settings.encoder,
        weights=settings.weights,
        side=settings.side,
        epochs=settings.encoder_epochs,
        seed=settings.seed,
        device=processes.device,
        progress=lambda done, steps, _: reading and reading("train, for the encoder,", done, steps),
    ).requires_grad_(settings.train_encoder)


def _vocabulary(data: TrainingData, settings: Settings) -> Vocabulary:
    vocabulary = Vocabulary.build((caption for image in data.train.tokens for caption in image), least=settings.least)
    if len(vocabulary) == 2:
        raise UsageError(
            f"no word occurs {settings.least} times in the training captions of {settings.data}; "
            "choose a smaller --least"
        )
    return vocabulary


def _sizes(vocabulary: Vocabulary, encoder: Standard, data: TrainingData, settings: Settings) -> Sizes:
    return Sizes(
        len(vocabulary),
        encoder.feature,
        hidden=settings.hidden,
        embedding=settings.embedding,
        attention=settings.attention,
        latent=settings.latent,
        objects=len(data.objects),
        dropout=settings.dropout,
    )
