"""Statistics of answers that are not independent: intervals of 95 %, Krippendorff's α, one answer from several people's
(Dawid and Skene), and a ranking from choices (Bradley and Terry).

Answers to one image are similar, independent of the person and of the number of references, and so are the answers of
one person. So the unit that is drawn, or whose answers are added up first, is the image (or the person), never the
answer. crowd-kit has the methods too, but needs pandas, scikit-learn, NLTK and transformers in a server; the tests
compare Dawid–Skene with what it finds.

Krippendorff, *Content Analysis* (2004), section 11.3; the thresholds are those of its section 11.4.2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from sacrecap.errors import warn
from sacrecap.judgments.bootstrap import draws
from sacrecap.judgments.calibration.strengths import bradley_terry as maximum_of_likelihood

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Interval = tuple[float, float]

LEVEL = 0.95
DRAWS = 1000
_TAIL = (1 - LEVEL) / 2


def sums_by_unit(units: Integers, *columns: Floats) -> Floats:
    """(units, columns): the sum of each column over the rows of each unit; units are numbered from 0."""
    size = int(units.max()) + 1 if len(units) else 0
    return np.stack([np.bincount(units, column, minlength=size) for column in columns], axis=1)


def bootstrap(sums: Floats, statistic: Callable[[Floats], Floats], samples: int = DRAWS) -> Interval | None:
    """The percentile interval of a statistic of (units, columns) sums, by drawing units with replacement.

    None with fewer than two units, or where most draws leave the statistic undefined: NaN of the (draws, columns) sums
    over the drawn units.
    """
    count = len(sums)
    if count < 2:
        return None
    times = draws(count, samples, seed=0)
    batch = max(1, 200_000 // count)  # drawn units that are in memory at a time
    values = statistic(np.concatenate([times[start : start + batch] @ sums for start in range(0, samples, batch)]))
    values = values[~np.isnan(values)]
    if len(values) < samples / 2:
        return None
    low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
    return float(low), float(high)


def mean_interval(sums: Floats) -> Interval | None:
    """The interval of a mean, from the (units, 2) sums of values and their numbers, by drawing units."""
    return bootstrap(sums, lambda drawn: drawn[:, 0] / np.where(drawn[:, 1] > 0, drawn[:, 1], np.nan))


def share_interval(sums: Floats) -> Interval | None:
    """The interval of a share over few units, such as people.

    From the (units, 2) sums of hits and trials: the spread of the units' residuals, with Student's t for their number.
    With one unit, as if its trials were independent.
    """
    hits, trials = sums.sum(axis=0)
    count = len(sums)
    if not trials:
        return None
    share = hits / trials
    if count < 2:
        return wilson(float(hits), float(trials))
    residuals = sums[:, 0] - share * sums[:, 1]
    error = math.sqrt(float((residuals**2).sum()) * count / (count - 1)) / trials
    # People who all give the very same share do not make it known exactly.
    near = wilson(float(hits), float(trials))
    from scipy.special import stdtrit

    reach = float(stdtrit(count - 1, 1 - _TAIL)) * error
    return min(max(share - reach, 0.0), near[0]), max(min(share + reach, 1.0), near[1])


def wilson(hits: float, trials: float) -> Interval:
    """Wilson's (1927) interval of a share of independent trials."""
    from scipy.special import ndtri  # here: it is a tenth of a server's start

    z = float(ndtri(1 - _TAIL))
    centre = (hits + z * z / 2) / (trials + z * z)
    reach = z / (trials + z * z) * math.sqrt(max(hits * (trials - hits) / trials, 0.0) + z * z / 4)
    # Without hits, or misses, the end is exact; rounding misses it by the last bit.
    return (max(centre - reach, 0.0) if hits else 0.0), (min(centre + reach, 1.0) if hits < trials else 1.0)


TENTATIVE = 0.667
"""Below it, Krippendorff advises against conclusions; from it on, tentative ones are acceptable."""
RELIABLE = 0.8
"""From here on he calls data reliable."""


def judgment(alpha: float) -> str:
    """What Krippendorff's thresholds say of a value: `low`, `tentative` or `reliable`."""
    return "reliable" if alpha >= RELIABLE else "tentative" if alpha >= TENTATIVE else "low"


