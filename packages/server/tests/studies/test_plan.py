"""Planned widths, against studies that are drawn many times, and against exports."""

import json

import numpy as np
import pytest
from scipy.stats import kendalltau

from sacrecap.errors import DataError
from sacrecap_studies import sample_size
from sacrecap_studies.sample_size import Pilot, Spread

Z = 1.959964


@pytest.mark.parametrize(("items", "judgments"), [(40, 1), (40, 3), (150, 5)])
def test_the_width_of_a_mean_is_that_of_drawn_studies(items, judgments):
    chance = np.random.default_rng(1)
    true = chance.normal(0.5, 0.2, (4000, items))
    means = (true[..., None] + chance.normal(0, 0.3, (4000, items, judgments))).mean(axis=(1, 2))
    assert sample_size.mean(Spread(0.2, 0.3)).width(items, judgments) == pytest.approx(2 * Z * means.std(), rel=0.04)


@pytest.mark.parametrize(("items", "judgments"), [(100, 1), (100, 5), (200, 4)])
def test_the_accuracy_that_people_let_a_study_find(items, judgments):
    chance = np.random.default_rng(2)
    metric = chance.random((3000, items)) < 0.8
    votes = (chance.random((3000, items, judgments)) < 0.7).sum(axis=2) * 2 - judgments
    people = np.where(votes == 0, chance.random(votes.shape) < 0.5, votes > 0)
    found = (metric == people).mean(axis=1)
    target = sample_size.accuracy(0.8, 0.7)
    assert target.expected(judgments) == pytest.approx(found.mean(), abs=0.005)
    assert target.width(items, judgments) == pytest.approx(2 * Z * found.std(), rel=0.05)


@pytest.mark.parametrize(("items", "judgments"), [(60, 1), (60, 5), (150, 3)])
def test_tau_and_its_width_are_those_of_drawn_studies(items, judgments):
    chance = np.random.default_rng(3)
    r = np.sin(np.pi * 0.4 / 2)
    found = []
    for _ in range(500):
        true = chance.normal(size=items)
        metric = r * true + np.sqrt(1 - r**2) * chance.normal(size=items)
        rating = true + chance.normal(size=(judgments, items)).mean(axis=0)
        found.append(kendalltau(metric, rating).statistic)
    target = sample_size.tau(0.4, Spread(1, 1))
    assert target.expected(judgments) == pytest.approx(np.mean(found), abs=0.01)
    assert target.width(items, judgments) == pytest.approx(2 * Z * np.std(found), rel=0.1)


def test_the_fewest_items_are_found():
    target = sample_size.mean(Spread(0.2, 0.3))
    need = target.need(0.05, 3, 20)
    assert target.width(need.items, 3) <= 0.05 < target.width(need.items - 1, 3)
    assert (need.answers, need.people) == (3 * need.items, -(-3 * need.items // 20))
    with pytest.raises(DataError, match="more than 10,000,000 items; accept a wider one"):
        target.need(1e-6, 1, 20)


def ratings(items=400, people=4, seed=0):
    chance = np.random.default_rng(seed)
    lines = []
    for image in range(items):
        shared = chance.normal(0, 0.3)
        own = chance.normal(0, 0.1, people)
        for system, level in (("a", 0.5), ("b", 0.6)):
            true = level + shared + chance.normal(0, 0.2)
            values = [float(true + one + chance.normal(0, 0.25)) for one in own]
            lines.append({"image_id": image, "system": system, "rating": values, "people": list(range(people))})
    return lines


def pilot(lines):
    return Pilot.read("\n".join(map(json.dumps, lines)).encode(), "pilot.jsonl")


@pytest.mark.parametrize("people", [2, 4])
def test_a_pilot_of_ratings_gives_back_what_it_was_drawn_with(people):
    read = pilot(ratings(people=people))
    assert read.ratings().between == pytest.approx(np.hypot(0.3, 0.2), rel=0.07)
    assert read.ratings().within == pytest.approx(np.hypot(0.1, 0.25), rel=0.05)
    assert read.differences().between == pytest.approx(0.2 * 2**0.5, rel=0.1)
    assert read.differences().within == pytest.approx(0.25 * 2**0.5, rel=0.05)


def test_of_several_aspects_the_first_counts():
    lines = ratings(items=30)
    aspects = [{**line, "rating": {"adequacy": line["rating"], "fluency": [1.0] * 4}} for line in lines]
    assert pilot(aspects).ratings() == pilot(lines).ratings()
    assert pilot(aspects).differences() == pilot(lines).differences()


def test_who_finds_both_equal_finds_no_difference():
    """Of every pair, one person chooses the first system, one the second, and two find them equal."""
    said = {"b": [1], "c": [2], "tie": [3, 4], "unsure": [5]}
    lines = [{"b_system": "x", "c_system": "y", "said": [said], "people": [[1, 1]]} for _ in range(5)]
    spread = pilot(lines).differences()
    assert (spread.between, spread.within) == (0, pytest.approx((2 / 3) ** 0.5))


def test_a_pilot_of_choices_gives_back_how_often_people_are_right():
    chance = np.random.default_rng(4)
    lines = []
    for number in range(2000):
        b = chance.random(3) < (0.8 if number % 2 else 0.2)
        said = {"b": [int(n) for n in np.flatnonzero(b)], "c": [int(n) for n in np.flatnonzero(~b)]}
        systems = ("x", "y") if number % 3 else ("y", "x")
        line = {"b_system": systems[0], "c_system": systems[1], "said": [said]}
        lines.append({**line, "people": [[len(said["b"]), len(said["c"])]]})
    assert pilot(lines).agree() == pytest.approx(0.8, abs=0.02)
    spread = pilot(lines).differences()
    assert spread.between == pytest.approx(0.6, rel=0.05)
    assert spread.within == pytest.approx(0.8, rel=0.05)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no judgments"),
        (b"{", "not JSON lines"),
        (b"[]", "no judgments"),
        (b'{"image_id": 1}', "no ratings by person"),
        (b'{"image_id": 1, "rating": [1], "people": [1, 2]}', "no ratings by person"),
        (b'{"image_id": 1, "system": "a", "rating": [1], "people": [1]}', "two items are needed"),
    ],
)
def test_what_is_no_pilot_is_refused(data, message):
    with pytest.raises(DataError, match=message):
        Pilot.read(data, "x.jsonl").ratings()
