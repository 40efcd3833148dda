"""Losses that training minimises: cross-entropy, rewards by policy gradient, and weighted mixtures of them.

    L = w_xe · XE + L_rewards,    L_rewards = − 1/W Σ_s A(s) Σ_t log p(s_t | s_<t, image),    A(s) = r(s) − b(s)

s are k captions per image that the captioner samples, W their words, r = Σ w_i · r_i the mixture of rewards, b a
baseline without which the gradient is the same on average and noisier:

- `greedy`: r of the image's greedy caption (Rennie et al., *Self-critical sequence training*, CVPR 2017, eq. 7);
- `others`: mean r of the image's other k − 1 samples (Kool, van Hoof, Welling, *Buy 4 REINFORCE samples*, 2019), which
  needs no further decoding.

The reward `evaluator` is that of `cgan` itself. The evaluator learns at every step of a mixture that names it, also at
one where its weight is 0: its loss on the same samples is added to L, and shares no parameter with it.

| point | Rennie et al.; Wang, Chan 2019 | here |
| --- | --- | --- |
| reward of CIDEr-D | 0 to 10 | 0 to 10 |
| log-probability | summed over a caption | mean over all sampled words, as XE is, so that a weight means the same |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from sacrecap.errors import UsageError, accepted_name
from sacrecap_captioning.mixture import CROSS_ENTROPY, EVALUATOR, Mixture
from sacrecap_captioning.models.captioner import Captioner, Features, until_end
from sacrecap_captioning.models.latent import CGAN
from sacrecap_captioning.models.search import greedy, sample
from sacrecap_captioning.settings import BASELINES, check_evaluator
from sacrecap_captioning.training.rewards import Reward, TrainingCaptions, load_reward


class TrainingBatch(NamedTuple):
    """Some images and k captions of each."""

    images: Tensor
    """(B,) indices of the images in the training split."""
    features: Features
    """Features of the B images."""
    captions: Tensor
    """(N, T) ids, N = k·B, the k captions of an image in consecutive rows."""


class Losses(NamedTuple):
    """The value of an objective for a batch."""

    total: Tensor
    """(): what is minimised."""
    parts: dict[str, Tensor]
    """(): figures for the log and the progress bar, by name."""


class Objective:
    """The loss of a batch at a step, for the training loop.

    Args:
        mixture: what is minimised; see `sacrecap_captioning.mixture`.
        rewards: those that the mixture names, but `evaluator`, which is the captioner's own.
        samples: k, sampled captions per image.
        baseline: one of `BASELINES`.
        limit: the most words of a sampled caption.

    Raises:
        UsageError: an unknown baseline, fewer samples than it needs, or a reward is missing.
    """

    def __init__(
        self,
        mixture: Mixture | str,
        rewards: Mapping[str, Reward] | None = None,
        *,
        samples: int = 5,
        baseline: str = "greedy",
        limit: int = 20,
    ) -> None:
        accepted_name("baseline", baseline, BASELINES)
        least = 2 if baseline == "others" else 1
        if samples < least:
            raise UsageError(f"the baseline {baseline} needs at least {least} samples per image, got {samples}")
        self.mixture = Mixture.parse(mixture) if isinstance(mixture, str) else mixture
        self.rewards = dict(rewards or {})
        missing = [name for name in self.mixture.rewards if name not in {EVALUATOR, *self.rewards}]
        if missing:
            raise UsageError(f"loss {str(self.mixture)!r}: no reward is given for {', '.join(missing)}")
        self.samples, self.baseline, self.limit = samples, baseline, limit

    @classmethod
    def load(cls, mixture: str, training: TrainingCaptions, **options: Any) -> Objective:
        """The objective with the rewards that the mixture names; see `load_reward`."""
        parsed = Mixture.parse(mixture)
        rewards = {name: load_reward(name, training) for name in parsed.rewards if name != EVALUATOR}
        return cls(parsed, rewards, **options)

    def __call__(self, model: Captioner, batch: TrainingBatch, step: int) -> Losses:
        """The loss of the batch, and its parts: cross-entropy per word (`xe`), each reward's mean (`reward/cider-d`).

        Raises:
            UsageError: the mixture has a reward of retrieval, and the batch one image; or that of an evaluator, which
                the captioner does not have.
        """
        weights = self.mixture.at(step)
        share = weights.pop(CROSS_ENTROPY, 0.0)
        losses: list[Tensor] = []
        parts: dict[str, Tensor] = {}
        sampled = None
        if weights or EVALUATOR in self.mixture.rewards:
            sampled = sample(model, model.begin(batch.features.repeated(self.samples)), limit=self.limit)  # (N, T)
        rewards = dict(self.rewards)
        if sampled is not None and EVALUATOR in self.mixture.rewards:
            check_evaluator(model.name, self.mixture)
            game = cast("CGAN", model)
            rewards[EVALUATOR] = lambda words, _: game.judged(batch.features, words).sigmoid()
            learnt = game.game(batch.features, batch.captions, sampled.words)
            losses.append(learnt)
            parts[EVALUATOR] = learnt.detach()
        if sampled is not None and weights:
            scored = _scored(rewards, weights, sampled.words, batch.images)  # each (N,)
            reward = mixed(scored, weights)
            baseline = others(reward, self.samples)
            if self.baseline == "greedy":
                words = _greedy_words(model, batch.features, self.limit)
                compared = mixed(_scored(rewards, weights, words, batch.images), weights)  # (B,)
                baseline = compared.repeat_interleave(self.samples)
            losses.append(policy_gradient(sampled.log_probs, sampled.words, reward - baseline))
            parts |= {f"reward/{name}": each.mean() for name, each in scored.items()}
        if share:
            captions_an_image = len(batch.captions) // len(batch.images)
            found = model.loss(batch.features.repeated(captions_an_image), batch.captions)
            losses.append(share * found.total)
            parts[CROSS_ENTROPY] = found.entropy.detach()
        return Losses(torch.stack(losses).sum() if losses else _nothing(model), parts)


@torch.no_grad()
def _scored(
    rewards: Mapping[str, Reward], weights: Mapping[str, float], words: Tensor, images: Tensor
) -> dict[str, Tensor]:
    """The rewards that have a weight."""
    return {name: rewards[name](words, images) for name in weights}


def mixed(rewards: Mapping[str, Tensor], weights: Mapping[str, float]) -> Tensor:
    """(N,) Σ w_i · r_i."""
    return torch.stack([weights[name] * reward for name, reward in rewards.items()]).sum(0)


def others(reward: Tensor, samples: int) -> Tensor:
    """(N,) mean reward of the image's other samples; 0 if there is no other."""
    by_image = reward.view(-1, samples)  # (B, k)
    return ((by_image.sum(1, keepdim=True) - by_image) / max(samples - 1, 1)).flatten()


def policy_gradient(log_probs: Tensor, words: Tensor, advantage: Tensor) -> Tensor:
    """(): −A · log p, mean over the sampled words of (N, T) captions, their ends included.

    `log_probs`: (N, T), 0 after the end; `advantage`: (N,), through which no gradient flows.
    """
    weighted = advantage.detach()[:, None] * log_probs  # (N, T)
    return -weighted.sum() / until_end(words).sum()


@torch.no_grad()
def _greedy_words(model: Captioner, features: Features, limit: int) -> Tensor:
    """(B, T) likeliest words, without dropout."""
    training = model.training
    model.eval()
    words = greedy(model, model.begin(features), limit=limit).words
    model.train(training)
    return words


def _nothing(model: Captioner) -> Tensor:
    """(): 0 with a gradient of 0, at a step where no weight has risen yet."""
    return torch.stack([parameter.sum() for parameter in model.parameters()]).sum() * 0.0