class Alpha:
    """Krippendorff's α of counts.

    Args:
        votes: (units, values) how many people gave each unit each value.
        values: the values' places on the scale, for the level `interval`.
        level: whether values are only different (`nominal`), or their squared distances count (`interval`).
    """

    def __init__(self, votes: Floats, values: Sequence[float], level: Literal["nominal", "interval"]) -> None:
        places = np.asarray(values, dtype=float)
        squared = (places[:, None] - places[None, :]) ** 2
        self._distance = (squared > 0).astype(float) if level == "nominal" else squared
        self._votes = votes.astype(float)
        self._parts = self._contributions(self._votes)

    @property
    def value(self) -> float | None:
        """α; None if no unit has two answers, or all answers are one value."""
        value = self._of_sums(self._parts.sum(axis=0, keepdims=True))[0]
        return None if np.isnan(value) else float(value)

    def interval(self, clusters: Integers) -> Interval | None:
        """By drawing clusters of units, such as all units of an image; `clusters` has each unit's, from 0."""
        shared = self._parts[:, 1:].sum(axis=1) > 0
        _, numbers = np.unique(clusters[shared], return_inverse=True)
        sums = np.zeros((int(numbers.max()) + 1 if len(numbers) else 0, self._parts.shape[1]))
        np.add.at(sums, numbers, self._parts[shared])
        return bootstrap(sums, self._of_sums)

    def without(self, people: Integers, units: Integers, values: Integers, count: int) -> list[float | None]:
        """α without each person, from the person, unit and value of every answer; `count` is how many people there are.

        The answers are those that the counts were made of, one per person and unit.
        """
        rest = self._votes[units]
        rest[np.arange(len(units)), values] -= 1
        change = self._contributions(rest) - self._parts[units]
        sums = np.repeat(self._parts.sum(axis=0, keepdims=True), count, axis=0)
        np.add.at(sums, people, change)
        return [None if np.isnan(value) else float(value) for value in self._of_sums(sums)]

    def _contributions(self, votes: Floats) -> Floats:
        """(units, 1 + values): a unit's disagreement, then its counts; nothing of units with fewer than two answers."""
        sizes = votes.sum(axis=1)
        shared = sizes > 1
        disagreement = ((votes @ self._distance) * votes).sum(axis=1) / np.where(shared, sizes - 1, 1)
        parts: Floats = np.concatenate([disagreement[:, None], votes], axis=1) * shared[:, None]
        return parts

    def _of_sums(self, sums: Floats) -> Floats:
        counts = sums[:, 1:]
        expected = ((counts @ self._distance) * counts).sum(axis=1)
        # Sums that were taken apart again may miss zero by a rounding.
        enough = expected > 1e-9
        return np.where(enough, 1 - (counts.sum(axis=1) - 1) * sums[:, 0] / np.where(enough, expected, 1), np.nan)


H = TypeVar("H", bound=Hashable)

_TINY = 1e-10
_ROUNDS = 2_000
_REDRAWS = 100


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The estimates of Dawid and Skene (1979), *Maximum Likelihood Estimation of Observer Error-Rates*."""

    posterior: Floats
    """(items, labels): how probable each label is the true one."""
    confusion: Floats
    """(people, labels, labels): probability that a person says the second label if the first is true."""
    prior: Floats
    """(labels,)"""

    @property
    def accuracy(self) -> Floats:
        """(people,): probability that the person says the true label."""
        right: Floats = np.einsum("pll,l->p", self.confusion, self.prior)
        return right


def dawid_skene(items: Integers, people: Integers, labels: Integers, *, label_count: int = 2) -> DawidSkene:
    """Expectation–maximisation over labels that people gave to items, which begins at the majority.

    If the likelihood is flat, the plain iteration needs ten thousands of rounds. SQUAREM (Varadhan and Roland 2008)
    takes larger steps in the same direction, and a plain step if the likelihood would fall. Warns if the limit is still
    not reached.

    `items`, `people` and `labels` are (answers,) numbers from 0: of an answer the item, the person, and what they say.
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
        result = estimate(posterior)
        logs = np.tile(np.log(np.maximum(result.prior, _TINY)), (len(posterior), 1))
        np.add.at(logs, items, np.log(np.maximum(result.confusion[people, :, labels], _TINY)))
        scale = logs.max(axis=1, keepdims=True)
        joint = np.exp(logs - scale)
        sums = joint.sum(axis=1, keepdims=True)
        return joint / sums, float((np.log(sums) + scale).sum())

    posterior = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        update, _ = step(posterior)
        two, likelihood = step(update)
        change, bend = update - posterior, two - 2 * update + posterior
        length = float(np.linalg.norm(change) / max(np.linalg.norm(bend), _TINY))
        # `length` rounds of this size are what is left to go, if each is as much smaller than the last as this one.
        if np.abs(two - update).max() * max(length, 1.0) < 1e-6:
            return estimate(two)
        posterior = two
        if length > 1:
            far = np.maximum(two + (length - 1) * (2 * change + (length + 1) * bend), 0.0)
            ahead, ahead_likelihood = step(far / far.sum(axis=1, keepdims=True))
            posterior = ahead if ahead_likelihood >= likelihood else two
    warn(f"Dawid–Skene has not converged after {3 * _ROUNDS:,} rounds: accuracies and probable answers are rough")
    return estimate(posterior)


