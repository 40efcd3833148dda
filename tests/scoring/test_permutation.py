"""p of the permutation test without permutations, against all swaps counted one by one, and against drawn ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import sacrecap
from sacrecap import _core, example
from sacrecap.scoring import permutation
from sacrecap.scoring.permutation import linear_differences, permutation_p, sign_flip_p

RNG = np.random.default_rng(20)


@pytest.fixture(autouse=True)
def _numbers_of_its_own(monkeypatch):
    """Each test draws the same, whichever ran before."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(20))


def counted(differences):
    """The share of all signs, one by one."""
    sums = [abs(np.dot(signs, differences)) for signs in product((1, -1), repeat=len(differences))]
    return np.mean(np.array(sums) >= abs(sum(differences)) - 1e-9)


@pytest.mark.parametrize("images", range(1, 11))
def test_few_images_are_counted(images):
    for differences in (RNG.normal(0.5, 1, images), RNG.choice([-1.0, 0.0, 1.0, 2.0], images), np.ones(images)):
        assert sign_flip_p(differences) == pytest.approx(counted(differences), abs=1e-12)


def draw(kind, images):
    shift = RNG.uniform(0.1, 1.2)
    return {
        "normal": RNG.normal(shift, 1, images),
        "long tails": RNG.standard_t(3, images) + shift,
        "whole numbers": RNG.choice([-1.0, 0.0, 1.0, 1.0, 2.0], images),
        "one sign but for few": np.append(-RNG.exponential(1, 3), RNG.exponential(1, images - 3)),
    }[kind]


@pytest.mark.parametrize("kind", ["normal", "long tails", "whole numbers", "one sign but for few"])
def test_the_saddle_point_is_near_what_counting_gives(kind, monkeypatch):
    """At 24 to 30 images, and from p = 1 to 1e-8: within a tenth, but for the last few of all the ways to swap."""
    found = []
    for images in range(24, 31):
        for _ in range(4):
            differences = draw(kind, images)
            exact = sign_flip_p(differences)
            with monkeypatch.context() as patch:
                patch.setattr(permutation, "_COUNTED", 0)
                found.append((sign_flip_p(differences) / exact, exact * 2.0 ** np.count_nonzero(differences)))
    ratios = np.array([ratio for ratio, ways in found if ways > 2000])
    assert len(ratios) > 10
    assert ratios.min() > 0.85
    assert ratios.max() < 1.15


def test_of_many_images_against_permutations():
    for shift in (0.0, 0.03, 0.06, 0.09):
        differences = RNG.normal(shift, 1, 1000)
        zeros = np.zeros(1000)
        one, other = (
            _core.Statistics.of_rows("mean", np.column_stack((part, np.ones(1000))), 2) for part in (differences, zeros)
        )
        (drawn,) = _core.paired_permutation([[one], [other]], 20_000, 1)
        noise = 4 * np.sqrt(drawn / 20_000)
        assert permutation_p(one, other) == pytest.approx(drawn, rel=0.05, abs=noise)


def swapped(one, other, heads):
    """Statistics of two systems after the captions of some images changed hands."""
    rows = [np.frombuffer(own.values()).reshape(own.rows, own.width) for own in (one, other)]
    mixed = np.where(heads[:, None], *rows), np.where(heads[:, None], *rows[::-1])
    restore, (name, _, width, kind, made_of) = one.__reduce__()
    return [restore(name, values.tobytes(), width, kind, made_of) for values in mixed]


@pytest.fixture(scope="module")
def scored():
    """Two systems of the example by BLEU-2 and METEOR, which are no means of images' scores."""
    results = (
        sacrecap.score(example.references(), example.systems()[name], "bleu-2, meteor", interval=None)
        for name in ("careful", "plain")
    )
    one, other = results
    return {key: (one[key].statistics, other[key].statistics) for key in one}


@pytest.mark.parametrize("metric", ["bleu-2", "meteor"])
def test_corpus_metrics_against_permutations(scored, metric):
    """To the first order: the p is near that of the drawn swaps, where the systems differ somewhat."""
    one, other = scored[metric]
    pair = swapped(one, other, RNG.random(one.rows) < 0.65)
    (drawn,) = _core.paired_permutation([[pair[0]], [pair[1]]], 20_000, 1)
    noise = 4 * np.sqrt(drawn / 20_000)
    assert permutation_p(*pair) == pytest.approx(drawn, rel=0.25, abs=noise)


@pytest.mark.soak
@pytest.mark.parametrize("metric", ["bleu-2", "meteor"])
def test_the_level_is_kept_by_corpus_metrics(scored, metric, record_property):
    """After random swaps neither system is better: as many p below a tenth as there may be."""
    one, other = scored[metric]
    p = [permutation_p(*swapped(one, other, RNG.random(one.rows) < 0.5)) for _ in range(300)]
    record_property("p below 0.1", round(float(np.mean(np.array(p) <= 0.1)), 4))
    assert abs(np.mean(np.array(p) <= 0.1) - 0.1) < 3 * np.sqrt(0.1 * 0.9 / 300)


def test_the_linear_differences_of_a_mean_are_the_differences():
    one, other = (
        sacrecap.score(example.references(), example.systems()[name], "rouge-l", interval=None)["rouge-l"]
        for name in ("careful", "template")
    )
    between = linear_differences(one.statistics, other.statistics) * len(one.per_image)
    assert between == pytest.approx(np.array(one.per_image) - np.array(other.per_image), abs=1e-6)
    assert between.mean() == pytest.approx(one.value - other.value, abs=1e-6)


def test_p_goes_far_below_what_permutations_resolve():
    """A board of hundreds of systems needs p below 1e-4, where 10,000 permutations end."""
    one, other = (
        sacrecap.score(example.references(), example.systems()[name], "cider-d", interval=None)["cider-d"].statistics
        for name in ("careful", "template")
    )
    assert 2.0**-59 <= permutation_p(one, other) < 1e-12
    assert permutation_p(one, other) == permutation_p(other, one)
    assert permutation_p(one, one) == 1.0


def test_scores_that_are_none_are_no_evidence():
    assert sign_flip_p(np.array([np.nan, 1.0])) == 1.0
    assert sign_flip_p(np.zeros(5)) == 1.0
    assert sign_flip_p(np.array([])) == 1.0
