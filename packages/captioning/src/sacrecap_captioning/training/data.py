"""Training data: features of images, and their captions in ids; any batch by the number of its step."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

import sacrecap
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.data.batches import TrainingBatch
from sacrecap_captioning.data.features import FeatureRows, GivenFeatures, cached_features
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.encoders.encoder import Encoder, Standard, to_pixels
from sacrecap_captioning.models.base import Features
from sacrecap_captioning.training.images import given_features
from sacrecap_captioning.training.settings import Settings
from sacrecap_captioning.vocabulary import END, Vocabulary

Tokens = tuple[str, ...]


class FeatureSource(Protocol):
    """The source of image features."""

    def __call__(self, numbers: Tensor, device: torch.device) -> Features:
        """Features of the images of these (B,) numbers, on the device."""


class FrozenFeatures:
    """Features that were computed before, read where they are asked for."""

    def __init__(self, features: FeatureRows, objects: Tensor | None = None) -> None:
        self.features = features
        self.objects = objects

    def __call__(self, numbers: Tensor, device: torch.device) -> Features:
        found = self.features.rows(numbers)
        if self.objects is not None:
            found = found._replace(objects=self.objects[numbers])
        return found.to(device)


class EncodedPixels:
    """Pixels, through an encoder that learns."""

    def __init__(self, pixels: Tensor, encoder: Encoder, objects: Tensor | None = None) -> None:
        self.pixels = pixels  # (images, 3, side, side) uint8
        self.encoder = encoder
        self.objects = objects

    def __call__(self, numbers: Tensor, device: torch.device) -> Features:
        found: Features = self.encoder(self.pixels[numbers].to(device).float().div(255))
        return found if self.objects is None else found._replace(objects=self.objects[numbers].to(device))


@dataclass(frozen=True)
class Split:
    """One split: image by image, features and captions."""

    ids: tuple[str, ...]
    """Image ids, as in caption sets."""
    references: tuple[tuple[str, ...], ...]
    """The captions of each image as they were written."""
    tokens: tuple[tuple[Tokens, ...], ...]
    """The same in words."""
    objects: tuple[tuple[str, ...], ...]
    """Labels of the objects of each image; none where the data set has none."""
    features: FeatureSource

    def __len__(self) -> int:
        return len(self.ids)

    def encoded(self, vocabulary: Vocabulary, length: int) -> list[Tensor]:
        """(R_i, length + 1) ids of the captions of each image, padded with END."""
        return [_padded([vocabulary.encode(caption, length) for caption in image], length + 1) for image in self.tokens]


def read_split(images: CaptionedImages, features: FeatureSource, tokenizer: str) -> Split:
    """The split of these images, whose features those are.

    Raises:
        DataError: an image without caption.
    """
    bare = [image.id for image in images if not image.references]
    if bare:
        raise DataError(f"image {bare[0]!r} has no caption; a captioner learns from images that have some")
    tokens = tokenised(images, tokenizer)
    return Split(
        tuple(image.id for image in images),
        tuple(image.references for image in images),
        tokens,
        tuple(image.objects for image in images),
        features,
    )


def tokenised(images: CaptionedImages, tokenizer: str) -> tuple[tuple[Tokens, ...], ...]:
    """The captions of each image in words."""
    flat = iter(sacrecap.tokenize([text for image in images for text in image.references], tokenizer=tokenizer))
    return tuple(tuple(tuple(next(flat)) for _ in image.references) for image in images)


@dataclass(frozen=True)
class Batches:
    """The batch of each step: each pass over all images has its own order, with k captions of each image.

    The images and captions depend only on seed and step, so that a resumed run continues with the same batch as without
    a break.
    """

    split: Split
    captions: Sequence[Tensor]
    """The value of `Split.encoded`."""
    images: int
    """B."""
    each: int
    """k."""
    seed: int
    rank: int = 0
    """Of this process among `world`, each of which takes its part of the B images."""
    world: int = 1

    def __post_init__(self) -> None:
        if self.images > len(self.split):
            raise UsageError(f"a batch of {self.images:,} images out of {len(self.split):,}; choose a smaller --batch")
        if self.images % self.world:
            raise UsageError(
                f"a batch of {self.images} images cannot be split among {self.world} processes; choose a multiple"
            )

    def __len__(self) -> int:
        """Steps of a pass; the few images that do not fill a batch differ from pass to pass."""
        return len(self.split) // self.images

    def at(self, step: int, device: torch.device) -> TrainingBatch:
        """The batch of a step, counted from 0."""
        numbers = self.numbers(step)
        drawing = random.Random(f"{self.seed} captions {step} {self.rank}")
        chosen = [self.captions[number][_draw(drawing, len(self.captions[number]), self.each)] for number in numbers]
        images = torch.tensor(numbers)
        return TrainingBatch(
            images.to(device), self.split.features(images, device), trimmed(torch.cat(chosen)).to(device)
        )

    def numbers(self, step: int) -> list[int]:
        """The images of this process in a step."""
        turn, place = divmod(step, len(self))
        order = _order(len(self.split), self.seed, turn)
        part = self.images // self.world
        start = place * self.images + self.rank * part
        return list(order[start : start + part])


@lru_cache(maxsize=1)
def _order(images: int, seed: int, turn: int) -> Sequence[int]:
    """The images of a pass in its order, kept for the steps of the pass."""
    order = list(range(images))
    random.Random(f"{seed} order {turn}").shuffle(order)
    return order


def trimmed(captions: Tensor) -> Tensor:
    """(N, T) captions without the columns in which all have ended before: at least one column stays."""
    longest = int((captions != END).sum(1).max())
    return captions[:, : longest + 1]


def _draw(drawing: random.Random, references: int, each: int) -> list[int]:
    """`each` of this many references; all of them are used before one is repeated."""
    drawn: list[int] = []
    while len(drawn) < each:
        drawn += drawing.sample(range(references), min(references, each - len(drawn)))
    return drawn


def _padded(rows: Sequence[Sequence[int]], width: int) -> Tensor:
    return torch.tensor([[*row, *[END] * (width - len(row))] for row in rows])


@dataclass(frozen=True)
class TrainingData:
    """The splits that training uses."""

    train: Split
    val: Split
    objects: tuple[str, ...]
    """Labels that occur in the training images, in the order of the columns of `Features.objects`."""
    checksum: str
    """Of all images, splits and captions."""


def prepare(
    images: CaptionedImages,
    encoder: Standard,
    settings: Settings,
    *,
    objects: tuple[str, ...] | None = None,
    cache: PathLike | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> TrainingData:
    """Reads the splits `train` and `val`.

    Args:
        images: all of a data set.
        encoder: of their features; where these are given, what standardises them.
        settings: of the run. Where its encoder learns, pixels are kept instead of features.
        objects: labels of objects, in the order of their columns; those of the training images by default.
        cache: folder of the features of frozen encoders; the user's cache folder by default.
        progress: told split, images done, and images.

    Raises:
        UsageError: a split has no image.
        DataError: images, features or captions are missing or cannot be read.
    """
    file = given_features(settings)
    train, val = images.split("train"), images.split("val")
    if objects is None:
        objects = tuple(sorted({label for image in train for label in image.objects}))

    def source(part: CaptionedImages, name: str) -> FeatureSource:
        marks = _marks(part, objects) if objects else None

        def show(done: int) -> None:
            if progress is not None:
                progress(name, done, len(part))

        if file is not None:
            given = GivenFeatures(file, part, encoder)
            given.check(show)
            return FrozenFeatures(given, marks)
        assert isinstance(encoder, Encoder)  # noqa: S101 - without features there is one
        if settings.train_encoder:
            return EncodedPixels(read_bytes_of_pixels(part, encoder.side, show), encoder, marks)
        kept = cached_features(part, encoder, cache or cache_folder(), dtype=settings.features_dtype, progress=show)
        return FrozenFeatures(kept, marks)

    return TrainingData(
        read_split(train, source(train, "train"), settings.tokenizer),
        read_split(val, source(val, "val"), settings.tokenizer),
        objects,
        images.checksum,
    )


def cache_folder() -> str:
    """The default folder for features."""
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("sacrecap"), "features")


def read_bytes_of_pixels(images: CaptionedImages, side: int, progress: Callable[[int], None] | None = None) -> Tensor:
    """(images, 3, side, side) uint8."""
    pixels = torch.empty(len(images), 3, side, side, dtype=torch.uint8)
    for number, image in enumerate(images):
        pixels[number] = to_pixels(images.open(image), side).mul(255).round().byte()
        if progress is not None:
            progress(number + 1)
    return pixels


def _marks(images: CaptionedImages, objects: Sequence[str]) -> Tensor:
    """(images, K): 1 for each object class that is in the image."""
    columns = {label: number for number, label in enumerate(objects)}
    marks = torch.zeros(len(images), len(objects))
    for row, image in enumerate(images):
        marks[row, [columns[label] for label in image.objects if label in columns]] = 1.0
    return marks
