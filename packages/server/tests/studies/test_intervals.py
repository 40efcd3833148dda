"""Intervals against slow references, and how often they hold what is true."""

import random

import krippendorff
import numpy as np
import pytest

from sacrecap.judgments.bootstrap import draws
from sacrecap_studies.estimation import (
    Alpha,
    accuracy_intervals,
    bootstrap,
    dawid_skene,
    judgment,
    mean_interval,
    share_interval,
    strengths,
    wilson,
)


def votes_of(chance, units, values, people=4):
    return np.stack([np.bincount(chance.integers(values, size=people), minlength=values) for _ in range(units)])


@pytest.mark.parametrize(("values", "level"), [(2, "nominal"), (5, "nominal"), (11, "interval")])
def test_alpha_is_that_of_the_library(values, level):
    chance = np.random.default_rng(values)
    votes = votes_of(chance, 40, values)
    votes[3] = 0
    votes[4] = np.eye(values)[0]
    places = [value / 10 for value in range(values)]
    counted = votes[votes.sum(axis=1) > 1]
    expected = krippendorff.alpha(value_counts=counted, value_domain=places, level_of_measurement=level)
    assert Alpha(votes, places, level).value == pytest.approx(expected)


def test_alpha_of_little_is_unknown():
    assert Alpha(np.array([[1, 0], [0, 1]]), [0, 1], "nominal").value is None
    assert Alpha(np.array([[3, 0], [2, 0]]), [0, 1], "nominal").value is None
    assert Alpha(np.array([[2, 1]]), [0, 1], "nominal").interval(np.array([0])) is None


def test_the_interval_of_alpha_draws_clusters():
    """Slow reference: the same draws, with α of the drawn counts written out again each time."""
    chance = np.random.default_rng(1)
    votes, clusters = votes_of(chance, 24, 2), np.repeat(np.arange(8), 3)
    values = []
    for times in draws(8, 1000, 0):
        drawn = np.concatenate([votes[clusters == cluster] for cluster in np.repeat(np.arange(8), times)])
        values.append(Alpha(drawn, [0, 1], "nominal").value)
    expected = np.quantile(values, [0.025, 0.975])
    assert Alpha(votes, [0, 1], "nominal").interval(clusters) == pytest.approx(tuple(expected))


def test_krippendorffs_thresholds():
    for name, values in {"low": (-0.2, 0.666), "tentative": (0.667, 0.799), "reliable": (0.8, 1)}.items():
        assert {judgment(value) for value in values} == {name}


def test_wilson():
    """Newcombe (1998), table I: 15 of 148."""
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == 1


@pytest.mark.parametrize(("undefined", "is_known"), [(400, True), (600, False)])
def test_an_interval_needs_half_of_the_draws(undefined, is_known):
    def statistic(drawn):
        return np.where(np.arange(len(drawn)) < undefined, np.nan, drawn[:, 0])

    assert (bootstrap(np.arange(20.0)[:, None], statistic, samples=1000) is not None) == is_known


def test_intervals_of_too_few_units():
    assert bootstrap(np.array([[1.0, 2.0]]), lambda drawn: drawn[:, 0]) is None
    assert mean_interval(np.array([[1.0, 2.0]])) is None
    assert share_interval(np.array([[3.0, 4.0]])) == wilson(3, 4)
    assert share_interval(np.array([[0.0, 0.0]])) is None


def test_the_share_of_few_people_takes_students_t_for_their_number():
    low, high = share_interval(np.array([[20.0, 100.0], [50.0, 100.0], [80.0, 100.0]]))
    # Residuals of 30 and -30 hits: sqrt(1800 * 3 / 2) / 300; t of 0.975 for 2 degrees of freedom is 4.3027.
    reach = 4.302652729911275 * (1800 * 3 / 2) ** 0.5 / 300
    assert (low, high) == pytest.approx((max(0.5 - reach, 0), min(0.5 + reach, 1)))
    low, high = share_interval(np.array([[45.0, 100.0], [50.0, 100.0], [55.0, 100.0]]))
    reach = 4.302652729911275 * (50 * 3 / 2) ** 0.5 / 300
    assert (low, high) == pytest.approx((0.5 - reach, 0.5 + reach))


