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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import torch
from torch import Tensor

from sacrecap import CiderDReward, DocumentFrequency
from sacrecap.errors import DataError, UsageError, accepted_name
from sacrecap.metrics import CiderD, Metric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.rewards import CaptionReward
from sacrecap.rewards.completions import CompletionBatch
from sacrecap_captioning.captioner import END, Captioner, Features, Vocabulary, evaluating, greedy, sample, until_end
from sacrecap_captioning.models import CGAN
from sacrecap_captioning.settings import BASELINES, CROSS_ENTROPY, EVALUATOR, RETRIEVAL, Mixture, check_evaluator


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

    `rewards` are those that the mixture names, but `evaluator`, which is the captioner's own; `samples` is k, and
    `limit` the most words of a sampled caption.

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
            sampled = sample(model.step, model.begin(batch.features.repeated(self.samples)), limit=self.limit)  # (N, T)
        rewards = dict(self.rewards)
        if sampled is not None and EVALUATOR in self.mixture.rewards:
            check_evaluator(model.name, self.mixture)
            game = cast("CGAN", model)
            rewards[EVALUATOR] = lambda words, _: game.judged(batch.features, words).sigmoid()
            learnt = game.game(batch.features, batch.captions, sampled.words)
            losses.append(learnt)
            parts[EVALUATOR] = learnt.detach()
        if sampled is not None and weights:
            with torch.no_grad():
                scored = {name: rewards[name](sampled.words, batch.images) for name in weights}  # each (N,)
                reward = mixed(scored, weights)
                baseline = mean_of_the_rest(reward, self.samples)
                if self.baseline == "greedy":
                    with evaluating(model):
                        words = greedy(model.step, model.begin(batch.features), limit=self.limit).words  # (B, T)
                    compared = mixed({name: rewards[name](words, batch.images) for name in weights}, weights)  # (B,)
                    baseline = compared.repeat_interleave(self.samples)
            losses.append(policy_gradient(sampled.log_probs, sampled.words, reward - baseline))
            parts |= {f"reward/{name}": rewards_of_name.mean() for name, rewards_of_name in scored.items()}
        if share:
            captions_an_image = len(batch.captions) // len(batch.images)
            model_loss = model.loss(batch.features.repeated(captions_an_image), batch.captions)
            losses.append(share * model_loss.total)
            parts[CROSS_ENTROPY] = model_loss.entropy.detach()
        if not losses:  # no weight has risen yet: 0, with a gradient of 0
            losses = [torch.stack([parameter.sum() for parameter in model.parameters()]).sum() * 0.0]
        return Losses(torch.stack(losses).sum(), parts)


def mixed(rewards: Mapping[str, Tensor], weights: Mapping[str, float]) -> Tensor:
    """(N,) Σ w_i · r_i."""
    return torch.stack([weights[name] * reward for name, reward in rewards.items()]).sum(0)


def mean_of_the_rest(reward: Tensor, samples: int) -> Tensor:
    """(N,) mean reward of the image's other samples; 0 if there is no other."""
    by_image = reward.view(-1, samples)  # (B, k)
    return ((by_image.sum(1, keepdim=True) - by_image) / max(samples - 1, 1)).flatten()


def policy_gradient(log_probs: Tensor, words: Tensor, advantage: Tensor) -> Tensor:
    """(): −A · log p, mean over the sampled words of (N, T) captions, their ends included.

    `log_probs`: (N, T), 0 after the end; `advantage`: (N,), through which no gradient flows.
    """
    weighted = advantage.detach()[:, None] * log_probs  # (N, T)
    return -weighted.sum() / until_end(words).sum()


Reward: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Rates sampled captions, higher is better: (N, T) ids, padded after their end, and (B,) indices of their images in the
training split -> (N,) floats, on the device of the words. The N / B samples of an image are in consecutive rows.
"""


@dataclass(frozen=True)
class TrainingCaptions:
    """The training split, in the form that rewards use.

    Attributes:
        vocabulary: of the captioner.
        references: the tokenised captions of each image.
        objects: labels of each image's objects, for metrics that need them.
        retrieval: the reward of the retrieval model, where one is trained.
    """

    vocabulary: Vocabulary
    references: Sequence[Sequence[Sequence[str]]]
    objects: Sequence[Mapping[str, int]] | None = None
    retrieval: Reward | None = None


def load_reward(name: str, training: TrainingCaptions) -> Reward:
    """The reward of this name: `retrieval`, or a registered metric.

    Raises:
        UsageError: no such metric, one that no single caption can be rewarded with, or no retrieval model is given.
        DataError: there is one training image.
    """
    if name == RETRIEVAL:
        if training.retrieval is None:
            raise UsageError(
                "the reward retrieval needs a trained retrieval model: sacrecap caption retrieval trains one"
            )
        return training.retrieval
    [metric] = parse_metrics(name)
    return _cider_d_of_ids(training, metric) if isinstance(metric, CiderD) else _metric_of_text(training, metric)


def _cider_d_of_ids(training: TrainingCaptions, metric: CiderD) -> Reward:
    """CIDEr-D of samples, 0 to 10, by the native scorer. The end counts as a word, so that captioners learn to end.

    Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), sec. 3.

    Raises:
        DataError: there is one image: every weight would be 0.
    """
    if len(training.references) < 2:
        raise DataError(
            "the document frequencies are those of one image: every n-gram is in every document, so every reward is 0; "
            "train on more images"
        )
    arrays = []  # of each image (R, T): captions with their ends, which pad them, too
    for captions in training.references:
        rows = [training.vocabulary.encode(tokens, len(tokens)) for tokens in captions]
        width = max(map(len, rows), default=0)
        padded = [[*row, *[END] * (width - len(row))] for row in rows]
        arrays.append(np.array(padded, dtype=np.int64).reshape(len(rows), width))
    counts = DocumentFrequency.from_token_ids(arrays, end_of_sentence=END)
    cider_d = CiderDReward(counts, end_of_sentence=END, n=metric.n, sigma=metric.sigma, threads=1)
    references = cider_d.encode(arrays)

    def reward(words: Tensor, images: Tensor) -> Tensor:
        scores = cider_d(words.cpu().numpy(), references[images.tolist()])
        return torch.tensor(scores, dtype=torch.float32, device=words.device)

    return reward


def _metric_of_text(training: TrainingCaptions, metric: Metric) -> Reward:
    """A metric of samples, on the words of the vocabulary without the end: a `sacrecap.rewards.CaptionReward`.

    It is in the metric's own range, negative where lower is better, and 0 for all samples of an image that the metric
    does not score. Document frequencies are those of the whole training split, not of the batch.

    Raises:
        UsageError: the metric scores caption sets, or needs more images' references than a batch has; or it needs
            objects, and there are none.
    """
    texts = {str(n): [" ".join(tokens) for tokens in group] for n, group in enumerate(training.references)}
    objects = None if training.objects is None else {str(n): labels for n, labels in enumerate(training.objects)}
    # The captions are tokenised already.
    of_metric = CaptionReward(texts, metric, tokenizer="none", threads=1, objects=objects, end=False)

    def reward(words: Tensor, images: Tensor) -> Tensor:
        numbers = images.repeat_interleave(len(words) // len(images)).tolist()  # the image of each sample
        tokens = [training.vocabulary.text(row).split() for row in words.tolist()]
        rewards = of_metric.rewards(CompletionBatch(tokens, list(map(str, numbers))))
        return torch.tensor(np.nan_to_num(rewards), dtype=torch.float32, device=words.device)

    return reward
