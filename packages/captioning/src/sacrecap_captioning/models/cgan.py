"""CGAN: a captioner with noise that learns to convince an evaluator, which learns to tell its captions from people's.

Dai, Fidler, Urtasun, Lin, *Towards diverse and natural image descriptions via a conditional GAN* (ICCV 2017).

Training has two parts, as the paper's: `--loss xe` is cross-entropy without noise (its released code holds the noise at
0 there), so that the captioner does not learn to ignore it; `--loss evaluator` is the game, policy gradient with the
evaluator's score as the reward, while the evaluator learns on people's captions of the image, the captioner's, and
people's of other images.

| point | paper | here |
| --- | --- | --- |
| noise | in [−1, 1], beside the image's feature before the first word | normal, there and beside each word |
| reward of a word | that of 64 rolled-out captions | that of the caption, less the baseline of the other rewards |
| steps of the evaluator for one of the captioner | 50 in the released code | 1 |
| captions of other images | drawn | those half a batch away |
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.base import Features, ModelLoss, Sizes, cross_entropy
from sacrecap_captioning.models.latent import CaptionReader, LatentCaptioner, standard_normal


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
        """Cross-entropy without noise. With it the captioner would learn to ignore what says nothing of the caption."""
        silent = features.pooled.new_zeros(len(features.pooled), self.sizes.latent)
        entropy = cross_entropy(self.unrolled(self.begin(features, silent), captions), captions)
        return ModelLoss(entropy, entropy)

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
