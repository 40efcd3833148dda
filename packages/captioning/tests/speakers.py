"""Captioners with random weights, and a few made-up scenes for them to speak of."""

from __future__ import annotations

from pathlib import Path

import torch

import sacrecap
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.captioner import END, Sizes, Vocabulary
from sacrecap_captioning.encoders import load_encoder, read_pixels
from sacrecap_captioning.models import FC, LatentCaptioner
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.set_methods import TrainedSpeaker

LIMIT = 8


def scenes(folder: Path, images: int = 12) -> CaptionedImages:
    """All splits of a small data set."""
    write_scenes(folder, images=images, seed=1)
    return CaptionedImages.of_data_set(folder)


def tokens(images: CaptionedImages) -> list[list[str]]:
    """The tokenised captions of these images."""
    return sacrecap.tokenize([caption for image in images for caption in image.references])


def speaker(images: CaptionedImages, kind: type[FC | LatentCaptioner] = FC) -> TrainedSpeaker:
    """An untrained captioner of the words of these images; sharp, so that it depends on what it sees and said."""
    torch.manual_seed(3)
    encoder = load_encoder("small")
    encoder.standardise([read_pixels(images, images, encoder.side)])
    vocabulary = Vocabulary.build(tokens(images), least=1)
    model = kind(Sizes(len(vocabulary), encoder.feature, hidden=16, embedding=16, attention=16, latent=4, objects=3))
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(3)
        model.word.bias[END] -= 3  # not too soon
    return TrainedSpeaker(model, vocabulary, limit=LIMIT, encoder=encoder)
