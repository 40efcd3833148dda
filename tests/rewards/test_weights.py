"""The weight of a metric of sets means what it says: all groups of a small policy counted out.

Four captions with probabilities p. The exact gradient of the objective E[r] + w·E[D of k − 1 captions] by the logits is
compared with the expectation of an estimator over all 4^k groups, Σ_i A_i ∇ log p(caption i).
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

import sacrecap
from sacrecap.errors import DataError, SacrecapWarning
from sacrecap.rewards import CaptionReward, SetReward

REFERENCES = {
    "beach": ["a dog runs along the beach", "a brown dog runs on sand"],
    "city": ["two cats sit in a city", "cats in the city"],
    "park": ["a child plays with a ball", "the child has a ball"],
}
CAPTIONS = ["a dog runs along the beach", "a brown dog runs", "two cats sit", "a dog with a ball"]
P = np.array([0.4, 0.3, 0.2, 0.1])
SCORES = np.eye(4) - P  # ∇ log p of each caption by the logits
Array = npt.NDArray[np.float64]


def probability(group: tuple[int, ...]) -> float:
    return float(np.prod(P[list(group)]))


def gradient_of_diversity(size: int) -> Array:
    """∇ E[Self-CIDEr of `size` captions], from the value of each group."""
    groups = list(product(range(4), repeat=size))
    counts = sacrecap.DocumentFrequency.build(REFERENCES)
    sets = {str(number): [CAPTIONS[caption] for caption in group] for number, group in enumerate(groups)}
    found = sacrecap.diversity({"s": sets}, metrics="self-cider", interval=None, document_frequency=counts)
    values = dict(zip(found["s"].image_ids, found["s"]["self-cider"].per_image, strict=True))
    terms = [
        probability(group) * values[str(number)] * SCORES[list(group)].sum(0) for number, group in enumerate(groups)
    ]
    return np.asarray(np.sum(terms, axis=0))


def expected(estimator: str, size: int, reward: SetReward) -> Array:
    """The expectation of an estimator over all groups."""
    groups = list(product(range(4), repeat=size))
    captions = [CAPTIONS[caption] for group in groups for caption in group]
    rewards = np.array(reward(captions, ["beach"] * len(captions))).reshape(-1, size)
    total = np.zeros(4)
    for group, own in zip(groups, rewards, strict=True):
        advantage = own - own.mean()
        if estimator == "rloo":
            advantage = own - (own.sum() - own) / (size - 1)
        if estimator == "group":
            advantage = advantage / (own.std(ddof=1) + 1e-4)
        total += probability(group) * (advantage[:, None] * SCORES[list(group)]).mean(0)
    return total


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_a_weight_means_the_same_for_groups_of_every_size(size: int, weight: float) -> None:
    accuracy = np.array(CaptionReward(REFERENCES)(CAPTIONS, ["beach"] * 4))
    objective = (P * accuracy) @ SCORES + weight * gradient_of_diversity(size - 1)
    reward = SetReward(REFERENCES, f"cider-d + {weight:g}*self-cider", num_generations=size)
    assert expected("rloo", size, reward) == pytest.approx(objective, abs=1e-12)
    assert expected("none", size, reward) == pytest.approx((size - 1) / size * objective, abs=1e-12)


def test_scaling_each_group_gives_other_weights() -> None:
    """The figures of the page: the weight of diversity that `cider-d + 2*self-cider` has with TRL's default."""
    accuracy = np.array(CaptionReward(REFERENCES)(CAPTIONS, ["beach"] * 4))
    found = []
    for size in (3, 4, 5):
        reward = SetReward(REFERENCES, "cider-d + 2*self-cider", num_generations=size)
        both = np.stack([(P * accuracy) @ SCORES, gradient_of_diversity(size - 1)], axis=1)
        of_accuracy, of_diversity = np.linalg.lstsq(both, expected("group", size, reward), rcond=None)[0]
        found.append(of_diversity / of_accuracy)
    assert found == pytest.approx([-0.045, 1.722, 0.629], abs=5e-4)


class Trainer:
    """What TRL's trainers have of what rewards look at."""

    def __init__(self, scale: str) -> None:
        self.args = type("Config", (), {"scale_rewards": scale})()
        self.num_generations = 3
        self.num_generations_eval = 4
        self.model = type("Model", (), {"training": True})()
        self.eos_token_ids = [2]
        self.logged: dict[str, float] = {}

    def log(self, name: str, value: float) -> None:
        self.logged[name] = value


def test_a_trainer_that_scales_groups_is_warned_of_once() -> None:
    reward, trainer = SetReward(REFERENCES), Trainer("group")
    with pytest.warns(SacrecapWarning, match="scale_rewards="):
        first = reward(CAPTIONS[:3], ["beach"] * 3, log_metric=trainer.log)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reward(CAPTIONS[:3], ["beach"] * 3, log_metric=trainer.log)
    assert first == SetReward(REFERENCES, num_generations=3)(CAPTIONS[:3], ["beach"] * 3)
    assert 0 < trainer.logged["sacrecap/within"] <= 1
    trainer.model.training = False
    assert len(reward(CAPTIONS, ["beach"] * 4, log_metric=trainer.log)) == 4  # groups of evaluation


@pytest.mark.filterwarnings("error")
def test_a_trainer_that_does_not_scale_is_not() -> None:
    trainer = Trainer("none")
    ids = [[5, 2], [5, 5], [2]]
    found = SetReward(REFERENCES)(CAPTIONS[:3], ["beach"] * 3, log_metric=trainer.log, completion_ids=ids)
    assert len(found) == 3
    assert trainer.logged["sacrecap/unfinished"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (["beach"] * 4, r"rows 3 to 3 of 4 are 1 of 1 image \(beach\)"),
        (["beach"] * 2 + ["city"] * 4, r"rows 0 to 2 of 6 are 3 of 2 images \(beach, city\)"),
    ],
)
def test_parts_of_groups_are_refused(images: list[str], message: str) -> None:
    captions = (CAPTIONS * 2)[: len(images)]
    with pytest.raises(DataError, match=message):
        SetReward(REFERENCES, num_generations=3)(captions, images)
    CaptionReward(REFERENCES, num_generations=3)(captions, images)  # which rewards each on its own
