"""Caption sets of many images, batch by batch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from sacrecap.errors import UsageError
from sacrecap_captioning.decoding.sets.method import ImageBatch, SetMethod
from sacrecap_captioning.decoding.sets.speaker import Speaker

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap_captioning.data.features import FeatureRows
    from sacrecap_captioning.data.images import CaptionedImages


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
    made: Mapping[str, Sequence[str]] | None = None,
    keep: Callable[[Mapping[str, Sequence[str]]], None] | None = None,
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
        made: captions of the first images, by image id, if an earlier call made them.
        keep: given the captions of each batch as soon as they are made.
        progress: called with the number of finished images.

    Raises:
        UsageError: no captions are requested; the speaker cannot be used with this method; the batch does not fit into
            memory.
        DataError: an image cannot be read.
    """
    if captions < 1:
        raise UsageError(f"a caption set has one caption or more, got {captions}")
    method.check(speaker, captions)
    if training is not None:
        method = method.prepared(training)
    sets = {image: list(captions_of_image) for image, captions_of_image in (made or {}).items()}
    for start in range(len(sets), len(images), batch):
        chosen = range(start, min(start + batch, len(images)))
        found = _made(method, speaker, _batch(speaker, images, chosen, features, seed), captions)
        new = dict(zip((images[number].id for number in chosen), found, strict=True))
        sets |= new
        if keep is not None:
            keep(new)
        if progress is not None:
            progress(len(sets))
    return sets


def _made(method: SetMethod, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
    try:
        return method.sets(speaker, images, captions)
    except (MemoryError, RuntimeError) as error:
        # Where it is the CPU's memory, torch has no class for it.
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        raise UsageError(
            f"{len(images.chances)} images with {captions} captions each do not fit into memory; use a smaller batch"
        ) from None


def _batch(
    speaker: Speaker, images: CaptionedImages, chosen: range, features: FeatureRows | None, seed: int
) -> ImageBatch:
    def pictures() -> list[Image]:
        return [images.open(images[number]) for number in chosen]

    def seen() -> object:
        return speaker.see(pictures()) if features is None else features.rows(torch.tensor(chosen))

    return ImageBatch(seen, pictures, [chance(seed, images[number].id) for number in chosen])


def chance(seed: int, image: str) -> np.random.Generator:
    """The generator of an image's random numbers."""
    digest = hashlib.sha256(image.encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])
