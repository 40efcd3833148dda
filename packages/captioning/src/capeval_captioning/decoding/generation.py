"""Caption sets of the images of a data set: by the captioner of a run folder, or by a checkpoint of transformers.

generate("runs/att2in", method="rs(temperature=0.7)", captions=10, seed=1)
generate("Salesforce/blip-image-captioning-base", data="flickr8k", method="beam")
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from capeval.data.source import PathLike
from capeval.errors import DataError, UsageError
from capeval.vision.device import choose_device
from capeval_captioning.data.features import cached_features
from capeval_captioning.data.images import CaptionedImages
from capeval_captioning.decoding.sets import SetMethod, Speaker, TrainedSpeaker, make_sets, set_method
from capeval_captioning.training.data import cache_folder, tokenised
from capeval_captioning.training.run_folder import CONFIG, RunFolder

if TYPE_CHECKING:
    from capeval_captioning.models import Features

LIMIT = 20
"""Most tokens of a checkpoint's caption."""


def generate(
    captioner: PathLike,
    *,
    data: PathLike | None = None,
    split: str = "test",
    method: str | SetMethod = "rs",
    captions: int = 10,
    limit: int | None = None,
    seed: int = 0,
    batch: int = 32,
    device: str = "auto",
    prompt: str | None = None,
    dtype: str = "auto",
    on_missing: str = "error",
    cache: PathLike | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, list[str]]:
    """Caption sets by image id.

    Args:
        captioner: a run folder; or a checkpoint of transformers: its folder, or owner/name on the hub.
        data: the captioned images; those of the run by default.
        split: which of them.
        method: a way to make caption sets, as `set_method` reads it.
        captions: number per image.
        limit: most words of a caption; by default as many as the run was trained with, or 20 tokens of a checkpoint.
        seed: of everything random.
        batch: images at a time.
        device: `cpu`, `cuda`, `cuda:1`; `auto` is the GPU when there is one.
        prompt: what a vision-language checkpoint is asked: one sentence about the image, by default.
        dtype: numbers of a checkpoint's weights: `auto` (as it was saved), `float32`, `bfloat16` or `float16`.
        on_missing: what an image without a file means: `error` or `skip`.
        cache: folder of the features of frozen encoders; the user's cache folder by default.
        progress: told what is done, images done, and images.

    Raises:
        UsageError: a name or number that is not accepted, or a captioner that is not for the method.
        DataError: no captioner or no data set is there, or either is damaged.
    """
    speaker: Speaker
    chosen = set_method(method) if isinstance(method, str) else method
    place = choose_device(device)
    run = RunFolder.open(captioner) if is_run(captioner) else None
    images = CaptionedImages.read(data or _data_of(run, captioner), on_missing=on_missing)
    part = images.split(split)
    if run is None:
        speaker = _checkpoint(captioner, limit, place, prompt, dtype)
    elif prompt is not None or dtype != "auto":
        raise UsageError(f"{run.path}: is a run of capeval caption train; prompt and dtype are for checkpoints")
    else:
        speaker = run_speaker(run, place, limit)
    chosen.check(speaker, captions)
    features = None
    if run is not None and not run.settings.train_encoder and not chosen.alters_images:
        features = _features(part, speaker, cache, progress)

    tokenizer = "ptb" if run is None else run.settings.tokenizer
    return make_sets(
        chosen,
        speaker,
        part,
        features=features,
        training=lambda: [list(caption) for image in tokenised(images.split("train"), tokenizer) for caption in image],
        captions=captions,
        seed=seed,
        batch=batch,
        progress=_told(progress, "captioning", len(part)),
    )


def is_run(place: PathLike) -> bool:
    """Whether a folder is of `capeval caption train`, rather than a checkpoint's or a name on the hub.

    Raises:
        DataError: it is neither.
    """
    if not os.path.isdir(place):
        if os.fspath(place).count("/") == 1 and not os.path.exists(place):
            return False
        raise DataError(
            f"{os.fspath(place)}: is not a folder; a captioner is a folder of capeval caption train, or a checkpoint "
            "of transformers: its folder, or owner/name on the hub"
        )
    try:
        config = json.loads((Path(place) / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DataError(
            f"{os.fspath(place)}: holds neither a run of capeval caption train nor a checkpoint of transformers: both "
            f"have a {CONFIG}"
        ) from None
    return isinstance(config, dict) and "capeval" in config


def run_speaker(run: RunFolder, device: torch.device, limit: int | None = None) -> TrainedSpeaker:
    """The captioner of a run with the weights of its best validation.

    Raises:
        DataError: the run has none yet, or is damaged.
    """
    model, encoder = run.captioner().to(device), run.encoder().to(device)
    # As in validation: one more than the words that training sees, which is the place of the end.
    return TrainedSpeaker(model, run.vocabulary, limit=limit or run.settings.length + 1, encoder=encoder)


def _data_of(run: RunFolder | None, captioner: PathLike) -> str:
    """The data that a run was trained with."""
    if run is None:
        raise UsageError(f"{os.fspath(captioner)} is a checkpoint, which knows no images: give some (--data FOLDER)")
    if not os.path.exists(run.settings.data):
        raise DataError(
            f"{run.path}: its images are not at {run.settings.data}, as seen from this folder; say where "
            "(--data FOLDER)"
        )
    return run.settings.data


def _checkpoint(name: PathLike, limit: int | None, device: torch.device, prompt: str | None, dtype: str) -> Speaker:
    from capeval_captioning.decoding.sets.transformers_speaker import TransformersSpeaker

    return TransformersSpeaker(os.fspath(name), limit=limit or LIMIT, device=device, prompt=prompt, dtype=dtype)


def _features(
    images: CaptionedImages,
    speaker: Speaker,
    cache: PathLike | None,
    progress: Callable[[str, int, int], None] | None,
) -> Features | None:
    """Features of a frozen encoder, kept because the next method needs them too."""
    if not isinstance(speaker, TrainedSpeaker) or speaker.encoder is None:
        return None

    show = _told(progress, "reading", len(images))
    return cached_features(images, speaker.encoder, cache or cache_folder(), progress=show)


def _told(progress: Callable[[str, int, int], None] | None, what: str, images: int) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress(what, done, images)
