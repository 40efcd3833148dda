"""Dawid–Skene against crowd-kit 1.4.2, whose results are recorded here; Bradley–Terry against its equations."""

import math
from itertools import pairwise

import numpy as np
import pytest

from sacrecap.errors import SacrecapWarning
from sacrecap_studies.estimation import bradley_terry, dawid_skene

# (item, person, label), and crowd-kit's DawidSkene(n_iter=20000, tol=1e-14): the probabilities of label 1.
ANSWERS = """
0011 0021 0031 0040 0101 0110 0140 0201 0210 0221 0240 0311 0321 0331 0340 0400 0410 0420 0430 0440 0501 0511
0521 0531 0540 0600 0610 0620 0630 0641 0701 0711 0721 0811 0831 0840 0901 0911 0920 0940 1011 1020 1040 1100
1110 1130 1140 1200 1221 1230 1240 1300 1310 1320 1330 1340 1401 1410 1421 1430 1440 1500 1511 1521 1531 1540
1601 1611 1631 1640 1700 1710 1720 1731 1741 1811 1821 1831 1901 1911 1921 1931 1941 2010 2020 2030 2100 2110
2120 2131 2200 2210 2220 2231 2241 2300 2310 2331 2340 2400 2410 2420 2430 2500 2520 2540 2601 2611 2640 2701
2711 2721 2731 2740 2800 2811 2820 2830 2900 2921 2931 2941
"""
PROBABLE = """
0.989102 0.403737 0.722298 0.989102 0.0 0.998201 0.0 0.993408 0.959394 0.903395 0.604624 0.0 0.0 0.0 0.0
0.942019 0.993126 0.003426 0.986325 0.994274 0.0 0.008657 0.003426 0.054831 0.0 0.035864 0.980146 0.998201 0.0
0.408522
"""


def test_dawid_skene_finds_what_crowd_kit_finds():
    items, people, labels = np.array([(int(a[:2]), int(a[2]), int(a[3])) for a in ANSWERS.split()]).T
    found = dawid_skene(items, people, labels)
    assert found.posterior[:, 1] == pytest.approx([float(one) for one in PROBABLE.split()], abs=1e-5)


def test_dawid_skene_weighs_people_by_how_right_they_are():
    """Two people agree with each other on everything, three guess: the two decide."""
    chance = np.random.default_rng(0)
    truth = chance.integers(2, size=200)
    answers = np.stack([truth, truth, *chance.integers(2, size=(3, 200))])
    people, items = np.divmod(np.arange(1000), 200)
    found = dawid_skene(items, people, answers.ravel())
    assert (found.posterior.argmax(axis=1) == truth).mean() > 0.98
    assert found.accuracy[:2].min() > 0.95
    assert found.accuracy[2:].max() < 0.65


def creeping(items: np.ndarray, people: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Plain expectation–maximisation of two labels until nothing moves: the slow reference."""
    votes = np.zeros((items.max() + 1, 2))
    np.add.at(votes, (items, labels), 1.0)
    posterior = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(50_000):
        confusion = np.zeros((people.max() + 1, 2, 2))
        np.add.at(confusion, (people, slice(None), labels), posterior[items])
        confusion = np.maximum(confusion / confusion.sum(axis=2, keepdims=True), 1e-10)
        logs = np.tile(np.log(posterior.mean(axis=0)), (len(posterior), 1))
        np.add.at(logs, items, np.log(confusion[people, :, labels]))
        new = np.exp(logs - logs.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        moved, posterior = np.abs(new - posterior).max(), new
        if moved < 1e-11:
            break
    return posterior


def test_dawid_skene_reaches_the_limit_of_flat_likelihoods():
    """Three people, 40 items, answers a little better than a coin: a thousand rounds are not enough."""
    chance = np.random.default_rng(3)
    truth = chance.integers(2, size=40)
    labels = np.where(chance.random((3, 40)) < 0.65, truth, 1 - truth).ravel()
    people, items = np.divmod(np.arange(120), 40)
    assert dawid_skene(items, people, labels).posterior == pytest.approx(creeping(items, people, labels), abs=1e-4)


def test_dawid_skene_warns_where_it_has_not_converged(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sacrecap_studies.estimation._ROUNDS", 1)
    items, people, labels = np.array([(int(a[:2]), int(a[2]), int(a[3])) for a in ANSWERS.split()]).T
    with pytest.warns(SacrecapWarning, match="Dawid–Skene has not converged after 3 rounds"):
        dawid_skene(items, people, labels)


def test_bradley_terry_is_the_maximum_of_the_likelihood():
    """There, every name is chosen as often as its strength expects. (crowd-kit 1.4.2 stops after two rounds.)"""
    wins = {("a", "b"): 7, ("b", "a"): 3, ("a", "c"): 6, ("c", "a"): 2, ("b", "c"): 5, ("c", "b"): 4}
    [strength] = bradley_terry(wins)
    assert sum(strength.values()) == pytest.approx(1)
    for name in strength:
        won = sum(count for pair, count in wins.items() if pair[0] == name)
        expected = sum(
            count * strength[name] / (strength[pair[0]] + strength[pair[1]])
            for pair, count in wins.items()
            if name in pair
        )
        assert won == pytest.approx(expected, abs=1e-9)


def test_bradley_terry_finds_small_strengths_as_well():
    """A chain, whose strengths are 1000 : 1 from link to link."""
    names = "abcde"
    wins = dict.fromkeys(pairwise(names), 1000) | {(b, a): 1 for a, b in pairwise(names)}
    [strength] = bradley_terry(wins)
    for a, b in pairwise(names):
        assert strength[a] / strength[b] == pytest.approx(1000, rel=1e-6)


def test_bradley_terry_keeps_apart_what_was_never_compared():
    wins = {("a", "b"): 3, ("b", "a"): 1, ("c", "d"): 1, ("d", "c"): 1, ("d", "e"): 2, ("e", "d"): 2}
    larger, smaller = bradley_terry(wins)
    assert larger == pytest.approx({"c": 1 / 3, "d": 1 / 3, "e": 1 / 3})
    assert smaller == pytest.approx({"a": 0.75, "b": 0.25})


def test_bradley_terry_of_one_sided_choices():
    """Losers get nothing, and the rest is as without them; what only common losers join is not comparable."""
    wins = {("a", "b"): 3, ("b", "a"): 1, ("a", "c"): 2, ("b", "d"): 5, ("c", "d"): 1}
    [strength] = bradley_terry(wins)
    assert strength == pytest.approx({"a": 0.75, "b": 0.25, "c": 0, "d": 0})
    [strength] = bradley_terry({("a", "c"): 3, ("b", "c"): 5})
    assert strength == pytest.approx({"a": math.nan, "b": math.nan, "c": 0}, nan_ok=True)


def test_bradley_terry_of_little():
    assert bradley_terry({}) == []
    assert bradley_terry({("a", "a"): 3}) == [{"a": 1.0}]
    assert bradley_terry({("a", "b"): 3}) == [{"a": 1.0, "b": 0.0}]
