"""One answer from several people's, and a ranking from choices.

Both methods are short. crowd-kit has them too, but brings pandas, scikit-learn, NLTK and transformers into a server;
the tests compare Dawid–Skene with what it finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capeval.errors import warn

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TINY = 1e-10
_CLOSE = 1e-6
"""How near probabilities come to their limit before the search for it ends."""
_ROUNDS = 2_000


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

    Where the likelihood is flat, the plain iteration creeps for ten thousands of rounds; SQUAREM (Varadhan and Roland
    2008) goes further in the same direction, and back to the plain round where the likelihood would fall. Warns where
    the limit is not reached nevertheless.

    Args:
        items: (answers,) number of the item of each answer, from 0.
        people: (answers,) number of the person, from 0.
        labels: (answers,) what the person said, from 0.
        label_count: how many labels there are.
    """
    votes = np.zeros((items.max() + 1, label_count))
    np.add.at(votes, (items, labels), 1.0)

    def estimate(posterior: Floats) -> DawidSkene:
        """Shares of each answer of each person by the true answer, if the labels are as probable as given."""
        confusion = np.zeros((people.max() + 1, label_count, label_count))
        for true in range(label_count):
            np.add.at(confusion[:, true], (people, labels), posterior[items, true])
        totals = confusion.sum(axis=2, keepdims=True)
        confusion = np.where(totals > 0, confusion / np.where(totals > 0, totals, 1), 1 / label_count)
        return DawidSkene(posterior, confusion, posterior.mean(axis=0))

    def step(posterior: Floats) -> tuple[Floats, float]:
        """The next round's probabilities of the labels, and the likelihood of these."""
        found = estimate(posterior)
        logs = np.tile(np.log(np.maximum(found.prior, _TINY)), (len(posterior), 1))
        np.add.at(logs, items, np.log(np.maximum(found.confusion[people, :, labels], _TINY)))
        scale = logs.max(axis=1, keepdims=True)
        joint = np.exp(logs - scale)
        sums = joint.sum(axis=1, keepdims=True)
        return joint / sums, float((np.log(sums) + scale).sum())

    posterior = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        one, _ = step(posterior)
        two, likelihood = step(one)
        change, bend = one - posterior, two - 2 * one + posterior
        length = float(np.linalg.norm(change) / max(np.linalg.norm(bend), _TINY))
        # `length` rounds of this size are what is left to go, if each is as much smaller than the last as this one.
        if np.abs(two - one).max() * max(length, 1.0) < _CLOSE:
            return estimate(two)
        posterior = two
        if length > 1:
            far = np.maximum(two + (length - 1) * (2 * change + (length + 1) * bend), 0.0)
            ahead, ahead_likelihood = step(far / far.sum(axis=1, keepdims=True))
            posterior = ahead if ahead_likelihood >= likelihood else two
    warn(f"Dawid–Skene has not converged after {3 * _ROUNDS:,} rounds: accuracies and probable answers are rough")
    return estimate(posterior)


def bradley_terry(wins: Mapping[tuple[str, str], int]) -> list[dict[str, float]]:
    """Strengths: the first of two is chosen over the second with probability p₁ / (p₁ + p₂).

    Bradley and Terry (1952); the maximum of the likelihood, by Newton's method. Only names that were compared, directly
    or by way of others, have strengths that can be compared: each group of such names has its own, which sum to 1,
    the largest group first. Who loses to somebody and never wins back gets nothing, as the maximum has it. Names of a
    group that have only losers in common, not even indirectly a choice between them, are NaN.

    Args:
        wins: how often the first was chosen over the second.
    """
    names = sorted({name for pair in wins for name in pair})
    place = {name: number for number, name in enumerate(names)}
    won = np.zeros((len(names), len(names)))
    for (first, second), count in wins.items():
        won[place[first], place[second]] += count
    np.fill_diagonal(won, 0.0)
    over = _connected(won > 0)
    compared = _connected(won + won.T > 0)
    unbeaten = (over >= over.T).all(axis=1)  # by all but those that they beat in turn
    groups = []
    for members in np.unique(compared, axis=0):
        strength = np.zeros(len(names))
        top = members & unbeaten
        if over[np.ix_(top, top)].all():
            strength[top] = _strengths(won[np.ix_(top, top)])
        else:
            strength[top] = np.nan
        groups.append({names[number]: float(strength[number]) for number in np.flatnonzero(members)})
    return sorted(groups, key=lambda group: (-len(group), min(group)))


def _connected(directly: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a way leads from each to each, itself included."""
    ways = directly | np.eye(len(directly), dtype=bool)
    for _ in range(len(directly).bit_length()):
        ways = ways @ ways
    return ways


def _strengths(won: Floats) -> Floats:
    """The maximum of the likelihood where everybody beats everybody, if by way of others: it is one, and finite."""
    games, logs = won + won.T, np.zeros(len(won))
    while True:
        share = 1 / (1 + np.exp(logs[None, :] - logs[:, None]))
        slope = (won - games * share).sum(axis=1)
        curve = games * share * share.T
        # Strengths are known up to a factor, so the logarithms' mean is kept.
        step = np.linalg.solve(np.diag(curve.sum(axis=1)) - curve + 1.0, slope)
        reach = float(step.max() - step.min())
        if reach < _TINY:
            strength = np.exp(logs - logs.max())
            shares: Floats = strength / strength.sum()
            return shares
        # The damping with which Newton's method finds the maximum of such likelihoods from anywhere (Bach 2010).
        logs += step * np.log1p(reach) / reach


def numbered(values: Sequence[int]) -> tuple[Integers, list[int]]:
    """Values as numbers from 0, and what each number stands for."""
    distinct = list(dict.fromkeys(values))
    place = {value: number for number, value in enumerate(distinct)}
    return np.array([place[value] for value in values], dtype=np.int64), distinct
