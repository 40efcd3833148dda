"""Training data: features of images, and their captions in ids; any batch by the number of its step."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import torch
from torch import Tensor

import sacrecap
from sacrecap.data.places import in_cache
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.data.captioned_images import CaptionedImages, given_features
from sacrecap_captioning.data.encoder import Encoder, Standardisation
from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.data.features import EncodedPixels, FeatureRows, GivenFeatures, cached_features
from sacrecap_captioning.models.captioner import Features
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training.losses import TrainingBatch
from sacrecap_captioning.vocabulary import END, Vocabulary

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Split:
    """One split: image by image, features and captions."""

    ids: tuple[str, ...]
    """Image ids, as in caption sets."""
    tokens: tuple[tuple[Tokens, ...], ...]
    """The captions of each image in words."""
    objects: tuple[tuple[str, ...], ...]
    """Labels of the objects of each image; none where the data set has none."""
    features: FeatureRows
    marks: Tensor | None = None
    """(images, K): 1 for each object class that is in the image."""

    def __len__(self) -> int:
        return len(self.ids)

    def seen(self, numbers: Tensor, device: torch.device) -> Features:
        """Features of the images of these (B,) numbers, on the device."""
        found = self.features.rows(numbers).to(device)
        return found if self.marks is None else found._replace(objects=self.marks[numbers].to(device))

    def encoded(self, vocabulary: Vocabulary, length: int) -> list[Tensor]:
        """(R_i, length + 1) ids of the captions of each image, padded with END."""
        return [_padded([vocabulary.encode(caption, length) for caption in image], length + 1) for image in self.tokens]


def read_split(images: CaptionedImages, features: FeatureRows, tokenizer: str, objects: Sequence[str] = ()) -> Split:
    """The split of these images, whose features those are; `objects` are the classes to mark.

    Raises:
        DataError: an image without caption.
    """
    bare = [image.id for image in images if not image.references]
    if bare:
        raise DataError(f"image {bare[0]!r} has no caption; a captioner learns from images that have some")
    return Split(
        tuple(image.id for image in images),
        tokenised(images, tokenizer),
        tuple(image.objects for image in images),
        features,
        _marks(images, objects) if objects else None,
    )


def tokenised(images: CaptionedImages, tokenizer: str) -> tuple[tuple[Tokens, ...], ...]:
    """The captions of each image in words."""
    flat = iter(sacrecap.tokenize([text for image in images for text in image.references], tokenizer=tokenizer))
    return tuple(tuple(tuple(next(flat)) for _ in image.references) for image in images)


@dataclass(frozen=True)
class Batches:
    """The batch of each step: each pass over all images has its own order, with k captions of each image.

    The images and captions depend only on seed and step, also where a run continues.
    """

    split: Split
    captions: Sequence[Tensor]
    """The value of `Split.encoded`."""
    images: int
    """B."""
    each: int
    """k."""
    seed: int

    def __post_init__(self) -> None:
        if self.images > len(self.split):
            raise UsageError(f"a batch of {self.images:,} images out of {len(self.split):,}; choose a smaller --batch")

    def __len__(self) -> int:
        """Steps of a pass; the few images that do not fill a batch differ from pass to pass."""
        return len(self.split) // self.images

    def at(self, step: int, device: torch.device) -> TrainingBatch:
        """The batch of a step, counted from 0."""
        numbers = self.numbers(step)
        drawing = random.Random(f"{self.seed} captions {step} 0")
        chosen = [self.captions[number][_draw(drawing, len(self.captions[number]), self.each)] for number in numbers]
        images = torch.tensor(numbers)
        return TrainingBatch(images.to(device), self.split.seen(images, device), trimmed(torch.cat(chosen)).to(device))

    def numbers(self, step: int) -> list[int]:
        """The images of a step."""
        turn, place = divmod(step, len(self))
        order = _order(len(self.split), self.seed, turn)
        return list(order[place * self.images : (place + 1) * self.images])


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
    encoder: Standardisation,
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

    def read(part: CaptionedImages, name: str) -> Split:
        def show(done: int) -> None:
            if progress is not None:
                progress(name, done, len(part))

        if file is None and settings.train_encoder:
            features: FeatureRows = EncodedPixels(part, cast("Encoder", encoder), show)
        else:
            features = frozen_features(part, encoder, file, cache, show)
        return read_split(part, features, settings.tokenizer, objects)

    return TrainingData(read(train, "train"), read(val, "val"), objects, images.checksum)


def frozen_features(
    images: CaptionedImages,
    encoder: Standardisation,
    file: FeatureFile | None,
    cache: PathLike | None,
    progress: Callable[[int], None] | None = None,
) -> FeatureRows:
    """Features of images by a frozen encoder; or of a file, of which all are looked at once.

    Raises:
        DataError: see `GivenFeatures` and `cached_features`.
    """
    if file is None:
        return cached_features(images, cast("Encoder", encoder), cache or in_cache("features"), progress=progress)
    given = GivenFeatures(file, images, encoder)
    given.check(progress)
    return given


def _marks(images: CaptionedImages, objects: Sequence[str]) -> Tensor:
    """(images, K): 1 for each object class that is in the image."""
    columns = {label: number for number, label in enumerate(objects)}
    marks = torch.zeros(len(images), len(objects))
    for row, image in enumerate(images):
        marks[row, [columns[label] for label in image.objects if label in columns]] = 1.0
    return marks