def choices_of(chance, images, references):
    """Between three systems, where an image favours one of each pair whatever the reference."""
    logs = {"a": 0.0, "b": 0.5, "c": 1.2}
    found = []
    for image in range(images):
        x, y = chance.sample("abc", 2)
        share = 1 / (1 + np.exp(logs[y] - logs[x] + chance.gauss(0, 2)))
        found += [(image, x, y) if chance.random() < share else (image, y, x) for _ in range(references)]
    return found


def test_intervals_of_strengths_hold_the_truth_where_votes_depend_on_each_other():
    """Ten votes of an image depend on each other; intervals that take them as independent are far too narrow."""
    chance = random.Random(0)
    truth = {one.system: one.strength for one in strengths(choices_of(chance, 20_000, 1))[0]}
    robust = naive = 0
    for _ in range(40):
        choices = choices_of(chance, 60, 10)
        robust += sum(one.interval[0] <= truth[one.system] <= one.interval[1] for one in strengths(choices)[0])
        alone = [(number, x, y) for number, (_, x, y) in enumerate(choices)]
        naive += sum(one.interval[0] <= truth[one.system] <= one.interval[1] for one in strengths(alone)[0])
    assert robust / 120 > 0.9
    assert naive / 120 < 0.8


def test_intervals_of_alpha_hold_the_truth():
    chance = np.random.default_rng(0)

    def draw(images):
        share = 1 / (1 + np.exp(-chance.normal(0, 1.5, images)))
        b = chance.binomial(3, np.repeat(share, 2))
        return np.stack([b, 3 - b], axis=1), np.repeat(np.arange(images), 2)

    truth = Alpha(draw(200_000)[0], [0, 1], "nominal").value
    hits = 0
    for _ in range(40):
        votes, images = draw(50)
        low, high = Alpha(votes, [0, 1], "nominal").interval(images)
        hits += low <= truth <= high
    assert hits / 40 > 0.85


def test_intervals_of_accuracies_hold_the_truth():
    chance = np.random.default_rng(0)
    accuracy = np.array([0.95, 0.85, 0.75, 0.65])
    hits = 0
    for _ in range(6):
        truth = chance.integers(2, size=120)
        labels = np.where(chance.random((4, 120)) < accuracy[:, None], truth, 1 - truth).ravel()
        people, items = np.divmod(np.arange(480), 120)
        found = dawid_skene(items, people, labels)
        intervals = np.array(accuracy_intervals(items, people, labels, np.arange(120), found))
        hits += ((intervals[:, 0] <= accuracy) & (accuracy <= intervals[:, 1])).sum()
    assert hits / 24 > 0.85


def test_somebody_who_is_always_right_has_an_interval():
    items, people = np.divmod(np.arange(60), 3)
    found = dawid_skene(items, people, items % 2)
    for low, high in accuracy_intervals(items, people, items % 2, np.arange(20), found):
        assert low == pytest.approx(wilson(20, 20)[0], abs=1e-6)
        assert high == pytest.approx(1)


def test_separated_systems_say_so():
    """A system that never lost has no upper limit; systems that beat each other keep theirs."""
    alone, beaten = strengths([(0, "a", "b"), (1, "a", "b")])[0]
    assert (alone.note, alone.interval) == ("never lost: the strength has no upper limit", None)
    assert (beaten.strength, beaten.interval) == (0.0, None)
    assert beaten.note.startswith("never won")
    top = [(image, *pair) for image, pair in enumerate([("a", "b"), ("b", "a"), ("a", "b"), ("a", "c"), ("b", "c")])]
    first, second, last = strengths(top)[0]
    assert first.interval[0] < first.strength < first.interval[1]
    assert "against these it has no upper limit" in second.note
    assert last.strength == 0
    opened = strengths([(0, "a", "c"), (1, "b", "c")])[0]
    assert [(one.system, one.strength) for one in opened] == [("a", None), ("b", None), ("c", 0.0)]
    assert opened[0].note.startswith("left open")
