"""Caption sets of images: by the captioner of a run folder, a checkpoint of transformers, or an endpoint.

generate("runs/att2in", method="rs(temperature=0.7)", captions=10, seed=1)
generate("Salesforce/blip-image-captioning-base", data="photos", method="beam")
generate(Endpoint("http://localhost:8000/v1", "qwen2.5-vl"), data="photos/*.jpg")
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import Tensor

import sacrecap
from sacrecap.data.captioned import CaptionedImage, is_captioned
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, UsageError, warn
from sacrecap.resources.endpoint import Endpoint, Question
from sacrecap.rewards import CaptionReward
from sacrecap.rewards.completions import CompletionBatch
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.captioned_images import CaptionedImages, given_features
from sacrecap_captioning.encoders import Encoder, FeatureRows, enough_memory
from sacrecap_captioning.run_folder import CONFIG, RunFolder, with_features
from sacrecap_captioning.search import Sampling
from sacrecap_captioning.set_methods import (
    Beam,
    ImageBatch,
    Neighbours,
    RandomSampling,
    SetMethod,
    Speaker,
    TrainedSpeaker,
    in_sets,
    near_words,
    set_method,
)
from sacrecap_captioning.training_data import frozen_features, tokenised
from sacrecap_captioning.transformers_speaker import CHAT_LIMIT, PROMPT, TransformersSpeaker

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap.data.captioned import CaptionedImage
    from sacrecap_captioning.captioned_images import CaptionedImages, FeatureFile

CHUNK = 512
"""Questions that are asked together: what waits for an answer takes memory."""


def endpoint_sets(
    endpoint: Endpoint,
    images: CaptionedImages,
    method: SetMethod,
    *,
    captions: int,
    limit: int,
    seed: int,
    prompts: Sequence[str] = (PROMPT,),
    progress: Callable[[int], None] | None = None,
) -> dict[str, list[str]]:
    """Captions of each image, by image id; empty where the endpoint refuses one, of which a warning tells.

    Raises:
        UsageError: a method other than sampling with a temperature and top-p, or the likeliest answer to each prompt.
        SacrecapError: the endpoint does not answer, or the budget is spent; what was answered is kept.
    """
    each = captions // len(prompts)
    sampling = _sampling(method, each)
    sets: dict[str, list[str]] = {}
    ends: list[str] = []
    together = max(1, CHUNK // captions)
    for start in range(0, len(images), together):
        chunk = images[start : start + together]
        questions = [
            Question(
                prompts[number // each],
                images=(partial(_bytes, images, image),),
                tokens=limit,
                temperature=sampling.temperature,
                top_p=sampling.nucleus,
                seed=seed + number if sampling.temperature else None,
            )
            for image in chunk
            for number in range(captions)
        ]
        answers = endpoint.ask(questions)
        ends += [answer.end for answer in answers]
        said = (answer.text if answer.end in {"stop", "length"} else "" for answer in answers)
        made = in_sets([" ".join(text.split()) for text in said], captions)
        sets |= zip((image.id for image in chunk), made, strict=True)
        if progress is not None:
            progress(len(sets))
    unsaid = len(ends) - ends.count("stop") - ends.count("length")
    if unsaid:
        warn(f"{unsaid:,} of {len(ends):,} captions are empty: the endpoint refused them, or did not accept the image")
    tell_of_cut(ends.count("length"), len(ends), limit)
    return sets


def tell_of_cut(cut: int, captions: int, limit: int) -> None:
    """Warns of captions that were cut at the limit."""
    if cut:
        warn(f"{cut:,} of {captions:,} captions were cut at {limit} tokens; give a larger --limit")


def _bytes(images: CaptionedImages, image: CaptionedImage) -> bytes:
    """The file of an image, as it is."""
    if images.files is None:
        raise UsageError("an endpoint looks at images, and only their features are known")
    return images.files.read(image.file)


def _sampling(method: SetMethod, captions: int) -> Sampling:
    """How words are drawn, for this many captions by one prompt; the temperature 0 is for the likeliest answer."""
    if isinstance(method, RandomSampling) and not method.top_k:
        return Sampling(method.temperature, nucleus=method.nucleus)
    if isinstance(method, Beam) and captions == 1:
        return Sampling(0.0)
    raise UsageError(
        "an endpoint samples with a temperature and top-p, rs(temperature=0.7, nucleus=0.9), or gives the likeliest "
        f"answer to each prompt, --method beam --captions 1; got {method} for {captions} captions by a prompt"
    )


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


TYPICAL, NEAREST = "most typical captions", "captions of the nearest images"
BLIND = {name: f"{name.replace(' ', '-')}.json" for name in (TYPICAL, NEAREST)}
"""The files of their sets in the folder of a sweep."""
_CAPTIONS, _IMAGES = 200, 300
"""How many training captions are tried, and on how many training images."""
_TOGETHER = 256


def blind_sets(
    images: CaptionedImages, split: str, number: int, run: RunFolder | None = None, cache: PathLike | None = None
) -> dict[str, dict[str, list[str]]]:
    """Sets of so many captions for the images of a split, by name, from the captions of the split `train`.

    Which images are near is what the features of the run's encoder say; without a run it is not known.
    """
    train, part = images.split("train"), images.split(split)
    typical = typical_captions(train, number)
    sets = {TYPICAL: {image.id: typical for image in part}}
    if run is not None:
        file, encoder = given_features(run.settings), run.encoder()
        of_train, of_part = (frozen_features(each, encoder, file, cache) for each in (train, part))
        sets[NEAREST] = nearest_captions(train, part, of_train, of_part, number)
    return sets


def typical_captions(train: CaptionedImages, number: int) -> list[str]:
    """The training captions, of a sample, with the highest mean CIDEr-D on a sample of the training images."""
    draws = random.Random(0)
    images = draws.sample(list(train), min(_IMAGES, len(train)))
    texts = sorted({text for image in train for text in image.references})
    tried = draws.sample(texts, min(_CAPTIONS, len(texts)))
    ids = [image.id for image in images]
    reward = CaptionReward({image.id: list(image.references) for image in images}, "cider-d", end=False)
    # Not as a reward is called, which would warn that a policy says the same of all images.
    words = dict(zip(tried, sacrecap.tokenize(tried), strict=True))
    means = {text: reward.rewards(CompletionBatch([own] * len(ids), ids)).mean() for text, own in words.items()}
    return sorted(tried, key=lambda text: -means[text])[:number]


def nearest_captions(
    train: CaptionedImages, part: CaptionedImages, of_train: FeatureRows, of_part: FeatureRows, number: int
) -> dict[str, list[str]]:
    """For each image the captions of the training images whose features have the greatest cosine with its own."""
    known = _directions(of_train, len(train))
    sets = {}
    for start in range(0, len(part), _TOGETHER):
        rows = torch.arange(start, min(start + _TOGETHER, len(part)))
        likely = (_directions_of(of_part, rows) @ known.T).topk(min(number, len(train))).indices.tolist()  # (B, k)
        for row, places in zip(rows.tolist(), likely, strict=True):
            copied = [text for place in places for text in train[place].references]
            sets[part[row].id] = copied[:number]
    return sets


def _directions(features: FeatureRows, images: int) -> Tensor:
    """(images, D) vectors of length 1."""
    return torch.cat([_directions_of(features, rows) for rows in torch.split(torch.arange(images), _TOGETHER)])


def _directions_of(features: FeatureRows, rows: Tensor) -> Tensor:
    return torch.nn.functional.normalize(features.rows(rows).pooled.cpu().flatten(1))
