"""CVAE: a latent vector, learnt by a conditional variational autoencoder, explains how an image's captions differ.

Sohn, Lee, Yan, *Learning structured output representation using deep conditional generative models* (NIPS 2015); for
captions Wang, Schwing, Lazebnik, *Diverse and accurate image description using a variational auto-encoder with an
additive Gaussian encoding space* (NIPS 2017), section 2.

| point | Wang et al. | here |
| --- | --- | --- |
| where z enters | before the first word | there and beside each word |
| a posterior that says nothing of the caption | – | prevented by free bits: Kingma et al. (NIPS 2016), section 2.4 |
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.base import Features, ModelLoss, Sizes, cross_entropy, until_end
from sacrecap_captioning.models.latent import CaptionReader, LatentCaptioner, standard_normal

FREE = 0.05
"""Free nats of each latent number."""


class CVAE(LatentCaptioner):
    """Prior N(0, 1); posterior q(z | caption, image) a Gaussian that an LSTM reads off the caption."""

    name: ClassVar[str] = "cvae"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.reader = CaptionReader(sizes)
        self.posterior = nn.Linear(sizes.hidden + sizes.feature, 2 * sizes.latent)

    def draw(
        self, features: Features, spread: float | Tensor = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """From N(0, spread²)."""
        return standard_normal(features.pooled, self.sizes.latent, generator) * spread

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """Minus the evidence's lower bound, per word: −log p(caption | image, z) + KL(q ‖ p)."""
        mean, log_variance = self.encode(features, captions)  # (B, Z) each
        latent = mean + (log_variance / 2).exp() * torch.randn_like(mean)
        divergence = self.divergence(mean, log_variance, features)  # (): nats of all captions
        logits = self.unrolled(self.begin(features, latent), captions)
        entropy = cross_entropy(logits, captions)
        return ModelLoss(entropy + divergence / until_end(captions).sum(), entropy)

    def encode(self, features: Features, captions: Tensor) -> tuple[Tensor, Tensor]:
        """(B, Z) mean and logarithm of the variance of the posterior."""
        read = torch.cat([self.reader(captions), features.pooled], 1)  # (B, H + D)
        mean, log_variance = self.posterior(read).chunk(2, 1)
        return mean, log_variance

    def divergence(self, mean: Tensor, log_variance: Tensor, features: Features) -> Tensor:  # noqa: ARG002
        """(): KL(q ‖ p) in nats, summed over the captions; free bits taken as paid."""
        each = (mean**2 + log_variance.exp() - 1 - log_variance) / 2  # (B, Z)
        return each.mean(0).clamp(min=FREE).sum() * len(mean)
