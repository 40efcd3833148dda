"""An encoder from scratch: it learns which words people use of an image, and is frozen then.

Words of captions as labels of images: Fang et al., *From captions to visual concepts and back* (CVPR 2015), section
3; Wu et al., *What value do explicit high level concepts have in vision to language problems?* (CVPR 2016). Here the
target of a word is the share of the image's captions that have it, the loss is binary cross-entropy, and the layer that
predicts words is discarded. No weights from elsewhere are needed, and captioners on the frozen features train many
times faster than with the encoder.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from sacrecap.data.source import PathLike
from sacrecap.errors import DataError
from sacrecap_captioning.checkpoints import write_tensors
from sacrecap_captioning.data.encoder import Encoder, Standard, load_encoder
from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.data.features import GivenFeatures, read_bytes_of_pixels, read_pixels
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.models.base import Features
from sacrecap_captioning.names import RANDOM, WORDS, check_encoder


def train_on_words(
    encoder: Encoder,
    images: CaptionedImages,
    tokens: Sequence[Sequence[Sequence[str]]],
    *,
    epochs: int = 12,
    words: int = 500,
    batch: int = 16,
    rate: float = 3e-3,
    seed: int = 0,
    progress: Callable[[int, int, float], None] | None = None,
) -> None:
    """Trains the encoder, in place and on its device, to predict the words of an image's captions.

    Args:
        encoder: it ends in evaluation mode.
        images: those of the training split.
        tokens: of each image, its tokenised captions.
        epochs: passes over the images.
        words: how many of the commonest words it predicts.
        batch: images per step.
        rate: the highest learning rate, which rises and falls along a cosine (Adam).
        seed: of the order of images and of the layer that tells words.
        progress: called after every step with the number of steps done, of all steps, and the loss.
    """
    random = torch.Generator().manual_seed(seed)
    device = encoder.mean.device
    targets = _shares(tokens, words)  # (images, words)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        telling = nn.Linear(encoder.feature, targets.shape[1]).to(device)
    weights = [*encoder.parameters(), *telling.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=rate, weight_decay=1e-2)
    # The last images of an order that fill no batch wait for the next order.
    batches = [
        rows
        for _ in range(epochs)
        for rows in torch.split(torch.randperm(len(images), generator=random), batch)
        if len(rows) == min(batch, len(images))
    ]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=rate, total_steps=len(batches) + 1)
    encoder.train()
    kept = read_bytes_of_pixels(images, encoder.side) if len(images) * 3 * encoder.side**2 <= _MOST_KEPT else None
    for step, rows in enumerate(batches):
        if kept is None:
            pixels = read_pixels(images, [images[row] for row in rows.tolist()], encoder.side)
        else:
            pixels = kept[rows].float().div(255)
        loss = _telling_loss(telling, encoder(pixels.to(device)), targets[rows].to(device))
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
        schedule.step()
        if progress is not None:
            progress(step + 1, len(batches), loss.item())
    encoder.eval()


def prepared_encoder(
    train: CaptionedImages,
    tokens: Sequence[Sequence[Sequence[str]]],
    folder: PathLike,
    *,
    name: str = "small",
    weights: str = WORDS,
    side: int | None = None,
    epochs: int = 12,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Callable[[int, int, float], None] | None = None,
) -> Encoder:
    """A frozen encoder, standardised: with weights of `load_encoder`, or for `words` with those of `train_on_words`.

    What was learned is kept in the folder, for the same images, captions, encoder, epochs and seed. Random weights are
    drawn from the seed.

    Raises:
        DataError: the folder cannot be made or written; or see `load_encoder`.
        UsageError: see `load_encoder`.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        check_encoder(name, weights)
        encoder = load_encoder(name, weights=RANDOM if weights == WORDS else weights, side=side).to(device)
        if weights == WORDS:
            path = Path(folder) / f"{name}-{encoder.side}-{train.checksum}-{epochs}-{seed}.pt"
            if path.exists():
                encoder = load_encoder(name, weights=str(path), side=side).to(device)
            else:
                train_on_words(encoder, train, tokens, epochs=epochs, seed=seed, progress=progress)
                encoder.standardise(_some_pixels(train, encoder.side))
                try:
                    os.makedirs(folder, exist_ok=True)
                except OSError as error:
                    raise DataError(f"{folder}: cannot be made: {error.strerror}; choose another place") from None
                write_tensors(path, encoder.state_dict())
        elif not encoder.standardised:
            encoder.standardise(_some_pixels(train, encoder.side))
    return encoder.eval().requires_grad_(requires_grad=False)


def measured(file: FeatureFile, train: CaptionedImages) -> Standard:
    """What standardises features of a file, measured on those of the training images."""
    standard = Standard(file.feature)
    given = GivenFeatures(file, train, standard)
    chosen = torch.arange(0, len(train), _stride(len(train)))
    standard.measure([given.rows(numbers) for numbers in torch.split(chosen, 64)])
    return standard


def _telling_loss(telling: nn.Module, features: Features, targets: Tensor) -> Tensor:
    """Of words told from the whole image, and of words told from its regions, of which the surest decides."""
    regions = telling(features.grid)  # (B, R, W)
    anywhere = regions.logsumexp(1) - math.log(regions.shape[1])  # (B, W)
    whole = telling(features.pooled)
    loss = nn.functional.binary_cross_entropy_with_logits
    return loss(anywhere, targets) + loss(whole, targets)


def _some_pixels(images: CaptionedImages, side: int) -> Iterator[Tensor]:
    """Batches of pixels, of images from all over the set."""
    chosen = images[:: _stride(len(images))]
    for start in range(0, len(chosen), 64):
        yield read_pixels(images, chosen[start : start + 64], side)


def _stride(images: int) -> int:
    """One of so many images is measured."""
    return -(-images // _STANDARD)


_MOST_KEPT = 2**30
"""Bytes of pixels that are kept in memory while the encoder trains; more are read again for every step."""
_STANDARD = 2000
"""Images that features are standardised over."""


def _shares(tokens: Sequence[Sequence[Sequence[str]]], words: int) -> Tensor:
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
