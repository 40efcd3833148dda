"""Captions that need no captioner, which every captioner has to beat: those that suit any image, and copied ones."""

from __future__ import annotations

import random

import torch
from torch import Tensor

import sacrecap
from sacrecap.data.source import PathLike
from sacrecap.rewards import CaptionReward
from sacrecap.rewards.completions import CompletionBatch
from sacrecap_captioning.data.captioned_images import CaptionedImages, given_features
from sacrecap_captioning.data.features import FeatureRows
from sacrecap_captioning.training.data import frozen_features
from sacrecap_captioning.training.run_folder import RunFolder

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
