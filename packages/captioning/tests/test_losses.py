"""Objectives: their gradients against finite differences, their baselines, and their errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from sacrecap.errors import UsageError
from sacrecap_captioning.captioner import END, Features, Sizes
from sacrecap_captioning.models import FC
from sacrecap_captioning.objective import Objective, Reward, TrainingBatch, mean_of_the_rest, policy_gradient

IMAGES, VOCABULARY, LIMIT = 3, 5, 4


@pytest.fixture(autouse=True)
def _deterministic() -> Iterator[None]:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def model() -> FC:
    model = FC(Sizes(VOCABULARY, feature=3, hidden=4, embedding=4))
    with torch.no_grad():
        for parameter in model.parameters():  # larger than usual, so that the distribution is far from uniform
            parameter.mul_(3)
    return model


@pytest.fixture
def batch() -> TrainingBatch:
    captions = torch.tensor(
        [[2, 3, END, END], [4, END, END, END], [2, 2, 4, 3], [3, 4, 2, END], [END] * 4, [4, 3, 2, 4]]
    )
    return TrainingBatch(torch.arange(IMAGES), Features(torch.randn(IMAGES, 3), torch.randn(IMAGES, 2, 3)), captions)


class Fixed:
    """A reward that depends on words and image in no simple way."""

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        places = torch.arange(1, words.shape[1] + 1)
        return (words * places).sum(1).sin() + images.repeat_interleave(len(words) // len(images))


def along(loss: Callable[[], Tensor], parameter: Tensor, direction: Tensor, step: float = 1e-6) -> Tensor:
    """The slope of the loss where the parameter moves in this direction."""
    with torch.no_grad():
        parameter += step * direction
        above = loss()
        parameter -= 2 * step * direction
        below = loss()
        parameter += step * direction
        return (above - below) / (2 * step)


def finite_differences(loss: Callable[[], Tensor], parameters: list[Tensor]) -> list[Tensor]:
    """∂loss/∂parameters, one number at a time."""
    return [
        torch.stack([along(loss, each, one.view_as(each)) for one in torch.eye(each.numel())]).view_as(each)
        for each in parameters
    ]


def check_gradient(loss: Callable[[], Tensor], model: FC) -> None:
    """Of each parameter along two random directions, as a wrong number anywhere shows in them."""
    parameters = list(model.parameters())
    directions = [[torch.randn_like(each) for _ in range(2)] for each in parameters]
    expected = [
        torch.stack([along(loss, each, way) for way in ways]) for each, ways in zip(parameters, directions, strict=True)
    ]
    found = torch.autograd.grad(loss(), parameters)
    assert max(slope.abs().max() for slope in expected) > 1e-3
    for gradient, ways, slopes in zip(found, directions, expected, strict=True):
        along_them = torch.stack([(gradient * way).sum() for way in ways])
        torch.testing.assert_close(along_them, slopes, rtol=1e-5, atol=1e-7)


def test_gradient_of_cross_entropy(model: FC, batch: TrainingBatch) -> None:
    check_gradient(lambda: Objective("2*xe")(model, batch, 0).total, model)


@pytest.mark.parametrize("baseline", ["greedy", "others"])
@pytest.mark.parametrize("text", ["cider-d", "xe + 5*cider-d", "xe + 2*cider-d + 0..4@10*retrieval"])
def test_gradient_of_rewards_and_mixtures(model: FC, batch: TrainingBatch, text: str, baseline: str) -> None:
    """With the samples and the advantages held: it is they that a policy gradient takes as given."""
    rewards: dict[str, Reward] = {"cider-d": Fixed(), "retrieval": Fixed()}
    objective = Objective(text, rewards, samples=3, baseline=baseline, limit=LIMIT)

    def loss() -> Tensor:
        torch.manual_seed(1)
        return objective(model, batch, 5).total

    torch.manual_seed(1)
    check_gradient(loss, model)


def all_captions() -> Tensor:
    """(N, 3): each caption of up to 3 words out of 3, padded with ends."""
    rows = {
        tuple(itertools.chain(itertools.takewhile(bool, words), [END] * 3))[:3]
        for words in itertools.product(range(3), repeat=3)
    }
    return torch.tensor(sorted(rows))


def test_expected_policy_gradient_is_that_of_the_expected_reward(batch: TrainingBatch) -> None:
    """Σ p(c) · ∇(−A log p(c)) = −∇ Σ p(c) r(c), whatever the baseline: all captions of a tiny language counted out."""
    model = FC(Sizes(3, feature=3, hidden=3, embedding=3))
    captions = all_captions()
    features = batch.features.rows(torch.zeros(len(captions), dtype=torch.long))
    reward = Fixed()(captions, torch.zeros(1))

    def log_probs() -> Tensor:
        each = model(features, captions).log_softmax(2).gather(2, captions[:, :, None]).squeeze(2)
        ended = (captions == END).cumsum(1) - (captions == END).long() > 0
        return each.masked_fill(ended, 0)

    assert log_probs().sum(1).exp().sum().item() == pytest.approx(1)
    expected = finite_differences(lambda: -(log_probs().sum(1).exp() * reward).sum(), list(model.parameters()))
    for baseline in (0.0, 0.7):
        each = log_probs()
        likelihood = each.sum(1).exp().detach()
        words = (captions != END).sum(1).clamp(max=2) + 1
        total = sum(
            likelihood[row] * words[row] * policy_gradient(each[row : row + 1], captions[row : row + 1], advantage)
            for row in range(len(captions))
            for advantage in [reward[row : row + 1] - baseline]
        )
        assert isinstance(total, Tensor)
        for one, two in zip(torch.autograd.grad(total, list(model.parameters())), expected, strict=True):
            torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-8)


def test_mean_of_the_others() -> None:
    reward = torch.tensor([1.0, 2.0, 6.0, 4.0, 4.0, 4.0])
    assert mean_of_the_rest(reward, 3).tolist() == [4, 3.5, 1.5, 4, 4, 4]


def test_parts_and_total(model: FC, batch: TrainingBatch) -> None:
    losses = Objective("2*xe + 3*cider-d", {"cider-d": Fixed()}, samples=2, limit=LIMIT)(model, batch, 0)
    assert set(losses.parts) == {"xe", "reward/cider-d"}
    xe = Objective("xe")(model, batch, 0)
    assert losses.parts["xe"] == xe.total.item()
    assert Objective("0..1@10*xe")(model, batch, 0).total == 0  # and nothing to fail in backward()


def test_one_image_is_no_number_lost(model: FC, batch: TrainingBatch) -> None:
    """A batch of one image has losses that are numbers."""
    alone = TrainingBatch(batch.images[:1], batch.features.rows(torch.tensor([0])), batch.captions[:2])
    for baseline in ("greedy", "others"):
        objective = Objective("xe + cider-d", {"cider-d": Fixed()}, samples=2, baseline=baseline, limit=LIMIT)
        assert objective(model, alone, 0).total.isfinite()


def test_what_it_refuses() -> None:
    with pytest.raises(UsageError, match="baseline must be one of greedy, others, got 'gredy'"):
        Objective("xe", baseline="gredy")
    with pytest.raises(UsageError, match="the baseline others needs at least 2 samples per image, got 1"):
        Objective("xe", baseline="others", samples=1)
    with pytest.raises(UsageError, match="at least 1 samples per image, got 0"):
        Objective("xe", samples=0)
    with pytest.raises(UsageError, match="no reward is given for bleu-4"):
        Objective("xe + bleu-4")
