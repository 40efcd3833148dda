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

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from sacrecap.errors import UsageError, accepted_name
from sacrecap_captioning.data.batches import Losses, TrainingBatch
from sacrecap_captioning.mixture import CROSS_ENTROPY, EVALUATOR, RETRIEVAL, Mixture
from sacrecap_captioning.models.base import Captioner, Features, until_end
from sacrecap_captioning.models.search import PLAIN, Sampling, greedy, sample
from sacrecap_captioning.rewards import Reward, TrainingCaptions, load_reward
from sacrecap_captioning.rewards.evaluator import EvaluatorReward
from sacrecap_captioning.training.settings import BASELINES


class Objective:
    """The loss of a batch at a step, for the training loop.

    Rewards that are computed on the host run in a thread, during the passes of the captioner that do not need them: the
    greedy caption and cross-entropy.

    Args:
        mixture: what is minimised; see `sacrecap_captioning.mixture`.
        rewards: those that the mixture names, but `evaluator`, which is the captioner's own.
        samples: k, sampled captions per image.
        baseline: one of `BASELINES`.
        limit: the most words of a sampled caption.
        sampling: how the words of the samples are drawn.

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
        sampling: Sampling = PLAIN,
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
        self.samples = samples
        self.baseline = baseline
        self.limit = limit
        self.sampling = sampling
        self._thread = ThreadPoolExecutor(1, "sacrecap-reward")

    @classmethod
    def load(
        cls,
        mixture: Mixture | str,
        training: TrainingCaptions,
        *,
        samples: int = 5,
        baseline: str = "greedy",
        limit: int = 20,
        sampling: Sampling = PLAIN,
        device: torch.device | str = "cpu",
    ) -> Objective:
        """The objective with the rewards that the mixture names, for a captioner on `device`; see `load_reward`."""
        mixture = Mixture.parse(mixture) if isinstance(mixture, str) else mixture
        rewards = {name: load_reward(name, training, device=device) for name in mixture.rewards if name != EVALUATOR}
        return cls(mixture, rewards, samples=samples, baseline=baseline, limit=limit, sampling=sampling)

    def __call__(self, model: Captioner, batch: TrainingBatch, step: int) -> Losses:
        """The loss of the batch, and its parts: cross-entropy per word (`xe`), each reward's mean (`reward/cider-d`).

        Raises:
            UsageError: the mixture has a reward of retrieval, and the batch one image; or that of an evaluator, which
                the captioner does not have.
        """
        weights = self.mixture.at(step)
        share = weights.pop(CROSS_ENTROPY, 0.0)
        if RETRIEVAL in weights and len(batch.images) < 2:
            raise UsageError(
                "retrieval chooses among the images of a batch, and this batch has one; make batches larger"
            )
        losses: list[Tensor] = []
        parts: dict[str, Tensor] = {}
        plays = EVALUATOR in self.mixture.rewards
        finish = self._begin_rewards(model, batch, weights) if weights or plays else None
        if share:
            captions_an_image = len(batch.captions) // len(batch.images)
            found = model.loss(batch.features.repeated(captions_an_image), batch.captions)
            losses.append(share * found.total)
            parts[CROSS_ENTROPY] = found.entropy.detach()
        if finish is not None:
            loss, means = finish()
            losses.append(loss)
            parts |= means
        total = torch.stack(losses).sum() if losses else _nothing(model)
        return Losses(total, parts)

    def _begin_rewards(
        self, model: Captioner, batch: TrainingBatch, weights: Mapping[str, float]
    ) -> Callable[[], tuple[Tensor, dict[str, Tensor]]]:
        """Samples, and has the samples scored meanwhile; the result waits for the scores."""
        sampled = sample(
            model, batch.features, limit=self.limit, samples=self.samples, sampling=self.sampling
        )  # (N, T)
        rewards = dict(self.rewards)
        learnt = None
        if EVALUATOR in self.mixture.rewards:
            rewards[EVALUATOR] = judge = EvaluatorReward(model, batch.features)
            learnt = judge.game(batch.captions, sampled.words)
        scored = self._begin_scores(rewards, sampled.words, batch.images, weights)
        compared = None
        if self.baseline == "greedy" and weights:
            words = _greedy_words(model, batch.features, self.limit)
            compared = self._begin_scores(rewards, words, batch.images, weights)

        def finish() -> tuple[Tensor, dict[str, Tensor]]:
            found = scored()  # each (N,)
            losses = [] if learnt is None else [learnt]
            if found:
                reward = mixed(found, weights)
                baseline = others(reward, self.samples)
                if compared is not None:
                    baseline = mixed(compared(), weights).repeat_interleave(self.samples)
                losses.append(policy_gradient(sampled.log_probs, sampled.words, reward - baseline))
            means = {f"reward/{name}": each.mean() for name, each in found.items()}
            if learnt is not None:
                means[EVALUATOR] = learnt.detach()
            return torch.stack(losses).sum(), means

        return finish

    def _begin_scores(
        self, rewards: Mapping[str, Reward], words: Tensor, images: Tensor, weights: Mapping[str, float]
    ) -> Callable[[], dict[str, Tensor]]:
        """Starts every reward of the samples that has a weight; the result waits for them."""
        device = words.device
        host = [name for name in weights if rewards[name].on_host]
        on_host = (words.cpu(), images.cpu()) if host else (words, images)  # one copy for all
        waiting = {name: self._thread.submit(rewards[name], *on_host) for name in host}
        with torch.no_grad():
            ready = {name: rewards[name](words, images) for name in weights if name not in waiting}
        return lambda: {name: ready[name] if name in ready else waiting[name].result().to(device) for name in weights}


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
    words = greedy(model, features, limit=limit).words
    model.train(training)
    return words


def _nothing(model: Captioner) -> Tensor:
    """(): 0 with a gradient of 0, at a step where no weight has risen yet."""
    return torch.stack([parameter.sum() for parameter in model.parameters()]).sum() * 0.0
