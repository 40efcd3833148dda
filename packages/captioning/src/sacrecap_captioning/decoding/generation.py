"""Caption sets of images: by the captioner of a run folder, a checkpoint of transformers, or an endpoint.

generate("runs/att2in", method="rs(temperature=0.7)", captions=10, seed=1)
generate("Salesforce/blip-image-captioning-base", data="photos", method="beam")
generate(Endpoint("http://localhost:8000/v1", "qwen2.5-vl"), data="photos/*.jpg")
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import torch

import sacrecap
from sacrecap.data.captioned import CaptionedImage, is_captioned
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError, UsageError
from sacrecap.resources.endpoint import Endpoint
from sacrecap.vision.devices import choose_device
from sacrecap_captioning.checkpoints import enough_memory
from sacrecap_captioning.data.captioned_images import CaptionedImages, given_features
from sacrecap_captioning.data.encoder import Encoder
from sacrecap_captioning.data.features import FeatureRows
from sacrecap_captioning.decoding.endpoint_speaker import endpoint_sets, tell_of_cut
from sacrecap_captioning.decoding.journal import Journal
from sacrecap_captioning.decoding.methods import ImageBatch, SetMethod, set_method
from sacrecap_captioning.decoding.speaker import Speaker, TrainedSpeaker
from sacrecap_captioning.decoding.synonyms import Neighbours, near_words
from sacrecap_captioning.decoding.transformers_speaker import CHAT_LIMIT, PROMPT, TransformersSpeaker
from sacrecap_captioning.training.data import frozen_features, tokenised
from sacrecap_captioning.training.run_folder import BEST, CONFIG, ENCODER, RunFolder, with_features

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap_captioning.data.feature_file import FeatureFile


def generate(
    captioner: PathLike | Endpoint,
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
    prompt: str | Sequence[str] | None = None,
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
        captioner: a run folder; a checkpoint of transformers: its folder, or owner/name on the hub; or an endpoint.
        data: images, as `CaptionedImages.found` takes them, or a data set with captions; that of the run by default.
        listed: the images of `data`, if `read_captioned` has read them already.
        split: which split of a data set.
        method: a way to make caption sets, as `set_method` reads it.
        captions: number per image.
        limit: most words of a caption; by default as in training of the run; of other speakers the most tokens, by
            default 64 where they are asked in words, else 20.
        seed: of everything random.
        batch: images at a time.
        device: `cpu`, `cuda`, `cuda:1`; `auto` is the GPU when there is one.
        prompt: the question to a vision-language model; by default it asks for one sentence about the image. Several
            share out the captions of a set.
        dtype: number format of a checkpoint's weights: `auto` (as it was saved), `float32`, `bfloat16` or `float16`.
        quantise: `4bit` or `8bit`: load a checkpoint's weights with this number of bits, on a GPU; None: unchanged.
        on_missing: how to treat an image without a file, or without features: `error` or `skip`.
        features: file of the images' features, for a run that was trained with one; by default that of the run.
        cache: folder of the features of frozen encoders; the user's cache folder by default.
        journal: file that stores captions as they are made, so that a later call with the same arguments can continue;
            it stays when all are made. An endpoint has none: it keeps every answer itself.
        progress: called with the current step, the number of finished images, and the number of all images.

    Raises:
        UsageError: a name or number that is not accepted, or a captioner that cannot be used with the method.
        DataError: the captioner or the data set does not exist or is damaged.
    """
    chosen = set_method(method) if isinstance(method, str) else method
    prompts = _prompts(prompt, captions)
    if isinstance(captioner, Endpoint):
        asked = _images(data, captioner, split, on_missing, None, listed).split(split)
        return endpoint_sets(
            captioner,
            asked,
            chosen,
            captions=captions,
            limit=limit or CHAT_LIMIT,
            seed=seed,
            prompts=prompts or (PROMPT,),
            progress=_told(progress, "captioning", len(asked)),
        )
    place = choose_device(device)
    run = with_features(RunFolder.open(captioner), features) if is_run(captioner) else None
    if run is None and features is not None:
        raise UsageError(
            f"{os.fspath(captioner)} is a checkpoint, which looks at images itself; leave --features FILE out"
        )
    if run is not None:
        check_sees_changes(chosen, run.settings.features)
    file = None if run is None else given_features(run.settings)
    images = _images(data or _data_of(run, captioner), captioner, split, on_missing, file, listed)
    part = images.split(split)
    speaker: TrainedSpeaker | TransformersSpeaker
    rows = None
    if run is None:
        speaker = TransformersSpeaker(
            os.fspath(captioner), limit=limit, device=place, asked=bool(prompts), dtype=dtype, quantise=quantise
        )
    elif prompts or dtype != "auto" or quantise is not None:
        raise UsageError(
            f"{run.path}: is a run of sacrecap caption train; prompt, dtype and quantise are for checkpoints"
        )
    else:
        encoder = run.encoder().to(place)
        speaker = TrainedSpeaker(
            run.captioner().to(place),
            run.vocabulary,
            # As in validation: one more than the words in training, for the end.
            limit=limit or run.settings.length + 1,
            encoder=encoder if isinstance(encoder, Encoder) else None,
        )
        chosen.check(speaker, captions)
        if not (run.settings.train_encoder or chosen.alters_images):
            rows = frozen_features(part, encoder, file, cache, _told(progress, "reading", len(part)))
    tokenizer = "ptb" if run is None else run.settings.tokenizer
    kept: contextlib.AbstractContextManager[Journal | None] = contextlib.nullcontext()
    if journal is not None:
        decides = {
            "sacrecap": sacrecap.__version__,
            "captioner": _digest(run, captioner, speaker),
            "images": _images_digest(images, part, None if file is None else file.path),
            "split": split,
            "method": str(chosen),
            "captions": captions,
            "limit": limit,
            "seed": seed,
            "prompt": prompt,
            "dtype": dtype,
            "quantise": quantise,
        }
        kept = contextlib.closing(Journal(journal, decides, batch=batch))
    with kept as earlier:
        sets = make_sets(
            chosen,
            speaker,
            part,
            features=rows,
            training=lambda: [list(text) for image in tokenised(images.split("train"), tokenizer) for text in image],
            captions=captions,
            seed=seed,
            batch=batch,
            prompts=prompts,
            journal=earlier,
            progress=_told(progress, "captioning", len(part)),
        )
    if isinstance(speaker, TransformersSpeaker):
        tell_of_cut(speaker.cut, speaker.said, speaker.limit)
    return sets


