"""Scores a captioner on images that it was not trained with."""

from __future__ import annotations

from collections.abc import Mapping

import torch

import sacrecap
from sacrecap_captioning.models import Captioner
from sacrecap_captioning.models.search import greedy
from sacrecap_captioning.training.data import Split
from sacrecap_captioning.vocabulary import Vocabulary

IMAGES = 100
"""Captioned at a time."""


def greedy_captions(
    model: Captioner, split: Split, vocabulary: Vocabulary, *, limit: int, device: torch.device
) -> dict[str, str]:
    """The greedy caption of each image, by id. What was drawn from torch's generators is put back."""
    training = model.training
    model.eval()
    captions: list[str] = []
    # Captioners with a latent vector draw it: the same one in each validation.
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), torch.inference_mode():
        torch.manual_seed(0)
        for numbers in torch.split(torch.arange(len(split)), IMAGES):
            words = greedy(model, split.features(numbers, device), limit=limit).words
            captions += map(vocabulary.text, words.tolist())
    model.train(training)
    return dict(zip(split.ids, captions, strict=True))


def validation_score(captions: Mapping[str, str], split: Split) -> float:
    """CIDEr-D of the captions; document frequencies are of the split's own references."""
    references = {
        name: [" ".join(caption) for caption in image] for name, image in zip(split.ids, split.tokens, strict=True)
    }
    # Both are in words already.
    result = sacrecap.score(references, captions, metrics="cider-d", tokenizer="whitespace", interval=None)
    return float(result["cider-d"].value)
