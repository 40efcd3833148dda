"""CGAN: a captioner with noise that learns to convince an evaluator, which learns to tell its captions from people's.

Dai, Fidler, Urtasun, Lin, *Towards diverse and natural image descriptions via a conditional GAN* (ICCV 2017).

| point | paper | here |
| --- | --- | --- |
| order | cross-entropy first, then the game alone | both at once, so that one loss and one optimiser do |
| reward of a word | that of rolled-out captions | that of the caption, less the mean of the batch |
| captions of other images | drawn | those half a batch away |
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from capeval_captioning.models.base import Features, ModelLoss, Sizes, cross_entropy, until_end
from capeval_captioning.models.latent import CaptionReader, LatentCaptioner, standard_normal


class CGAN(LatentCaptioner):
    """Conditional GAN: the generator is the LSTM with noise z, the evaluator an image–sentence match."""

    name: ClassVar[str] = "cgan"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.evaluator = Evaluator(sizes)

    def draw(
        self, features: Features, spread: float | Tensor = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """Noise from N(0, spread²)."""
        return standard_normal(features.pooled, self.sizes.latent, generator) * spread

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """Cross-entropy + the generator's policy gradient + the evaluator's loss; the last two share no parameter."""
        # Decoding knows models, so that this one can know it only when it runs.
        from capeval_captioning.decoding.search import sample_from

        entropy = cross_entropy(self(features, captions), captions)
        written = sample_from(self, self.begin(features), limit=captions.shape[1])  # (B, T)
        with torch.no_grad():
            reward = self.evaluator(features, written.words).sigmoid()  # (B,)
        gain = (reward - reward.mean())[:, None] * written.log_probs  # (B, T)
        persuasion: Tensor = -gain.sum() / until_end(written.words).sum()  # ()
        return ModelLoss(entropy + persuasion + self.game(features, captions, written.words), entropy)

    def game(self, features: Features, captions: Tensor, written: Tensor) -> Tensor:
        """(): the evaluator's loss: people's captions of the image match it; the captioner's, and others', do not."""
        soft = nn.functional.softplus
        people = soft(-self.evaluator(features, captions)).mean()
        others = soft(self.evaluator(features, captions.roll(len(captions) // 2, 0))).mean()
        loss: Tensor = people + (soft(self.evaluator(features, written)).mean() + others) / 2
        return loss


class Evaluator(nn.Module):
    """How well a caption fits an image: the product of an embedding of each, before the logistic function."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.reader = CaptionReader(sizes)
        self.image = nn.Linear(sizes.feature, sizes.embedding)
        self.caption = nn.Linear(sizes.hidden, sizes.embedding)

    def forward(self, features: Features, captions: Tensor) -> Tensor:
        """(B,) of B images with (B, T) captions. The image's features do not learn from it."""
        matched: Tensor = self.image(features.pooled.detach()) * self.caption(self.reader(captions))  # (B, E)
        return matched.sum(1)
