"""Caption sets of the images of a data set: by the captioner of a run folder, or by a checkpoint of transformers.

generate("runs/att2in", method="rs(temperature=0.7)", captions=10, seed=1)
generate("Salesforce/blip-image-captioning-base", data="flickr8k", method="beam")
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

import sacrecap
from sacrecap.data.captioned import CaptionedImage
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError, UsageError
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.data.features import FeatureRows, GivenFeatures, cached_features
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.decoding.journal import Journal
from sacrecap_captioning.decoding.sets import SetMethod, Speaker, TrainedSpeaker, make_sets, set_method
from sacrecap_captioning.encoders.encoder import Encoder
from sacrecap_captioning.training.data import cache_folder, tokenised
from sacrecap_captioning.training.images import given_features
from sacrecap_captioning.training.run_folder import BEST, CONFIG, ENCODER, VOCABULARY, RunFolder, with_features

LIMIT = 20
"""Most tokens of a checkpoint's caption."""


def generate(
    captioner: PathLike,
    *,
    data: PathLike | None = None,
    listed: Sequence[CaptionedImage] | None = None,
    split: str = "test",
    method: str | SetMethod = "rs",
    captions: int = 10,
    limit: int | None = None,
    seed: int = 0,
    batch: int = 32,
    device: str = "auto",
    prompt: str | None = None,
    dtype: str = "auto",
    quantise: str | None = None,
    on_missing: str = "error",
    features: PathLike | None = None,
    cache: PathLike | None = None,
    journal: PathLike | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, list[str]]:
    """Caption sets by image id.

    Args:
        captioner: a run folder; or a checkpoint of transformers: its folder, or owner/name on the hub.
        data: the captioned images; those of the run by default.
        listed: the images of `data`, if `read_captioned` has read them already.
        split: which split of them.
        method: a way to make caption sets, as `set_method` reads it.
        captions: number per image.
        limit: most words of a caption; by default as in training of the run, or 20 tokens for a checkpoint.
        seed: of everything random.
        batch: images at a time.
        device: `cpu`, `cuda`, `cuda:1`; `auto` is the GPU when there is one.
        prompt: the question to a vision-language checkpoint; by default it asks for one sentence about the image.
        dtype: number format of a checkpoint's weights: `auto` (as it was saved), `float32`, `bfloat16` or `float16`.
        quantise: `4bit` or `8bit`: load a checkpoint's weights with this number of bits, on a GPU; None: unchanged.
        on_missing: how to treat an image without a file, or without features: `error` or `skip`.
        features: file of the images' features, for a run that was trained with one; by default that of the run.
        cache: folder of the features of frozen encoders; the user's cache folder by default.
        journal: file that stores captions as they are made, so that a later call with the same arguments can continue;
            it stays when all are made.
        progress: called with the current step, the number of finished images, and the number of all images.

    Raises:
        UsageError: a name or number that is not accepted, or a captioner that cannot be used with the method.
        DataError: the captioner or the data set does not exist or is damaged.
    """
    speaker: Speaker
    chosen = set_method(method) if isinstance(method, str) else method
    place = choose_device(device)
    run = with_features(RunFolder.open(captioner), features) if is_run(captioner) else None
    if run is None and features is not None:
        raise UsageError(
            f"{os.fspath(captioner)} is a checkpoint, which looks at images itself; leave --features FILE out"
        )
    file = None if run is None else _given(run, chosen)
    place_of_data = data or _data_of(run, captioner)
    images = CaptionedImages.read(place_of_data, on_missing=on_missing, features=file, listed=listed)
    part = images.split(split)
    if run is None:
        speaker = _checkpoint(captioner, limit, place, prompt=prompt, dtype=dtype, quantise=quantise)
    elif prompt is not None or dtype != "auto" or quantise is not None:
        raise UsageError(
            f"{run.path}: is a run of sacrecap caption train; prompt, dtype and quantise are for checkpoints"
        )
    else:
        speaker = run_speaker(run, place, limit)
    chosen.check(speaker, captions)
    rows = None
    if run is not None and not run.settings.train_encoder and not chosen.alters_images:
        rows = run_features(run, part, file, cache or cache_folder(), _told(progress, "reading", len(part)), place)
    tokenizer = "ptb" if run is None else run.settings.tokenizer
    with contextlib.ExitStack() as open_files:
        kept = None
        if journal is not None:
            decides = {
                "sacrecap": sacrecap.__version__,
                "captioner": _digest(run, captioner, speaker),
                "images": _images_digest(images, part, file),
                "split": split,
                "method": str(chosen),
                "captions": captions,
                "limit": limit,
                "seed": seed,
                "prompt": prompt,
                "dtype": dtype,
                "quantise": quantise,
            }
            kept = open_files.enter_context(contextlib.closing(Journal(journal, decides, batch=batch)))
        return make_sets(
            chosen,
            speaker,
            part,
            features=rows,
            training=lambda: [list(text) for image in tokenised(images.split("train"), tokenizer) for text in image],
            captions=captions,
            seed=seed,
            batch=batch,
            made=None if kept is None else kept.sets,
            keep=None if kept is None else kept.keep,
            progress=_told(progress, "captioning", len(part)),
        )


