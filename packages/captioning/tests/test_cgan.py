"""CGAN: its two parts of training, and the evaluator's reward, against slow ones."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from sacrecap.errors import UsageError
from sacrecap_captioning.captioner import Features, Sizes, sample
from sacrecap_captioning.models import CGAN, FC
from sacrecap_captioning.objective import Objective, TrainingBatch, TrainingCaptions
from sacrecap_captioning.settings import Settings

IMAGES, EACH, LIMIT = 4, 2, 5
SIZES = Sizes(6, feature=3, hidden=8, embedding=8, latent=4)


@pytest.fixture
def model() -> CGAN:
    torch.manual_seed(0)
    return CGAN(SIZES)


@pytest.fixture
def batch() -> TrainingBatch:
    torch.manual_seed(1)
    features = Features(torch.randn(IMAGES, 3), torch.randn(IMAGES, 2, 3))
    return TrainingBatch(torch.arange(IMAGES), features, torch.randint(1, 6, (IMAGES * EACH, LIMIT)))


def gradients(loss: Tensor, model: CGAN) -> tuple[float, float]:
    """Norms of the gradient of the captioner and of its evaluator."""
    model.zero_grad()
    torch.autograd.backward(loss)
    norms = {True: 0.0, False: 0.0}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            norms[name.startswith("evaluator")] += parameter.grad.norm().item()
    return norms[False], norms[True]


def test_cross_entropy_is_without_noise_and_without_the_evaluator(model: CGAN, batch: TrainingBatch) -> None:
    features = batch.features.repeated(EACH)
    first, second = (model.loss(features, batch.captions) for _ in range(2))
    assert first.total == second.total == first.entropy
    captioner, evaluator = gradients(first.total, model)
    assert captioner > 0
    assert evaluator == 0
    noise_weights = model.cell.weight_ih.grad[:, SIZES.embedding :]  # type: ignore[index]
    assert not noise_weights.any()  # so that they stay as they were drawn: the noise is not unlearnt


def judged(model: CGAN, image: Features, caption: Tensor) -> float:
    sure: float = model.evaluator(image, caption[None]).sigmoid().item()
    return sure


def slow_game(model: CGAN, features: Features, captions: Tensor, written: Tensor) -> float:
    """−log of each judgment, one caption at a time: Dai et al., eq. 9, with weights 1, 1/2 and 1/2."""
    total, rows = 0.0, len(captions)
    for row in range(rows):
        image = features.rows(torch.tensor([row]))
        for caption, right, weight in (
            (captions[row], True, 1.0),
            (written[row], False, 0.5),
            (captions[(row - rows // 2) % rows], False, 0.5),
        ):
            sure = judged(model, image, caption)
            total -= weight * math.log(sure if right else 1 - sure) / rows
    return total


@pytest.mark.parametrize("baseline", ["greedy", "others"])
def test_the_game_is_policy_gradient_of_the_evaluators_score(model: CGAN, batch: TrainingBatch, baseline: str) -> None:
    objective = Objective("evaluator", samples=EACH, baseline=baseline, limit=LIMIT)
    torch.manual_seed(2)
    losses = objective(model, batch, 0)
    torch.manual_seed(2)
    written = sample(model.step, model.begin(batch.features.repeated(EACH)), limit=LIMIT)
    features = batch.features.repeated(EACH)
    rewards = [judged(model, features.rows(torch.tensor([row])), written.words[row]) for row in range(IMAGES * EACH)]
    assert losses.parts["reward/evaluator"] == pytest.approx(sum(rewards) / len(rewards))
    game = slow_game(model, features, batch.captions, written.words)
    assert losses.parts["evaluator"] == pytest.approx(game, rel=1e-5)
    if baseline == "others":
        advantages = [rewards[row] - rewards[row ^ 1] for row in range(len(rewards))]
        words = sum(row.index(0) + 1 if 0 in row else len(row) for row in written.words.tolist())
        gain = sum(advantage * each.sum().item() for advantage, each in zip(advantages, written.log_probs, strict=True))
        assert losses.total.item() == pytest.approx(game - gain / words, rel=1e-5)
    assert all(norm > 0 for norm in gradients(losses.total, model))


def test_the_evaluator_learns_while_its_reward_has_no_weight(model: CGAN, batch: TrainingBatch) -> None:
    objective = Objective.load("0..1@9-10*evaluator", _none(), samples=EACH, baseline="others", limit=LIMIT)
    losses = objective(model, batch, 5)
    assert set(losses.parts) == {"evaluator"}
    captioner, evaluator = gradients(losses.total, model)
    assert captioner == 0
    assert evaluator > 0
    assert gradients(objective(model, batch, 10).total, model)[0] > 0


def test_one_image_has_no_captions_of_others(model: CGAN, batch: TrainingBatch) -> None:
    objective = Objective.load("evaluator", _none(), samples=EACH, baseline="others", limit=LIMIT)
    alone, two = (
        TrainingBatch(batch.images[:n], batch.features.rows(torch.arange(n)), batch.captions[: n * EACH])
        for n in (1, 2)
    )
    objective(model, two, 0)
    with pytest.raises(UsageError, match="compares the images of a batch, and this batch has one"):
        objective(model, alone, 0)


def _none() -> TrainingCaptions:
    """Nothing of the training split: the evaluator needs none of it."""
    return TrainingCaptions(None, [])  # type: ignore[arg-type]


def test_a_captioner_without_evaluator_is_refused(batch: TrainingBatch) -> None:
    with pytest.raises(UsageError, match="only cgan learns the reward evaluator; fc has none"):
        Objective("evaluator", limit=LIMIT)(FC(SIZES), batch, 0)
    with pytest.raises(UsageError, match="only cgan learns the reward evaluator; att2in has none"):
        Settings("scenes", model="att2in", loss="xe + evaluator")
    Settings("scenes", model="cgan", loss="xe + evaluator")
