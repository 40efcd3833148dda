"""The reward of CGAN's own evaluator: its probability that a person wrote the caption of this image."""

from __future__ import annotations

import torch
from torch import Tensor

from sacrecap.errors import UsageError
from sacrecap_captioning.models.base import Captioner, Features
from sacrecap_captioning.models.cgan import CGAN


class EvaluatorReward:
    """The reward of a captioner that has an evaluator, for the images of one batch.

    Args:
        model: the captioner.
        features: of the B images of the batch.

    Raises:
        UsageError: the captioner has no evaluator.
    """

    on_host = False

    def __init__(self, model: Captioner, features: Features) -> None:
        if not isinstance(model, CGAN):
            raise UsageError(f"only cgan learns an evaluator for this reward; {model.name} has none")
        self.model = model
        self._features = features

    @torch.no_grad()
    def __call__(self, words: Tensor, images: Tensor) -> Tensor:  # noqa: ARG002 - the images are those of the batch
        """(N,) from 0 to 1."""
        features = self._features.repeated(len(words) // len(self._features.pooled))
        sure: Tensor = self.model.evaluator(features, words).sigmoid()
        return sure

    def game(self, captions: Tensor, written: Tensor) -> Tensor:
        """(): what the evaluator minimises on (N, T) captions of people and N that the captioner wrote."""
        features = self._features.repeated(len(captions) // len(self._features.pooled))
        return self.model.game(features, captions, written)
