"""Bootstrap intervals over images."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from corpora import Pairs, pairs
from reference.resample import draws
from sacrecap import _core, example
from sacrecap.errors import UsageError

WORDS = ("a", "b", "c", "d")


def shares(random: np.random.Generator, images: int) -> Pairs:
    """Captions that hold 0 to 4 of their reference's four words: ROUGE-1 is uniform over 0, ¼ … 1, of mean ½."""
    candidates = (" ".join(WORDS[: random.integers(0, 5)]) for _ in range(images))
    return Pairs(tuple(candidates), ((" ".join(WORDS),),) * images)


def statistics(corpus: Pairs, *metrics: str) -> list[_core.Statistics]:
    return [score.statistics for score in corpus.score(metrics).values()]


def slow_interval(values: np.ndarray, samples: int, level: float, seed: int) -> tuple[float, float]:
    """Of a metric that is a mean: means of rows drawn with replacement, a stream of draws a sample."""
    means = [values[drawn].mean() for drawn in draws(len(values), samples, seed)]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@given(
    corpus=pairs(),
    samples=st.integers(1, 40),
    level=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**64 - 1),
    threads=st.integers(1, 5),
)
def test_intervals_equal_the_slow_bootstrap(corpus: Pairs, samples: int, level: float, seed: int, threads: int) -> None:
    """The draws are part of the contract: a seed gives the same interval on every machine and in every release."""
    score = corpus.score("rouge-1")["rouge-1"]
    [interval] = _core.bootstrap_intervals([score.statistics], samples, level, seed, threads)
    assert interval == pytest.approx(slow_interval(score.per_image, samples, level, seed), rel=1e-12, abs=1e-15)


def test_the_formula_is_applied_to_the_drawn_sums() -> None:
    """BLEU pools: its interval is not that of a mean of per-image scores."""
    [rows] = statistics(shares(np.random.default_rng(1), 30), "bleu-1")
    table = np.frombuffer(rows.values()).reshape(rows.rows, rows.width)
    pooled = []
    for drawn in draws(30, 200, 5):
        length, matches = table[drawn][:, [0, 4]].sum(axis=0)
        pooled.append(matches / length * math.exp(1 - 120 / length))
    low, high = np.quantile(pooled, [0.05, 0.95])
    [interval] = _core.bootstrap_intervals([rows], 200, 0.9, 5)
    assert interval == pytest.approx((low, high), rel=1e-8)


def example_intervals(**options: int) -> dict[str, tuple[float, float] | None]:
    result = sacrecap.score(example.references(), example.systems()["plain"], samples=200, **options)
    return {key: score.interval for key, score in result.items()}


def test_a_seed_gives_the_same_interval_for_any_number_of_threads() -> None:
    seeded = example_intervals(seed=3)
    assert seeded == example_intervals(seed=3, threads=1) == example_intervals(seed=3, threads=7)
    assert seeded != example_intervals(seed=4)
    assert example_intervals() == example_intervals(seed=0)


def test_metrics_scored_together_have_the_intervals_of_each_alone() -> None:
    [bleu, rouge] = statistics(shares(np.random.default_rng(2), 50), "bleu-2", "rouge-l")
    together = _core.bootstrap_intervals([bleu, rouge], 100, 0.95, 1)
    assert together == [_core.bootstrap_intervals([one], 100, 0.95, 1)[0] for one in (bleu, rouge)]


def test_intervals_contain_the_score_and_widen_with_the_level() -> None:
    result = sacrecap.score(example.references(), example.systems()["careful"], interval=0.99)
    narrow = sacrecap.score(example.references(), example.systems()["careful"], interval=0.5)
    for key, score in result.items():
        assert score.interval is not None
        low, high = score.interval
        assert low < score.value < high
        inner = narrow[key].interval
        assert inner is not None
        assert low < inner[0] < inner[1] < high


def test_intervals_shrink_with_the_square_root_of_the_number_of_images() -> None:
    random = np.random.default_rng(3)
    widths = []
    for images in (100, 400, 1600):
        [(low, high)] = _core.bootstrap_intervals(statistics(shares(random, images), "rouge-1"), 1000, 0.95, 0)
        widths.append((high - low) * math.sqrt(images))
    # σ of the uniform distribution over five values is √⅛; 95 % of a normal distribution are within ±1.96 σ.
    assert widths == pytest.approx([2 * 1.96 * math.sqrt(1 / 8)] * 3, rel=0.15)


@pytest.mark.soak
def test_intervals_cover_the_true_mean_as_often_as_they_say(record_property: Callable[[str, object], None]) -> None:
    random = np.random.default_rng(4)
    simulations = 600
    covered = 0
    for simulation in range(simulations):
        rows = statistics(shares(random, 100), "rouge-1")
        [(low, high)] = _core.bootstrap_intervals(rows, 300, 0.95, simulation, 1)
        covered += low <= 0.5 <= high
    record_property("covered", round(covered / simulations, 4))
    # Three standard errors of a share of 0.95 are 0.027.
    assert covered / simulations == pytest.approx(0.95, abs=0.027)


def test_one_image_says_nearly_nothing_of_others() -> None:
    score = sacrecap.score({"1": ["a b"]}, {"1": "a"}, "rouge-l", tokenizer="none")["rouge-l"]
    assert score.interval == pytest.approx((0.025 * score.value, 1 - 0.025 * (1 - score.value)))


def test_no_interval_where_none_is_wanted() -> None:
    result = sacrecap.score({"1": ["a b"]}, {"1": "a"}, "rouge-l", interval=None)
    assert result["rouge-l"].interval is None
    assert result.to_dict()["intervals"] == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": 0}, "interval must be a confidence level between 0 and 1, or none, got 0"),
        ({"interval": 1}, "interval must be a confidence level"),
        ({"interval": 95}, "interval must be a confidence level"),
        ({"interval": -0.5}, "interval must be a confidence level"),
        ({"interval": float("nan")}, "interval must be a confidence level"),
        ({"samples": 0}, "samples must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": 2**64}, r"seed must be below 2\*\*64"),
    ],
)
def test_unacceptable_options(options: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sacrecap.score({"1": ["a b"]}, {"1": "a"}, "rouge-l", **options)  # type: ignore[arg-type]


def test_tables_of_different_lengths_do_not_go_together() -> None:
    rows = [statistics(shares(np.random.default_rng(5), images), "rouge-1")[0] for images in (2, 3)]
    with pytest.raises(UsageError, match="at least one sample, and one row per image in every table"):
        _core.bootstrap_intervals(rows, 10, 0.95, 0)
    with pytest.raises(UsageError, match="at least one sample"):
        _core.bootstrap_intervals([], 10, 0.95, 0)