def _images(
    data: PathLike | None,
    captioner: PathLike | Endpoint,
    split: str,
    on_missing: str,
    features: FeatureFile | None,
    listed: Sequence[CaptionedImage] | None,
) -> CaptionedImages:
    """The images of a data set with captions, or images alone."""
    if data is None:
        raise UsageError(f"{captioner}: knows no images: give some (--images WHAT)")
    if listed is None and features is None and not is_captioned(data):
        return CaptionedImages.found(data, split)
    return CaptionedImages.read(data, on_missing=on_missing, features=features, listed=listed)


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
    journal: Journal | None = None,
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
        journal: has the captions of the first images, and gets those of each batch as soon as they are made.
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

    sets: dict[str, list[str]] = {} if journal is None else dict(journal.sets)
    too_large = f"{batch} images with {captions} captions each do not fit into memory; use a smaller batch"
    for start in range(len(sets), len(images), batch):
        chosen = images[start : start + batch]
        seen = None if features is None else features.rows(torch.arange(start, start + len(chosen)))
        with enough_memory(too_large):
            made = _asked(method, speaker, _batch(speaker, chosen, seen, seed, near), each, prompts)
        new = dict(zip((image.id for image in chosen), made, strict=True))
        sets |= new
        if journal is not None:
            journal.keep(new)
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


def _data_of(run: RunFolder | None, captioner: PathLike) -> str:
    """The data that a run was trained with."""
    if run is None:
        raise UsageError(f"{os.fspath(captioner)} is a checkpoint, which knows no images: give some (--images WHAT)")
    if not os.path.exists(run.settings.data):
        raise DataError(
            f"{run.path}: its images are not at {run.settings.data}, as seen from this folder; say where "
            "(--images FOLDER)"
        )
    return run.settings.data


def _digest(run: RunFolder | None, captioner: PathLike, speaker: Speaker) -> str:
    """The same for the same captioner: of a run its weights, of a folder its files, of the hub the revision."""
    if run is not None:
        with reading(run.path):
            return _hash([(run.path / name).read_bytes() for name in (BEST, ENCODER)])
    if os.path.isdir(captioner):
        return _hash([_stamp(path) for path in sorted(Path(captioner).iterdir())])
    return _hash([os.fspath(captioner).encode(), str(getattr(speaker, "revision", None)).encode()])


def _images_digest(images: CaptionedImages, part: CaptionedImages, features: str | None) -> str:
    """The same for the same data set, and the same files of the images, or of their features."""
    files = [f"{image.file}\0{part.stamp(image)}".encode() for image in part]
    return _hash([images.checksum.encode(), *(files if features is None else [_stamp(Path(features))])])


def _hash(parts: Sequence[bytes]) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _stamp(path: Path) -> bytes:
    """Changes when the file does."""
    info = path.stat()
    return f"{path.name}\0{info.st_size}\0{info.st_mtime_ns}".encode()


def _told(progress: Callable[[str, int, int], None] | None, what: str, images: int) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress(what, done, images)
