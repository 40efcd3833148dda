"""Captioners with a latent vector: what is said of an image depends on a draw, so that ten draws are a caption set."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap.errors import UsageError
from sacrecap_captioning.models.captioner import (
    Captioner,
    Features,
    ModelLoss,
    Sizes,
    State,
    cross_entropy,
    lstm_cell,
    until_end,
)

FREE = 0.05
"""Free nats of each latent number."""
RADIUS = 10.0
"""Length of the components' means, in their standard deviations."""


class LatentCaptioner(Captioner):
    """An LSTM that reads the image with a latent vector z first, and z again beside each word."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.image = nn.Linear(sizes.feature, sizes.embedding)
        self.cell = lstm_cell(sizes.embedding + sizes.latent, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def draw(
        self, features: Features, spread: float | Tensor = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """(B, Z) latent vectors from the prior, N(0, 1), its deviation multiplied by `spread`: a number or (B, 1)."""
        return standard_normal(features.pooled, self.sizes.latent, generator) * spread

    def begin(self, features: Features, latent: Tensor | None = None) -> State:
        """The LSTM's state after the image, with these (B, Z) latent vectors; by default drawn from the prior."""
        latent = self.draw(features) if latent is None else latent
        pixels = self.image(features.pooled)  # (B, E)
        zeros = self.zeros(pixels)
        hidden, memory = self.cell(torch.cat([pixels, latent], 1), (zeros, zeros))
        return hidden, memory, latent  # (B, H), (B, H), (B, Z)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One word further."""
        hidden, memory, latent = state
        hidden, memory = self.cell(torch.cat([self.embed(words), latent], 1), (hidden, memory))
        return self.word(self.dropout(hidden)), (hidden, memory, latent)


class CaptionReader(nn.Module):
    """A caption as one vector: an LSTM's state after the caption's end."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.embed = nn.Embedding(sizes.vocabulary, sizes.embedding)
        self.read = nn.LSTM(sizes.embedding, sizes.hidden, batch_first=True)

    def forward(self, captions: Tensor) -> Tensor:
        """(B, H) of (B, T) captions."""
        states, _ = self.read(self.embed(captions))  # (B, T, H)
        last = until_end(captions).sum(1) - 1  # (B,)
        ends: Tensor = states[torch.arange(len(captions), device=captions.device), last]
        return ends


def standard_normal(rows: Tensor, size: int, generator: torch.Generator | None) -> Tensor:
    """(B, Z) of N(0, 1), for rows as many, of that type and on that device."""
    return torch.randn(len(rows), size, generator=generator, dtype=rows.dtype, device=rows.device)


class CVAE(LatentCaptioner):
    """Prior N(0, 1); posterior q(z | caption, image) a Gaussian that an LSTM reads off the caption.

    Sohn, Lee, Yan, *Learning structured output representation using deep conditional generative models* (NIPS 2015);
    for captions Wang, Schwing, Lazebnik, *Diverse and accurate image description using a variational auto-encoder with
    an additive Gaussian encoding space* (NIPS 2017), section 2.

    | point | paper | here |
    | --- | --- | --- |
    | where z enters | before the first word | there and beside each word |
    | a posterior that says nothing of the caption | – | free bits prevent it: Kingma et al. (NIPS 2016), section 2.4 |
    """

    name: ClassVar[str] = "cvae"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.reader = CaptionReader(sizes)
        self.posterior = nn.Linear(sizes.hidden + sizes.feature, 2 * sizes.latent)

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


class GMMCVAE(CVAE):
    """Prior Σ_k c_k N(μ_k, 1) over object classes k, c_k the share of the class among the image's objects.

    Wang, Schwing, Lazebnik (NIPS 2017), section 3. The bound, −log Σ_k c_k exp(−KL(q ‖ N_k)), is of Hershey, Olsen,
    *Approximating the Kullback Leibler divergence between Gaussian mixture models* (ICASSP 2007).

    | point | paper | here |
    | --- | --- | --- |
    | objects of an image without labels | a Faster R-CNN | a linear layer on the image's feature |
    | components | means on the unit ball, deviation 0.1 | ten times both: deviations are counted from 1 |
    | KL of the posterior from the mixture | from a component that is drawn | its bound over all of them (below) |
    """

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


class CGAN(LatentCaptioner):
    """A captioner with noise that learns to convince an evaluator, which learns to tell its captions from people's.

    Dai, Fidler, Urtasun, Lin, *Towards diverse and natural image descriptions via a conditional GAN* (ICCV 2017).
    Training has two parts, as the paper's: `--loss xe` is cross-entropy without noise (its released code has it at 0
    there), so that the captioner does not learn to ignore it; `--loss evaluator` is the game, policy gradient with
    the evaluator's score as the reward, while the evaluator learns on people's captions of the image, the captioner's,
    and people's of other images.

    | point | paper | here |
    | --- | --- | --- |
    | noise | in [−1, 1], beside the image's feature before the first word | normal, there and beside each word |
    | reward of a word | that of 64 rolled-out captions | that of the caption, less the baseline of the other rewards |
    | steps of the evaluator for one of the captioner | 50 in the released code | 1 |
    | captions of other images | drawn | those half a batch away |
    """

    name: ClassVar[str] = "cgan"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.evaluator = Evaluator(sizes)

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """Cross-entropy without noise. With it the captioner would learn to ignore what says nothing of the caption."""
        silent = features.pooled.new_zeros(len(features.pooled), self.sizes.latent)
        entropy = cross_entropy(self.unrolled(self.begin(features, silent), captions), captions)
        return ModelLoss(entropy, entropy)

    def game(self, features: Features, captions: Tensor, written: Tensor) -> Tensor:
        """(): the evaluator's loss: people's captions of the image match it; the captioner's, and others', do not.

        Raises `UsageError` if the batch has one image: there are no captions of others.
        """
        if len(features.pooled) < 2:
            raise UsageError(
                "the evaluator compares the images of a batch, and this batch has one; make batches larger"
            )
        soft = nn.functional.softplus
        people = soft(-self.judged(features, captions)).mean()
        others = soft(self.judged(features, captions.roll(len(captions) // 2, 0))).mean()
        loss: Tensor = people + (soft(self.judged(features, written)).mean() + others) / 2
        return loss

    def judged(self, features: Features, captions: Tensor) -> Tensor:
        """(N,): how sure the evaluator is, before the logistic function, that people wrote these, N / B of an image."""
        sure: Tensor = self.evaluator(features.repeated(len(captions) // len(features.pooled)), captions)
        return sure


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
