"""A training run: features of images, their captions in ids, any batch by the number of its step, encoder, folder.

The folder holds everything needed to repeat the run, and to make captions:

config.json       version of the folder and of sacrecap, settings, sizes, words in the order of their ids, object
                  classes, checksums of data and encoder
encoder.pt        the encoder's weights as the run began
best.pt           the weights of the best validation: captioner, and encoder where it learns
log.jsonl         a line every few steps, and one per validation

All but the log is there from the first validation on.

An encoder from scratch learns which words people use of an image, and is frozen then.

Words of captions as labels of images: Fang et al., *From captions to visual concepts and back* (CVPR 2015), section
3; Wu et al., *What value do explicit high level concepts have in vision to language problems?* (CVPR 2016). Here the
target of a word is the share of the image's captions that have it, the loss is binary cross-entropy, and the layer that
predicts words is discarded. No weights from elsewhere are needed, and captioners on the frozen features train many
times faster than with the encoder.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import cast

import torch
from platformdirs import user_cache_path
from torch import Tensor, nn

import sacrecap
from sacrecap.data import atomic_write
from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages, FeatureFile, counted, given_features
from sacrecap_captioning.captioner import END, Captioner, Features, Sizes, Vocabulary
from sacrecap_captioning.encoders import (
    Encoder,
    FeatureRows,
    Standardisation,
    cached_features,
    given_rows,
    load_encoder,
    read_bytes_of_pixels,
    read_pixels,
    read_tensors,
    write_tensors,
)
from sacrecap_captioning.models import build
from sacrecap_captioning.objective import TrainingBatch
from sacrecap_captioning.settings import (
    CONFIG,
    FORMAT,
    RANDOM,
    WORDS,
    PathLike,
    Progress,
    Settings,
    check_encoder,
    make_folder,
    read_run,
    silent,
)

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

    def features_of(self, numbers: Tensor, device: torch.device) -> Features:
        """Features of the images of these (B,) numbers, on the device."""
        features = self.features(numbers).to(device)
        return features if self.marks is None else features._replace(objects=self.marks[numbers].to(device))

    def encoded(self, vocabulary: Vocabulary, length: int) -> list[Tensor]:
        """(R_i, length + 1) ids of the captions of each image, padded with END."""
        encoded = [[vocabulary.encode(caption, length) for caption in image] for image in self.tokens]
        return [torch.tensor([[*row, *[END] * (length + 1 - len(row))] for row in rows]) for rows in encoded]


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
    captions_each: int
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
        turn, place = divmod(step, len(self))
        numbers = _order(len(self.split), self.seed, turn)[place * self.images : (place + 1) * self.images]
        drawing = random.Random(f"{self.seed} captions {step} 0")
        chosen = []
        for number in numbers:
            drawn, references = list[int](), len(self.captions[number])
            while len(drawn) < self.captions_each:  # all references are used before one is repeated
                drawn += drawing.sample(range(references), min(references, self.captions_each - len(drawn)))
            chosen.append(self.captions[number][drawn])
        images = torch.tensor(numbers)
        captions = torch.cat(chosen)  # (N, T), of which the columns go in which all have ended before
        longest = int((captions != END).sum(1).max())
        features = self.split.features_of(images, device)
        return TrainingBatch(images.to(device), features, captions[:, : longest + 1].to(device))


@lru_cache(maxsize=1)
def _order(images: int, seed: int, turn: int) -> list[int]:
    """The images of a pass in its order, kept for the steps of the pass."""
    order = list(range(images))
    random.Random(f"{seed} order {turn}").shuffle(order)
    return order


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
    progress: Progress = silent,
) -> TrainingData:
    """Reads the splits `train` and `val` of a data set, with features by the encoder; where it learns, with pixels.

    `objects` are labels in the order of their columns, by default those of the training images; `cache` is the folder
    of the features of frozen encoders, by default the user's; `progress` is told split, images done, and images.

    Raises:
        UsageError: a split has no image.
        DataError: images, features or captions are missing or cannot be read.
    """
    file = given_features(settings)
    train, val = images.split("train"), images.split("val")
    if objects is None:
        objects = tuple(sorted({label for image in train for label in image.objects}))
    columns = {label: number for number, label in enumerate(objects)}

    def read(part: CaptionedImages, name: str) -> Split:
        show = counted(progress, name, part)
        if file is None and settings.train_encoder:
            pixels = read_bytes_of_pixels(part, encoder.side, show)

            def encoded(numbers: Tensor) -> Features:
                return cast("Features", encoder(pixels[numbers].to(encoder.pooled_mean.device).float().div(255)))

            features: FeatureRows = encoded
        else:
            features = frozen_features(part, encoder, file, cache, show)
        bare = [image.id for image in part if not image.references]
        if bare:
            raise DataError(f"image {bare[0]!r} has no caption; a captioner learns from images that have some")
        marks = torch.zeros(len(part), len(columns))
        for row, image in enumerate(part):
            marks[row, [columns[label] for label in image.objects if label in columns]] = 1.0
        return Split(
            tuple(image.id for image in part),
            tokenised(part, settings.tokenizer),
            tuple(image.objects for image in part),
            features,
            marks if columns else None,
        )

    return TrainingData(read(train, "train"), read(val, "val"), objects, images.checksum)


def frozen_features(
    images: CaptionedImages,
    encoder: Standardisation,
    file: FeatureFile | None,
    cache: PathLike | None,
    progress: Callable[[int], None] = silent,
) -> FeatureRows:
    """Features of images by a frozen encoder; or of a file, of which all are looked at once.

    Raises:
        DataError: see `given_rows` and `cached_features`.
    """
    if file is None:
        folder = cache or user_cache_path("sacrecap") / "features"
        return cached_features(images, cast("Encoder", encoder), folder, progress=progress)
    rows = given_rows(file, images, encoder)
    for numbers in torch.split(torch.arange(len(images)), 256):
        rows(numbers)  # so that a bad one is found before hours of training
        progress(int(numbers[-1]) + 1)
    return rows


def learn_words(encoder: Encoder, images: CaptionedImages, settings: Settings, progress: Progress = silent) -> None:
    """Trains the encoder, in place and on its device, to predict the commonest words of the training images' captions.

    It ends in evaluation mode.
    """
    batch, rate = 16, 3e-3
    random = torch.Generator().manual_seed(settings.seed)
    device = encoder.mean.device
    targets = _shares(tokenised(images, settings.tokenizer))  # (images, words)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        telling = nn.Linear(encoder.feature, targets.shape[1]).to(device)
    weights = [*encoder.parameters(), *telling.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=rate, weight_decay=1e-2)
    # The last images of an order that fill no batch wait for the next order.
    batches = [
        rows
        for _ in range(settings.encoder_epochs)
        for rows in torch.split(torch.randperm(len(images), generator=random), batch)
        if len(rows) == min(batch, len(images))
    ]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=rate, total_steps=len(batches) + 1)
    encoder.train()
    stored = read_bytes_of_pixels(images, encoder.side) if len(images) * 3 * encoder.side**2 <= _MOST_KEPT else None
    for step, rows in enumerate(batches):
        if stored is None:
            pixels = read_pixels(images, [images[row] for row in rows.tolist()], encoder.side)
        else:
            pixels = stored[rows].float().div(255)
        loss = _telling_loss(telling, encoder(pixels.to(device)), targets[rows].to(device))
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
        schedule.step()
        progress("train, for the encoder,", step + 1, len(batches))
    encoder.eval()


def first_encoder(
    train: CaptionedImages,
    settings: Settings,
    cache: PathLike | None = None,
    device: torch.device | str = "cpu",
    progress: Progress = silent,
) -> Standardisation:
    """The encoder that a run begins with, on the CPU or the device; or what standardises given features.

    One that is frozen, or learns words first, is standardised. What was learned is kept in the cache, for the same
    images, captions, encoder, epochs and seed. Random weights are drawn from the seed. `progress` is called after every
    step of learning.

    Raises:
        DataError: the cache cannot be made or written; or see `load_encoder`.
        UsageError: see `load_encoder`.
    """
    apart = -(-len(train) // _STANDARD)  # between the images that features are standardised over
    if (file := given_features(settings)) is not None:
        standard = Standardisation(file.feature)
        rows_of = given_rows(file, train, standard)
        standard.measure([rows_of(numbers) for numbers in torch.split(torch.arange(0, len(train), apart), 64)])
        return standard
    name, weights, side = settings.encoder, settings.weights, settings.side
    check_encoder(name, weights)
    if settings.train_encoder and weights != WORDS:
        return load_encoder(name, weights=weights, side=side)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        encoder = load_encoder(name, weights=RANDOM if weights == WORDS else weights, side=side).to(device)
        batches = (train[first : first + 64 * apart : apart] for first in range(0, len(train), 64 * apart))
        some_pixels = (read_pixels(train, images, encoder.side) for images in batches)
        folder = Path(cache or user_cache_path("sacrecap") / "features")
        path = folder / f"{name}-{encoder.side}-{train.checksum}-{settings.encoder_epochs}-{settings.seed}.pt"
        if weights == WORDS and path.exists():
            encoder = load_encoder(name, weights=str(path), side=side).to(device)
        elif weights == WORDS:
            learn_words(encoder, train, settings, progress)
            encoder.standardise(some_pixels)
            make_folder(folder)
            write_tensors(path, encoder.state_dict())
        elif not encoder.standardised:
            encoder.standardise(some_pixels)
    return encoder.eval().requires_grad_(settings.train_encoder)


def _telling_loss(telling: nn.Module, features: Features, targets: Tensor) -> Tensor:
    """Of words told from the whole image, and of words told from its regions, of which the surest decides."""
    regions = telling(features.grid)  # (B, R, W)
    anywhere = regions.logsumexp(1) - math.log(regions.shape[1])  # (B, W)
    whole = telling(features.pooled)
    loss = nn.functional.binary_cross_entropy_with_logits
    return loss(anywhere, targets) + loss(whole, targets)


_MOST_KEPT = 2**30
"""Bytes of pixels that are kept in memory while the encoder trains; more are read again for every step."""
_STANDARD = 2000
"""Images that features are standardised over."""


def _shares(tokens: Sequence[Sequence[Sequence[str]]], words: int = 500) -> Tensor:
    """(images, words): the share of each image's captions that have each of the commonest words."""
    counts = Counter(token for captions in tokens for caption in captions for token in set(caption))
    chosen = sorted(counts, key=lambda token: (-counts[token], token))[:words]
    numbers = {token: number for number, token in enumerate(chosen)}
    shares = torch.zeros(len(tokens), len(chosen))
    for row, captions in enumerate(tokens):
        for caption in captions:
            for token in {token for token in caption if token in numbers}:
                shares[row, numbers[token]] += 1 / len(captions)
    return shares