def accuracy_intervals(
    items: Integers, people: Integers, labels: Integers, units: Integers, fit: DawidSkene
) -> list[Interval]:
    """The interval of each person's accuracy: by drawing units of items, such as images, and estimating again.

    A person who is right wherever they answered would get no width from that, so an interval is never narrower than
    Wilson's for as many answers to items whose truth is known.

    `items`, `people` and `labels` are those of `dawid_skene`, which gave `fit`; `units` are (items,) numbers from 0.
    """
    from scipy.sparse import csr_matrix

    item_count, label_count = fit.posterior.shape
    people_count = len(fit.confusion)
    # Every answer as a person's saying of a label: all sums of both steps are products with this one matrix.
    answer_matrix = csr_matrix(
        (np.ones(len(items)), (items, people * label_count + labels)), shape=(item_count, people_count * label_count)
    )
    times = draws(int(units.max()) + 1, _REDRAWS, 0)
    batch = max(1, 4_000_000 // (item_count * label_count))  # probabilities that are in memory at a time
    drawn = [
        _redrawn_accuracies(answer_matrix, times[start : start + batch, units].T.astype(float), fit)
        for start in range(0, _REDRAWS, batch)
    ]
    # A person whose items were not drawn has no accuracy in that draw.
    low, high = np.nanquantile(np.concatenate(drawn), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    answered = np.bincount(people, minlength=people_count)
    intervals = [wilson(right * count, count) for right, count in zip(fit.accuracy, answered, strict=True)]
    return [
        (min(float(a), known_low), max(float(b), known_high))
        for a, b, (known_low, known_high) in zip(low, high, intervals, strict=True)
    ]


def _redrawn_accuracies(answer_matrix: Any, weights: Floats, fit: DawidSkene) -> Floats:
    """(draws, people): the accuracies where items count as often as the (items, draws) weights say."""
    item_count, label_count = fit.posterior.shape
    people_count, draw_count = len(fit.confusion), weights.shape[1]
    posterior = np.repeat(fit.posterior[:, None, :], draw_count, axis=1)  # (items, draws, labels)
    for _ in range(60):
        weighted = posterior * weights[:, :, None]
        prior = weighted.sum(axis=0) / weights.sum(axis=0)[:, None]
        counts = (answer_matrix.T @ weighted.reshape(item_count, -1)).reshape(
            people_count, label_count, draw_count, label_count
        )
        totals = counts.sum(axis=1, keepdims=True)
        confusion = np.where(totals > 0, counts / np.where(totals > 0, totals, 1), 1 / label_count)
        logs = (answer_matrix @ np.log(np.maximum(confusion, _TINY)).reshape(people_count * label_count, -1)).reshape(
            posterior.shape
        ) + np.log(np.maximum(prior, _TINY))
        new = np.exp(logs - logs.max(axis=2, keepdims=True))
        new /= new.sum(axis=2, keepdims=True)
        moved, posterior = np.abs(new - posterior).max(), new
        if moved < 1e-3:
            break
    accuracy: Floats = np.einsum("plbl,bl->bp", confusion, prior)
    accuracy[totals.sum(axis=(1, 3)).T == 0] = np.nan
    return accuracy


@dataclass(frozen=True)
class Strength:
    """A system's strength among the systems that it was compared with."""

    system: str
    strength: float | None
    """Strengths of a group sum to 1; None if the choices leave it open."""
    interval: Interval | None = None
    note: str = ""
    """Why the strength, or one end of its interval, is not known; empty otherwise."""


def strengths(choices: Sequence[tuple[Hashable, str, str]]) -> list[list[Strength]]:
    """Bradley–Terry's strengths with intervals, each group of compared systems with the strongest first.

    The variance is the robust one of clusters (Liang and Zeger 1986): choices of one unit may depend on each other in
    any way. Intervals are of the log-odds of a strength, with Student's t for as many units. A choice has its unit,
    such as an image, the system that was chosen, and the other one.
    """
    wins = Counter((chosen, loser) for _, chosen, loser in choices)
    groups = []
    for group in bradley_terry(wins):
        top = sorted(name for name, strength in group.items() if strength > 0)
        inside = [choice for choice in choices if choice[1] in top and choice[2] in top and choice[1] != choice[2]]
        intervals = _strength_intervals(inside, top, group) if len(top) > 1 else {}
        members = []
        for name, strength in group.items():
            note = ""
            if math.isnan(strength):
                note = "left open: the systems that never lost were compared only with systems that lost to them"
            elif strength == 0:
                note = "never won against the systems above: the strength has no lower limit"
            elif len(top) == 1 < len(group):
                note = "never lost: the strength has no upper limit"
            elif len(top) < len(group):
                note = "never lost to the systems below those with a strength: against these it has no upper limit"
            members.append(Strength(name, None if math.isnan(strength) else strength, intervals.get(name), note))
        members.sort(key=lambda member: (member.strength is not None, -(member.strength or 0), member.system))
        groups.append(members)
    return groups


def _strength_intervals(
    choices: list[tuple[Hashable, str, str]], names: list[str], strength: Mapping[str, float]
) -> dict[str, Interval]:
    place = {name: number for number, name in enumerate(names)}
    share = np.array([strength[name] for name in names])
    units, _ = numbered([unit for unit, _, _ in choices])
    count = int(units.max()) + 1
    if count < 2:
        return {}
    winner = np.array([place[chosen] for _, chosen, _ in choices])
    loser = np.array([place[loser] for _, _, loser in choices])
    expected = share[winner] / (share[winner] + share[loser])
    slopes = np.zeros((count, len(names)))
    np.add.at(slopes, (units, winner), 1 - expected)
    np.add.at(slopes, (units, loser), expected - 1)
    curve = np.zeros((len(names), len(names)))
    np.add.at(curve, (winner, loser), expected * (1 - expected))
    curve += curve.T
    bread = np.linalg.pinv(np.diag(curve.sum(axis=1)) - curve)
    variance = bread @ (slopes.T @ slopes) @ bread * count / (count - 1)
    # The slope of the log-odds of each share: 1 for its own logarithm, less the others' shares of the rest.
    odds_slope = np.where(np.eye(len(names), dtype=bool), 1.0, -share[None, :] / (1 - share[:, None]))
    error = np.sqrt(np.einsum("ij,jk,ik->i", odds_slope, variance, odds_slope))
    from scipy.special import stdtrit

    reach = float(stdtrit(count - 1, (1 + LEVEL) / 2)) * error
    odds = np.log(share / (1 - share))
    low, high = 1 / (1 + np.exp(reach - odds)), 1 / (1 + np.exp(-reach - odds))
    return {name: (float(low[number]), float(high[number])) for name, number in place.items()}


def bradley_terry(wins: Mapping[tuple[str, str], int]) -> list[dict[str, float]]:
    """Strengths: the first of two is chosen over the second with probability p₁ / (p₁ + p₂).

    Bradley and Terry (1952); the maximum of the likelihood, by Newton's method. Only names that were compared, directly
    or by way of others, have strengths that can be compared: each group of such names has its own, which sum to 1,
    the largest group first. Who loses to somebody and never wins back gets nothing, as the maximum has it. Names of a
    group that have only losers in common, not even indirectly a choice between them, are NaN. `wins` says how often the
    first was chosen over the second.
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
            # Where everybody beats everybody, if by way of others, the maximum is one, and finite.
            fitted = maximum_of_likelihood(won[np.ix_(top, top)], math.inf)
            assert fitted is not None
            strength[top] = np.exp(fitted[0] - fitted[0].max())
            strength[top] /= strength[top].sum()
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


def numbered(values: Sequence[H]) -> tuple[Integers, list[H]]:
    """Values as numbers from 0, and the value of each number."""
    distinct = list(dict.fromkeys(values))
    place = {value: number for number, value in enumerate(distinct)}
    return np.array([place[value] for value in values], dtype=np.int64), distinct
