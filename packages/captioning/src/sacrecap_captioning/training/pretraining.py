"""An encoder from scratch: it learns which words people use of an image, and is frozen then.

Words of captions as labels of images: Fang et al., *From captions to visual concepts and back* (CVPR 2015), section
3; Wu et al., *What value do explicit high level concepts have in vision to language problems?* (CVPR 2016). Here the
target of a word is the share of the image's captions that have it, the loss is binary cross-entropy, and the layer that
predicts words is discarded. No weights from elsewhere are needed, and captioners on the frozen features train many
times faster than with the encoder.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from sacrecap.data.places import in_cache
from sacrecap.data.source import PathLike
from sacrecap_captioning.checkpoints import write_tensors
from sacrecap_captioning.data.captioned_images import CaptionedImages
from sacrecap_captioning.data.encoder import Encoder, Standardisation, load_encoder
from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.data.features import GivenFeatures, read_bytes_of_pixels, read_pixels
from sacrecap_captioning.encoder_names import RANDOM, WORDS, check_encoder
from sacrecap_captioning.folders import make_folder
from sacrecap_captioning.models.captioner import Features
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training.data import tokenised


def learn_words(
    encoder: Encoder,
    images: CaptionedImages,
    settings: Settings,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Trains the encoder, in place and on its device, to predict the commonest words of the training images' captions.

    It ends in evaluation mode.
    """
    epochs, seed, batch, rate = settings.encoder_epochs, settings.seed, 16, 3e-3
    random = torch.Generator().manual_seed(seed)
    device = encoder.mean.device
    targets = _shares(tokenised(images, settings.tokenizer))  # (images, words)
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
            progress("train, for the encoder,", step + 1, len(batches))
    encoder.eval()


def first_encoder(
    train: CaptionedImages,
    settings: Settings,
    cache: PathLike | None = None,
    device: torch.device | str = "cpu",
    progress: Callable[[str, int, int], None] | None = None,
) -> Standardisation:
    """The encoder that a run begins with, on the CPU or the device; or what standardises given features.

    One that is frozen, or learns words first, is standardised. What was learned is kept in the cache, for the same
    images, captions, encoder, epochs and seed. Random weights are drawn from the seed.

    Args:
        train: the training images.
        settings: of the run.
        cache: a folder; the user's cache folder by default.
        device: where it learns words.
        progress: called after every step of learning.

    Raises:
        DataError: the cache cannot be made or written; or see `load_encoder`.
        UsageError: see `load_encoder`.
    """
    if settings.features is not None:
        return _measured(FeatureFile(settings.features), train)
    name, weights, side = settings.encoder, settings.weights, settings.side
    check_encoder(name, weights)
    if settings.train_encoder and weights != WORDS:
        return load_encoder(name, weights=weights, side=side)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        encoder = load_encoder(name, weights=RANDOM if weights == WORDS else weights, side=side).to(device)
        folder = Path(cache or in_cache("features"))
        path = folder / f"{name}-{encoder.side}-{train.checksum}-{settings.encoder_epochs}-{settings.seed}.pt"
        if weights == WORDS and path.exists():
            encoder = load_encoder(name, weights=str(path), side=side).to(device)
        elif weights == WORDS:
            learn_words(encoder, train, settings, progress)
            encoder.standardise(_some_pixels(train, encoder.side))
            make_folder(folder)
            write_tensors(path, encoder.state_dict())
        elif not encoder.standardised:
            encoder.standardise(_some_pixels(train, encoder.side))
    return encoder.eval().requires_grad_(settings.train_encoder)


def _measured(file: FeatureFile, train: CaptionedImages) -> Standardisation:
    """What standardises features of a file, measured on those of the training images."""
    standard = Standardisation(file.feature)
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