ENCODER, BEST, LOG = "encoder.pt", "best.pt", "log.jsonl"


@dataclass(frozen=True)
class RunFolder:
    """A training run on disk."""

    path: Path
    settings: Settings
    vocabulary: Vocabulary = field(repr=False)
    sizes: Sizes
    objects: tuple[str, ...]
    """Object classes, in the order of the columns of `Features.objects`."""
    data_checksum: str

    @classmethod
    def open(cls, path: PathLike, features: PathLike | None = None) -> RunFolder:
        """The run in a folder. Arguments and errors are those of `read_run`."""
        settings, config = read_run(path, features)
        vocabulary, sizes = Vocabulary(tuple(config["words"])), Sizes(**config["sizes"])
        return cls(Path(path), settings, vocabulary, sizes, tuple(config["objects"]), config["data"])

    def describe(self, encoder: Standardisation) -> None:
        """Writes everything but checkpoints and logs: from then on the folder is a run. Raises `DataError`."""
        write_tensors(self.path / ENCODER, encoder.state_dict())
        config = {
            "format": FORMAT,
            "sacrecap": sacrecap.__version__,
            "settings": asdict(self.settings),
            "data": self.data_checksum,
            "encoder": encoder.checksum,
            "sizes": asdict(self.sizes),
            "objects": self.objects,
            "words": self.vocabulary.words,
        }
        with atomic_write(self.path / CONFIG) as file:
            file.write(json.dumps(config, indent=2, ensure_ascii=False) + "\n")

    def captioner(self) -> Captioner:
        """The captioner with the best weights, ready to make captions (`eval`), on the CPU.

        Raises:
            DataError: there is no such checkpoint, or it is damaged.
        """
        model = build(self.settings.model, self.sizes)
        self._restore(model, BEST, "model")
        return model.eval()

    def encoder(self) -> Standardisation:
        """The encoder: as the run began where it is frozen, otherwise with the best weights.

        Where the run was given features, what standardises these.
        """
        encoder: Standardisation
        with torch.random.fork_rng(devices=[]):  # the random weights drawn here are replaced below
            if self.settings.features is not None:
                encoder = Standardisation(self.sizes.feature)
            else:
                encoder = load_encoder(self.settings.encoder, side=self.settings.side)
        if self.settings.train_encoder:
            self._restore(encoder, BEST, "encoder")
        else:
            self._restore(encoder, ENCODER)
        return encoder.eval()

    def _restore(self, module: nn.Module, file: str, part: str | None = None) -> None:
        """Gives it the weights in a file, or in a part of it."""
        path = self.path / file
        state = read_tensors(path)
        try:
            module.load_state_dict(state if part is None else state.get(part, {}))
        except (RuntimeError, TypeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise DataError(
                f"{path}: does not fit {CONFIG} in the same folder ({reason}); they are of different runs"
            ) from None
