"""Caption sets of images: by the captioner of a run folder, a checkpoint of transformers, or an endpoint.

generate("runs/att2in", method="rs(temperature=0.7)", captions=10, seed=1)
generate("Salesforce/blip-image-captioning-base", data="photos", method="beam")
generate(Endpoint("http://localhost:8000/v1", "qwen2.5-vl"), data="photos/*.jpg")
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import torch

from sacrecap.data.captioned import CaptionedImage, is_captioned
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, UsageError
from sacrecap.resources.endpoint import Endpoint
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.checkpoints import enough_memory
from sacrecap_captioning.data.captioned_images import CaptionedImages, given_features
from sacrecap_captioning.data.encoder import Encoder
from sacrecap_captioning.data.features import FeatureRows
from sacrecap_captioning.decoding.endpoint_speaker import endpoint_sets, tell_of_cut
from sacrecap_captioning.decoding.methods import ImageBatch, SetMethod, set_method
from sacrecap_captioning.decoding.speaker import Speaker, TrainedSpeaker
from sacrecap_captioning.decoding.synonyms import Neighbours, near_words
from sacrecap_captioning.decoding.transformers_speaker import CHAT_LIMIT, PROMPT, TransformersSpeaker
from sacrecap_captioning.training.data import frozen_features, tokenised
from sacrecap_captioning.training.run_folder import CONFIG, RunFolder, with_features

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap_captioning.data.feature_file import FeatureFile


def generate(
    captioner: PathLike | Endpoint,
    *,
    data: PathLike | None = None,
    listed: Sequence[CaptionedImage] | None = None,
    split: str = "test",
    on_missing: str = "error",
    method: str | SetMethod = "rs",
    captions: int = 10,
    limit: int | None = None,
    seed: int = 0,
    batch: int = 32,
    device: str = "auto",
    prompt: str | Sequence[str] | None = None,
    features: PathLike | None = None,
    cache: PathLike | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, list[str]]:
    """Caption sets by image id.

    Args:
        captioner: a run folder; a checkpoint of transformers: its folder, or owner/name on the hub; or an endpoint.
        data: images, as `CaptionedImages.found` takes them, or a data set with captions; that of the run by default.
        listed: the images of `data`, if `read_captioned` has read them already.
        split: which split of a data set.
        on_missing: how to treat an image without a file, or without features: `error` or `skip`.
        method: a way to make caption sets, as `set_method` reads it.
        captions: number per image.
        limit: most words of a caption; by default as in training of the run; of other speakers the most tokens, by
            default 64 where they are asked in words, else 20.
        seed: of everything random.
        batch: images at a time.
        device: `cpu`, `cuda`, `cuda:1`; `auto` is the GPU when there is one.
        prompt: the question to a vision-language model; by default it asks for one sentence about the image. Several
            share out the captions of a set.
        features: file of the images' features, for a run that was trained with one; by default that of the run.
        cache: folder of the features of frozen encoders; the user's cache folder by default.
        progress: called with the current step, the number of finished images, and the number of all images.

    Raises:
        UsageError: a name or number that is not accepted, or a captioner that cannot be used with the method.
        DataError: the captioner or the data set does not exist or is damaged.
    """
    source = _Source(data, listed, split, on_missing)
    chosen = set_method(method) if isinstance(method, str) else method
    request = _Request(chosen, captions, limit, seed, batch, _prompts(prompt, captions), progress)
    if isinstance(captioner, Endpoint):
        return _by_endpoint(captioner, source, request)
    place = choose_device(device)
    if is_run(captioner):
        return _by_run(with_features(RunFolder.open(captioner), features), source, request, place, cache)
    if features is not None:
        raise UsageError(
            f"{os.fspath(captioner)} is a checkpoint, which looks at images itself; leave --features FILE out"
        )
    return _by_checkpoint(os.fspath(captioner), source, request, place)


@dataclass(frozen=True)
class _Source:
    """The images that are captioned: see `generate`."""

    data: PathLike | None
    listed: Sequence[CaptionedImage] | None
    split: str
    on_missing: str

    def read(
        self, captioner: str, data_of_run: str | None = None, features: FeatureFile | None = None
    ) -> tuple[CaptionedImages, CaptionedImages]:
        """All images of a data set with captions, by default that of the run, or images alone; and those of the split.

        Raises:
            UsageError: no images are named, or none is in the split.
            DataError: they cannot be read.
        """
        data = self.data or data_of_run
        if data is None:
            raise UsageError(f"{captioner}, which knows no images: give some (--images WHAT)")
        if self.listed is None and features is None and not is_captioned(data):
            images = CaptionedImages.found(data, self.split)
        else:
            images = CaptionedImages.read(data, on_missing=self.on_missing, features=features, listed=self.listed)
        return images, images.split(self.split)


@dataclass(frozen=True)
class _Request:
    """The caption sets that are made: see `generate`."""

    method: SetMethod
    captions: int
    limit: int | None
    seed: int
    batch: int
    prompts: tuple[str, ...]
    progress: Callable[[str, int, int], None] | None

    def sets(
        self,
        speaker: Speaker,
        part: CaptionedImages,
        images: CaptionedImages,
        tokenizer: str = "ptb",
        features: FeatureRows | None = None,
    ) -> dict[str, list[str]]:
        """Those of a part of the images by a speaker; methods that learn do so from the captions of the split train."""
        return make_sets(
            self.method,
            speaker,
            part,
            features=features,
            training=lambda: [list(text) for image in tokenised(images.split("train"), tokenizer) for text in image],
            captions=self.captions,
            seed=self.seed,
            batch=self.batch,
            prompts=self.prompts,
            progress=self.progress_of("captioning", part),
        )

    def progress_of(self, step: str, images: CaptionedImages) -> Callable[[int], None] | None:
        """Tells the number of finished images of a step."""
        progress = self.progress
        return None if progress is None else lambda done: progress(step, done, len(images))


def _by_endpoint(endpoint: Endpoint, source: _Source, request: _Request) -> dict[str, list[str]]:
    _, part = source.read(f"{endpoint} is an endpoint")
    return endpoint_sets(
        endpoint,
        part,
        request.method,
        captions=request.captions,
        limit=request.limit or CHAT_LIMIT,
        seed=request.seed,
        prompts=request.prompts or (PROMPT,),
        progress=request.progress_of("captioning", part),
    )


def _by_checkpoint(name: str, source: _Source, request: _Request, device: torch.device) -> dict[str, list[str]]:
    images, part = source.read(f"{name} is a checkpoint")
    speaker = TransformersSpeaker(name, limit=request.limit, device=device, asked=bool(request.prompts))
    sets = request.sets(speaker, part, images)
    tell_of_cut(speaker.cut, speaker.said, speaker.limit)
    return sets


def _by_run(
    run: RunFolder, source: _Source, request: _Request, device: torch.device, cache: PathLike | None
) -> dict[str, list[str]]:
    settings = run.settings
    check_sees_changes(request.method, settings.features)
    if request.prompts:
        raise UsageError(f"{run.path}: is a run of sacrecap caption train; prompts are for other captioners")
    if source.data is None and not os.path.exists(settings.data):
        raise DataError(
            f"{run.path}: its images are not at {settings.data}, as seen from this folder; say where (--images FOLDER)"
        )
    file = given_features(settings)
    images, part = source.read(str(run.path), settings.data, file)
    encoder = run.encoder().to(device)
    speaker = TrainedSpeaker(
        run.captioner().to(device),
        run.vocabulary,
        # As in validation: one more than the words in training, for the end.
        limit=request.limit or settings.length + 1,
        encoder=encoder if isinstance(encoder, Encoder) else None,
    )
    request.method.check(speaker, request.captions)
    features = None
    if not (settings.train_encoder or request.method.alters_images):
        features = frozen_features(part, encoder, file, cache, request.progress_of("reading", part))
    return request.sets(speaker, part, images, settings.tokenizer, features)


def make_sets(
    method: SetMethod,
    speaker: Speaker,
    images: CaptionedImages,
    *,
    features: FeatureRows | None = None,
    training: Callable[[], Sequence[Sequence[str]]] | None = None,
    captions: int = 10,
    seed: int = 0,
    batch: int = 32,
    prompts: Sequence[str] = (),
    progress: Callable[[int], None] | None = None,
) -> dict[str, list[str]]:
    """Several captions of each image, by image id.

    An image's captions depend on the speaker, the method, the seed and the image, not on the batch (up to what rounding
    does to nearly equal likelihoods).

    Args:
        method: from `set_method`.
        speaker: a `TrainedSpeaker`, or another.
        images: the images to caption.
        features: of these images in their order, where they are known; else images are opened and encoded.
        training: gives the tokenised training captions, for methods that learn from them.
        captions: number per image.
        seed: of everything random.
        batch: images at a time.
        prompts: what a `TransformersSpeaker` is asked, in turn: each for as many captions of a set.
        progress: called with the number of finished images.

    Raises:
        UsageError: no captions are requested, or the speaker cannot be used with this method.
        DataError: an image cannot be read, or the batch does not fit into memory.
    """
    if captions < 1:
        raise UsageError(f"a caption set has one caption or more, got {captions}")
    each = captions // max(1, len(prompts))
    method.check(speaker, each)

    @cache
    def near(count: int, least: int) -> Neighbours:
        if training is None:
            raise UsageError(f"{method} learns words' neighbours from training captions; give some")
        return near_words(training(), count, least)

    sets: dict[str, list[str]] = {}
    too_large = f"{batch} images with {captions} captions each do not fit into memory; use a smaller batch"
    for start in range(0, len(images), batch):
        chosen = images[start : start + batch]
        seen = None if features is None else features.rows(torch.arange(start, start + len(chosen)))
        with enough_memory(too_large):
            made = _asked(method, speaker, _batch(speaker, chosen, seen, seed, near), each, prompts)
        sets |= zip((image.id for image in chosen), made, strict=True)
        if progress is not None:
            progress(len(sets))
    return sets


def _asked(
    method: SetMethod, speaker: Speaker, images: ImageBatch, captions: int, prompts: Sequence[str]
) -> list[list[str]]:
    """The captions of each image: so many by each prompt."""
    if not prompts:
        return method.sets(speaker, images, captions)
    made: list[list[str]] = [[] for _ in images.chances]
    for prompt in prompts:
        cast("TransformersSpeaker", speaker).ask(prompt)
        for own, more in zip(made, method.sets(speaker, images, captions), strict=True):
            own.extend(more)
    return made


def _prompts(prompt: str | Sequence[str] | None, captions: int) -> tuple[str, ...]:
    """The prompts, where any are given. Raises `UsageError` if they cannot share out the captions."""
    prompts = (prompt,) if isinstance(prompt, str) else tuple(prompt or ())
    if prompts and captions % len(prompts):
        raise UsageError(f"{len(prompts)} prompts cannot share out {captions} captions; give a multiple (--captions)")
    return prompts


def _batch(
    speaker: Speaker, images: CaptionedImages, seen: object | None, seed: int, near: Callable[[int, int], Neighbours]
) -> ImageBatch:
    def pictures() -> list[Image]:
        return [images.open(image) for image in images]

    def look() -> object:
        return speaker.see(pictures()) if seen is None else seen

    return ImageBatch(look, pictures, [_chance(seed, image.id) for image in images], near)


def _chance(seed: int, image: str) -> np.random.Generator:
    """The generator of an image's random numbers."""
    digest = hashlib.sha256(image.encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


def is_run(place: PathLike) -> bool:
    """Whether a folder is of `sacrecap caption train`, rather than a checkpoint's or a name on the hub.

    Raises:
        DataError: it is neither.
    """
    if not os.path.isdir(place):
        if os.fspath(place).count("/") == 1 and not os.path.exists(place):
            return False
        raise DataError(
            f"{os.fspath(place)}: is not a folder; a captioner is a folder of sacrecap caption train, a checkpoint of "
            "transformers (its folder, or owner/name on the hub), or the address of an endpoint (http://host:8000/v1)"
        )
    try:
        config = json.loads((Path(place) / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DataError(
            f"{os.fspath(place)}: holds neither a run of sacrecap caption train nor a checkpoint of transformers: both "
            f"have a {CONFIG}"
        ) from None
    return isinstance(config, dict) and "sacrecap" in config


def check_sees_changes(method: SetMethod, features: PathLike | None) -> None:
    """Raises `UsageError` for a method that changes images, if the features come from a file and cannot change."""
    if features is not None and method.alters_images:
        raise UsageError(
            f"{method.name} changes the images, and the captioner is given features of a file ({os.fspath(features)}), "
            "which stay what they are; choose another method"
        )
