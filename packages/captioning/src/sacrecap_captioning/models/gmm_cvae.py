"""GMM-CVAE: a CVAE whose prior is a mixture with a component for each object class, weighted by what is in the image.

Wang, Schwing, Lazebnik, *Diverse and accurate image description using a variational auto-encoder with an additive
Gaussian encoding space* (NIPS 2017), section 3.

| point | paper | here |
| --- | --- | --- |
| objects of an image without labels | a Faster R-CNN | a linear layer on the image's feature, learnt beside the rest |
| components | means on the unit ball, deviation 0.1 | ten times both: deviations are counted from 1 |
| KL of the posterior from the mixture | from a component that is drawn | its bound over all of them (below) |

The bound, −log Σ_k c_k exp(−KL(q ‖ N_k)), is of Hershey, Olsen, *Approximating the Kullback Leibler divergence between
Gaussian mixture models* (ICASSP 2007).
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap.errors import UsageError
from sacrecap_captioning.models.base import Features, ModelLoss, Sizes
from sacrecap_captioning.models.cvae import CVAE, FREE
from sacrecap_captioning.models.latent import standard_normal

RADIUS = 10.0
"""Length of the components' means, in their standard deviations."""


class GMMCVAE(CVAE):
    """Prior Σ_k c_k N(μ_k, 1) over object classes k, c_k the share of the class among the image's objects."""

    name: ClassVar[str] = "gmm-cvae"
    means: Tensor  # (K, Z)

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        if not sizes.objects:
            raise UsageError(
                f"the model {self.name} has a component for each object class, and these images have no object labels; "
                "use images that have them, or another model, such as cvae"
            )
        self.objects = nn.Linear(sizes.feature, sizes.objects)
        directions = nn.functional.normalize(torch.randn(sizes.objects, sizes.latent), dim=1)
        self.register_buffer("means", RADIUS * directions)

    def draw(
        self, features: Features, spread: float | Tensor = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """A component of those likely for the image, then from N(μ_k, spread²)."""
        shares = _shares(self.objects(features.pooled).sigmoid())  # (B, K)
        component = torch.multinomial(shares.float(), 1, generator=generator).squeeze(1)  # (B,)
        return self.means[component] + standard_normal(features.pooled, self.sizes.latent, generator) * spread

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """A CVAE's, and the cross-entropy of the object labels, where they are known."""
        loss = super().loss(features, captions)
        if features.objects is None:
            return loss
        objects = nn.functional.binary_cross_entropy_with_logits(self.objects(features.pooled), features.objects)
        return loss._replace(total=loss.total + objects)

    def divergence(self, mean: Tensor, log_variance: Tensor, features: Features) -> Tensor:
        """(): at most −Σ log Σ_k c_k exp(−KL(q ‖ N(μ_k, 1))); free bits taken as paid."""
        known = self.objects(features.pooled).sigmoid() if features.objects is None else features.objects
        apart = torch.cdist(mean, self.means) ** 2  # (B, K)
        width = (log_variance.exp() - 1 - log_variance).sum(1, keepdim=True)  # (B, 1)
        nearest = (_shares(known).log() - (apart + width) / 2).logsumexp(1)  # (B,)
        return (-nearest).mean().clamp(min=FREE * mean.shape[1]) * len(mean)


def _shares(objects: Tensor) -> Tensor:
    """(B, K) share of each class; every class has a little, so that an image without objects has a prior too."""
    raised = objects.detach() + 1e-4
    return raised / raised.sum(1, keepdim=True)