def _digest(run: RunFolder | None, captioner: PathLike, speaker: Speaker) -> str:
    """The same for the same captioner: of a run its weights, of a folder its files, of the hub the revision."""
    digest = hashlib.sha256()
    if run is not None:
        for name in (BEST, ENCODER, VOCABULARY):
            with reading(run.path / name):
                digest.update((run.path / name).read_bytes())
    elif os.path.isdir(captioner):
        for path in sorted(Path(captioner).iterdir()):
            info = path.stat()
            digest.update(f"{path.name}\0{info.st_size}\0{info.st_mtime_ns}\0".encode())
    else:
        digest.update(f"{os.fspath(captioner)}\0{getattr(speaker, 'revision', None)}".encode())
    return digest.hexdigest()[:16]


def _images_digest(images: CaptionedImages, part: CaptionedImages, file: FeatureFile | None) -> str:
    """The same for the same data set, and the same files of the images, or of their features."""
    digest = hashlib.sha256(images.checksum.encode())
    if file is None:
        for image in part:
            digest.update(f"{image.file}\0{part.stamp(image)}\0".encode())
    else:
        info = os.stat(file.path)
        digest.update(f"{info.st_size}\0{info.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def is_run(place: PathLike) -> bool:
    """Whether a folder is of `sacrecap caption train`, rather than a checkpoint's or a name on the hub.

    Raises:
        DataError: it is neither.
    """
    if not os.path.isdir(place):
        if os.fspath(place).count("/") == 1 and not os.path.exists(place):
            return False
        raise DataError(
            f"{os.fspath(place)}: is not a folder; a captioner is a folder of sacrecap caption train, or a checkpoint "
            "of transformers: its folder, or owner/name on the hub"
        )
    try:
        config = json.loads((Path(place) / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DataError(
            f"{os.fspath(place)}: holds neither a run of sacrecap caption train nor a checkpoint of transformers: both "
            f"have a {CONFIG}"
        ) from None
    return isinstance(config, dict) and "sacrecap" in config


def run_speaker(run: RunFolder, device: torch.device, limit: int | None = None) -> TrainedSpeaker:
    """The captioner of a run with the weights of its best validation.

    Raises:
        DataError: the run has none yet, or is damaged.
    """
    model, encoder = run.captioner().to(device), run.encoder().to(device)
    return TrainedSpeaker(
        model,
        run.vocabulary,
        # As in validation: one more than the words in training, for the end.
        limit=limit or run.settings.length + 1,
        encoder=encoder if isinstance(encoder, Encoder) else None,
    )


def run_features(
    run: RunFolder,
    images: CaptionedImages,
    file: FeatureFile | None,
    cache: PathLike,
    progress: Callable[[int], None] | None = None,
    device: torch.device | None = None,
) -> FeatureRows:
    """Features of images as the captioner of a run takes them: of the file, or of the run's frozen encoder.

    Raises:
        DataError: the file has features of another size; or see `cached_features`.
    """
    encoder = run.encoder()
    if not isinstance(encoder, Encoder):
        assert file is not None  # noqa: S101 - a run has one or the other
        return GivenFeatures(file, images, encoder)
    dtype = run.settings.features_dtype
    return cached_features(images, encoder.to(device), cache, dtype=dtype, progress=progress)


def check_sees_changes(method: SetMethod, features: PathLike | None) -> None:
    """Raises `UsageError` for a method that changes images, if the features come from a file and cannot change."""
    if features is not None and method.alters_images:
        raise UsageError(
            f"{method.name} changes the images, and the captioner is given features of a file ({os.fspath(features)}), "
            "which stay what they are; choose another method"
        )


def _given(run: RunFolder, method: SetMethod) -> FeatureFile | None:
    """The file of features of a run that was trained with one."""
    check_sees_changes(method, run.settings.features)
    return given_features(run.settings)


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


def _checkpoint(name: PathLike, limit: int | None, device: torch.device, **options: Any) -> Speaker:
    from sacrecap_captioning.decoding.sets.transformers_speaker import TransformersSpeaker

    return TransformersSpeaker(os.fspath(name), limit=limit or LIMIT, device=device, **options)


def _told(progress: Callable[[str, int, int], None] | None, what: str, images: int) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress(what, done, images)
