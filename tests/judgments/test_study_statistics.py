"""Correlations, accuracy, their bootstrap, the ceilings and the paired tests."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from judged import pairs, ratings

from reference import agreement as slow
from sacrecap import _core
from sacrecap.errors import UsageError
from sacrecap.judgments.agreement_statistics import (
    accuracy,
    categories,
    correlate,
    counts,
    credit,
    over_systems,
    plain,
    systems_by_metric,
    systems_by_people,
)
from sacrecap.judgments.bootstrap import Estimate, image_numbers, p_value, ratio, williams
from sacrecap.judgments.measure import people, split_votes
from sacrecap.scoring.intervals import Resampling, widened

NONE = Resampling(None)
Record = Callable[[str, object], None]


def numbers(count: int) -> np.ndarray:
    return np.arange(count, dtype="<u4")


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4)), min_size=2, max_size=30))
def test_correlations_are_those_of_all_pairs(points: list[tuple[int, int]]) -> None:
    scores, rated = [a / 7 for a, _ in points], [float(b) for _, b in points]
    found, wanted = plain(scores, rated), slow.correlations(scores, rated)
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, abs=1e-12, nan_ok=True), name


def test_correlations_are_scipys() -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=500).round(1), random.integers(1, 5, 500).astype(float)
    found = plain(x, y)
    assert found["kendall_b"] == pytest.approx(scipy.stats.kendalltau(x, y).statistic, abs=1e-12)
    assert found["kendall_c"] == pytest.approx(scipy.stats.kendalltau(x, y, variant="c").statistic, abs=1e-12)
    assert found["spearman"] == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found["pearson"] == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-12)


def repeated(values: Sequence[float], images: np.ndarray, times: np.ndarray) -> list[float]:
    return [value for value, image in zip(values, images, strict=True) for _ in range(times[image])]


@pytest.mark.parametrize("scale", [5e-324 * 2**40, 1e-170, 1e-155, 1.0, 1e155, 1e170, 2e307])
def test_pearson_is_scipys_at_any_scale(scale: float) -> None:
    x, y = [scale, 2 * scale, 4 * scale], [1.0, 3.0, 2.0]
    wanted = scipy.stats.pearsonr([1, 2, 4], y).statistic
    assert plain(x, y)["pearson"] == pytest.approx(wanted, abs=1e-12)
    assert plain(y, x)["pearson"] == pytest.approx(wanted, abs=1e-12)
    if 1e-170 <= scale <= 1e155:
        assert plain(x, y)["pearson"] == pytest.approx(scipy.stats.pearsonr(x, y).statistic, abs=1e-12)


def test_a_bootstrap_sample_is_the_drawn_images_repeated() -> None:
    random = np.random.default_rng(1)
    scores, images = random.normal(size=12).round(1), np.repeat(numbers(4), 3)
    rated = [tuple(random.integers(1, 5, 2).astype(float)) for _ in range(12)]
    found = correlate(scores, rated, images, Resampling(0.95, samples=20, seed=3))
    drawn = np.frombuffer(_core.draws(4, 20, 3), dtype="<u2").reshape(20, 4)
    assert (drawn.sum(axis=1) == 4).all()
    for sample, times in enumerate(drawn):
        x = repeated(np.repeat(scores, 2), np.repeat(images, 2), times)
        y = repeated(np.concatenate(rated), np.repeat(images, 2), times)
        for name, value in slow.correlations(x, y).items():
            assert found[name].samples[sample] == pytest.approx(value, abs=1e-9, nan_ok=True), name


def test_within_images_it_is_the_mean_of_the_images_that_have_a_rank_order() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.5, 0.4, 0.7, 0.7])
    rated = [(1.0,), (2.0, 3.0), (4.0,), (1.0,), (2.0,), (3.0,), (1.0,)]
    images = np.array([0, 0, 0, 1, 1, 2, 2], dtype="<u4")
    # Image 0 agrees (τ = 1), image 1 disagrees (−1), image 2 ties on both captions and is left out.
    assert correlate(scores, rated, images, NONE)["in_image.kendall_b"].value == 0


def test_results_do_not_depend_on_threads() -> None:
    random = np.random.default_rng(2)
    scores, rated = random.normal(size=60), [(float(value),) for value in random.integers(1, 5, 60)]
    one, three = (correlate(scores, rated, numbers(60), Resampling(0.95, samples=50), threads) for threads in (1, 3))
    assert all(np.array_equal(one[name].samples, three[name].samples, equal_nan=True) for name in one)


def test_points_must_fit_together() -> None:
    two, three = np.zeros(2).tobytes(), np.zeros(3).tobytes()
    with pytest.raises(UsageError, match="as many finite scores"):
        _core.correlations(two, three, numbers(2).tobytes(), 0, 0)
    with pytest.raises(UsageError, match="as many finite scores"):
        _core.correlations_by_image(np.array([1.0, math.inf]).tobytes(), two, numbers(2).tobytes())


# Forced choice


def test_accuracy_by_category_and_ties() -> None:
    judged = pairs([1, -1, 1, 1, 0, -1])
    difference = np.array([0.5, -0.5, 0.0, -0.1, 0.9, 0.2])
    wrong = accuracy(credit(difference, judged.preferred, "wrong"), judged, NONE)
    half = accuracy(credit(difference, judged.preferred, "half"), judged, NONE)
    # Even pairs are HM, of which number 4 is undecided.
    assert {name: one.value for name, one in wrong.items()} == {"HC": 1 / 3, "HM": 1 / 2, "all": 2 / 5}
    assert {name: one.value for name, one in half.items()} == {"HC": 1 / 3, "HM": 3 / 4, "all": 1 / 2}
    assert counts(judged, difference == 0) == {"HC": 0, "HM": 1, "all": 1}
    assert counts(judged) == {"HC": 3, "HM": 2, "all": 5}
    with pytest.raises(UsageError, match="ties must be one of wrong, half, got 'lost'"):
        credit(difference, judged.preferred, "lost")


def test_categories_keep_their_order_and_may_be_missing() -> None:
    assert categories(pairs([1, 1, 1], categories=["MM", "other", "HC"])) == ["HC", "MM", "other", "all"]
    assert categories(pairs([1], categories=[""])) == ["all"]


def test_a_ratio_of_a_bootstrap_sample_is_that_of_the_drawn_images() -> None:
    random = np.random.default_rng(4)
    right, images = (random.random((12, 1)) < 0.6).astype(float), np.repeat(numbers(4), 3)
    counted = np.ones_like(right)
    counted[::5] = 0  # in no category
    [found] = ratio(right * counted, counted, images, Resampling(0.9, samples=30, seed=3))
    drawn = np.frombuffer(_core.draws(4, 30, 3), dtype="<u2").reshape(30, 4)
    wanted = [
        sum(repeated((right * counted).ravel().tolist(), images, times)) / sum(repeated(counted.ravel(), images, times))
        for times in drawn
    ]
    assert found.samples.tolist() == pytest.approx(wanted)
    wide = widened(0.9, 4)
    assert found.interval(0.9) == pytest.approx(tuple(np.quantile(wanted, [(1 - wide) / 2, (1 + wide) / 2])))


@pytest.mark.soak
def test_intervals_of_accuracy_cover(record_property: Record) -> None:
    """Images of two pairs that go together: 95% intervals hold the true share in 95 ± 2.5% of 600 simulations."""
    random = np.random.default_rng(4)
    inside = 0
    for seed in range(600):
        right = np.repeat(random.random(150) < 0.7, 2).astype(float)[:, None]
        [found] = ratio(
            right, np.ones_like(right), np.repeat(numbers(150), 2), Resampling(0.95, samples=300, seed=seed)
        )
        low, high = found.interval(0.95) or (1, 0)
        inside += low <= 0.7 <= high
    record_property("covered", round(inside / 600, 4))
    assert abs(inside / 600 - 0.95) < 0.025


# People against people


def test_votes_that_decide_are_split() -> None:
    unanimous = pairs([1, -1, 1, -1], votes=[[1] * 8, [-1] * 8, [1] * 8, [-1] * 8])
    how, found = people(unanimous, "wrong", NONE) or ("", {})
    assert how.startswith("half of the votes")
    assert {name: one.value for name, one in found.items()} == {"HC": 1, "HM": 1, "all": 1}


def test_split_votes_agree_as_often_as_chance_says() -> None:
    """Votes of 3 to 1: two against two. The judging half is undecided half of the time, and else sees two for B; then
    the others are one against one, a tie."""
    divided = pairs([1] * 40, votes=[[1, 1, 1, -1]] * 40)
    for ties, wanted in (("wrong", 0.0), ("half", 0.5)):
        _, found = people(divided, ties, NONE) or ("", {})
        assert found["all"].value == wanted


def test_the_odd_vote_is_left_out() -> None:
    """Halves are of one size: of three votes one judges and one predicts, and a tie is impossible."""
    divided = pairs([1] * 40, votes=[[1, 1, -1]] * 40)
    by_ties = [(people(divided, ties, NONE) or ("", {}))[1]["all"].value for ties in ("wrong", "half")]
    assert by_ties[0] == by_ties[1]
    assert by_ties[0] == pytest.approx(1 / 3, abs=0.02)  # both of the two that are alike
    unanimous = [[1] * votes for votes in (2, 3, 4, 5)]
    sums = split_votes(unanimous, np.random.default_rng(0))
    assert sums.tolist() == [[1, 1, 2, 2], [1, 1, 2, 2]]


def test_votes_of_others_predict() -> None:
    judged = pairs([1, -1, 1, 1], direct=[[1, 1, -1], [1, 1, 1], [1, -1], []])
    how, found = people(judged, "half", NONE) or ("", {})
    assert how == "the majority of direct votes predicts the consensus"
    assert found["all"].value == 0.5  # right, wrong, tied, nobody asked


def test_each_rater_predicts_the_others() -> None:
    _, found = people(ratings([(1, 1), (2, 2), (3, 3)]), "wrong", NONE) or ("", {})
    assert found["spearman"].value == 1
    _, found = people(ratings([(1, 3, 2), (2, 2, 2), (3, 1, 2)]), "wrong", NONE) or ("", {})
    by_hand = [
        slow.correlations([1, 1, 2, 2, 3, 3], [3, 2, 2, 2, 1, 2]),
        slow.correlations([3, 3, 2, 2, 1, 1], [1, 2, 2, 2, 3, 2]),
    ]
    assert math.isnan(found["pearson"].value)  # the third rater says 2 of everything
    said = [(1, 2, 4), (2, 1, 3), (3, 4, 0), (4, 3, 1)]
    for raters, merge in (("mean", statistics.fmean), ("median", statistics.median)):
        how, found = people(ratings(said), "wrong", NONE, raters=raters) or ("", {})
        assert how == f"each rater predicts the {raters} of the others"
        one_by_one = [
            slow.correlations([own[rater] for own in said], [merge(own[:rater] + own[rater + 1 :]) for own in said])
            for rater in range(3)
        ]
        assert found["spearman"].value == pytest.approx(statistics.fmean(one["spearman"] for one in one_by_one))
    assert all(one["pearson"] < 0 for one in by_hand)


def test_one_vote_predicts_the_others() -> None:
    judged = ratings([(1.0,), (0.0,), (1.0,), (0.0,)], votes=[(3, 0), (0, 3), (4, 0), (0, 1)])
    how, found = people(judged, "wrong", NONE) or ("", {})
    assert how.startswith("one vote predicts the others")
    assert found["kendall_b"].value == 1


def test_single_opinions_have_no_ceiling() -> None:
    assert people(ratings([(1,), (2,)]), "wrong", NONE) is None
    assert people(pairs([1, -1]), "wrong", NONE) is None
    assert people(pairs([1], votes=[[1]]), "wrong", NONE) is None


# Systems


def test_shares_of_wins() -> None:
    judged = pairs([1, -1, 1, 0], b_system=["x", "x", "y", "x"], c_system=["y", "z", "z", "y"])
    assert systems_by_people(judged) == {"x": 1 / 2, "y": 1 / 2, "z": 1 / 2}
    scores = {"b": np.array([1.0, 1, 0, 0]), "c": np.array([0.0, 0, 0, 1])}
    assert systems_by_metric(judged, scores) == {"x": 1.0, "y": 0.25, "z": 0.25}
    assert systems_by_people(pairs([1], b_system=["x"], c_system=["y"])) is None
    assert systems_by_people(pairs([1])) is None


def test_systems_are_compared_among_themselves_and_people_apart() -> None:
    """A pair with people counts for people, and for no system."""
    judged = pairs(
        [1, 1, -1, -1, 1],
        b_system=["x", "x", "y", "x", "human"],
        c_system=["y", "z", "z", "human", "human, other image"],
    )
    found = systems_by_people(judged)
    assert found == {"x": 1.0, "y": 0.0, "z": 0.5, "human": 1.0, "human, other image": 0.0}
    assert list(found)[-2:] == ["human", "human, other image"]
    by_metric = {"x": 0.9, "y": 0.1, "z": 0.5, "human": 0.0, "human, other image": 1.0}
    assert over_systems(found, by_metric)["pearson"] == pytest.approx(1)
    assert math.isnan(over_systems({"x": 1, "y": 0, "human": 1}, by_metric)["pearson"])


def test_mean_ratings_of_systems() -> None:
    judged = ratings([(1, 3), (2,), (5,), (4,)], system=["x", "y", "z", "x"])
    assert systems_by_people(judged) == {"x": 3, "y": 2, "z": 5}
    by_metric = systems_by_metric(judged, {"caption": np.array([1.0, 0, 3, 3])})
    assert by_metric == {"x": 2, "y": 0, "z": 3}
    assert over_systems({"x": 3, "y": 2, "z": 5}, by_metric)["kendall_b"] == 1


# Paired tests


def test_williams_is_steigers_formula() -> None:
    found = williams(0.4, 0.3, 0.6, 103)
    determinant = np.linalg.det(np.array([[1, 0.4, 0.3], [0.4, 1, 0.6], [0.3, 0.6, 1]]))
    t = 0.1 * math.sqrt(102 * 1.6 / (2 * 102 / 100 * determinant + 0.35**2 * 0.4**3))
    assert found is not None
    assert found.t == pytest.approx(t)
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(t, 100))
    assert found.n == 103


@pytest.mark.parametrize("numbers", [(0.3, 0.3, 1.0, 50), (0.3, 0.2, 0.5, 3), (math.nan, 0.2, 0.5, 50)])
def test_williams_is_undefined_for_the_same_metric_or_few_judgments(numbers: tuple[float, float, float, int]) -> None:
    assert williams(*numbers) is None


@pytest.mark.soak
def test_williams_rejects_at_the_nominal_rate(record_property: Record) -> None:
    """Two metrics that go equally with people: p < 0.05 in 5 ± 1% of 2,000 simulations."""
    random = np.random.default_rng(5)
    covariance = np.array([[1, 0.5, 0.5], [0.5, 1, 0.7], [0.5, 0.7, 1]])
    rejected = 0
    for judged in random.multivariate_normal(np.zeros(3), covariance, (2000, 80)):
        r = np.corrcoef(judged.T)
        found = williams(r[0, 1], r[0, 2], r[1, 2], 80)
        rejected += found is not None and found.p < 0.05
    record_property("rejected at 0.05", rejected / 2000)
    assert abs(rejected / 2000 - 0.05) < 0.01


@pytest.mark.soak
def test_the_paired_bootstrap_rejects_at_the_nominal_rate(record_property: Record) -> None:
    """Two metrics that are right equally often: p < 0.05 in 5 ± 1% of 2,000 simulations."""
    random = np.random.default_rng(6)
    images, samples = 150, 199  # of 200 values of p, 10 are at most 0.05
    rejected = 0
    for seed in range(2000):
        both, *alone = random.random((3, images)) < np.array([[0.6], [0.4], [0.4]])
        right = np.stack([both | own for own in alone], axis=1).astype(float)
        a, b = ratio(right, np.ones_like(right), numbers(images), Resampling(0.95, samples=samples, seed=seed))
        rejected += (p_value(a - b) or 1) <= 0.05
    record_property("rejected at 0.05", rejected / 2000)
    assert abs(rejected / 2000 - 0.05) < 0.01


def test_p_of_what_is_always_above_and_of_what_is_never_different() -> None:
    assert p_value(Estimate(1.0, np.ones(999), 9)) == 2 / 1000
    assert p_value(Estimate(0.0, np.zeros(999), 9)) == 1
    # Twice the share on the far side of 0, the data counted as one of the samples: 2 (2 + 1) / (199 + 1).
    assert p_value(Estimate(0.1, np.array([-0.1, 0.0, *[0.1] * 197]), 9)) == 6 / 200
    assert p_value(Estimate(-0.1, np.array([0.1, 0.0, *[-0.1] * 197]), 9)) == 6 / 200
    assert p_value(Estimate(0.0, np.full(9, math.nan), 9)) is None
    assert Estimate(0.0, np.full(9, math.nan), 9).interval(0.95) is None


def test_images_are_numbered_as_they_come() -> None:
    assert image_numbers(["b", "a", "b"]).tolist() == [0, 1, 0]
