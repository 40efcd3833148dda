"""One answer from several people's, and a ranking from choices.

Both methods are short. crowd-kit has them too, but brings pandas, scikit-learn, NLTK and transformers into a server;
the tests compare Dawid–Skene with what it finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TINY = 1e-10
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The estimates of Dawid and Skene (1979), *Maximum Likelihood Estimation of Observer Error-Rates*."""

    posterior: Floats
    """(items, labels): how probable each label is the true one."""
    confusion: Floats
    """(people, labels, labels): how probable a person says the second where the first is true."""
    prior: Floats
    """(labels,)"""

    @property
    def accuracy(self) -> Floats:
        """(people,): how probable the person says what is true."""
        right: Floats = np.einsum("pll,l->p", self.confusion, self.prior)
        return right


def dawid_skene(items: Integers, people: Integers, labels: Integers, *, label_count: int = 2) -> DawidSkene:
    """Expectation–maximisation over labels that people gave to items, which begins at the majority.

    Args:
        items: (answers,) number of the item of each answer, from 0.
        people: (answers,) number of the person, from 0.
        labels: (answers,) what the person said, from 0.
        label_count: how many labels there are.
    """
    votes = np.zeros((items.max() + 1, label_count))
    np.add.at(votes, (items, labels), 1.0)
    posterior = votes / votes.sum(axis=1, keepdims=True)
    likelihood = -np.inf
    for _ in range(1000):
        prior = posterior.mean(axis=0)
        confusion = np.zeros((people.max() + 1, label_count, label_count))
        for true in range(label_count):
            np.add.at(confusion[:, true], (people, labels), posterior[items, true])
        totals = confusion.sum(axis=2, keepdims=True)
        confusion = np.where(totals > 0, confusion / np.where(totals > 0, totals, 1), 1 / label_count)
        logs = np.tile(np.log(np.maximum(prior, _TINY)), (len(posterior), 1))
        np.add.at(logs, items, np.log(np.maximum(confusion[people, :, labels], _TINY)))
        scale = logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs - scale)
        previous, likelihood = likelihood, float((np.log(posterior.sum(axis=1)) + scale[:, 0]).sum())
        posterior /= posterior.sum(axis=1, keepdims=True)
        if likelihood - previous < _TOLERANCE * abs(likelihood):
            break
    return DawidSkene(posterior, confusion, prior)


def bradley_terry(wins: Mapping[tuple[str, str], int]) -> dict[str, float]:
    """Strengths that sum to 1: the first of two is chosen over the second with probability p₁ / (p₁ + p₂).

    Bradley and Terry (1952), by the iteration of Hunter (2004). Whoever always wins gets all, whoever never wins
    nothing, as the maximum of the likelihood has it.

    Args:
        wins: how often the first was chosen over the second.
    """
    names = sorted({name for pair in wins for name in pair})
    if len(names) < 2:
        return dict.fromkeys(names, 1.0)
    place = {name: number for number, name in enumerate(names)}
    won = np.zeros((len(names), len(names)))
    for (first, second), count in wins.items():
        won[place[first], place[second]] += count
    np.fill_diagonal(won, 0.0)
    games = won + won.T
    strength = np.full(len(names), 1 / len(names))
    for _ in range(10_000):
        expected = (games / np.maximum(strength[:, None] + strength[None, :], _TINY)).sum(axis=1)
        new = won.sum(axis=1) / np.maximum(expected, _TINY)
        new /= max(new.sum(), _TINY)
        done = np.abs(new - strength).max() < _TOLERANCE
        strength = new
        if done:
            break
    return dict(zip(names, strength.tolist(), strict=True))


def numbered(values: Sequence[int]) -> tuple[Integers, list[int]]:
    """Values as numbers from 0, and what each number stands for."""
    distinct = list(dict.fromkeys(values))
    place = {value: number for number, value in enumerate(distinct)}
    return np.array([place[value] for value in values], dtype=np.int64), distinct
