"""p of the exact paired test: against all signs counted by slow code, against drawn swaps, and what it promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from reference.sign_flips import of_whole_numbers, one_by_one
from sacrecap import _core, example

Floats = npt.NDArray[np.float64]
Pair = tuple[_core.Statistics, _core.Statistics]


def mean(values: Sequence[float] | Floats) -> _core.Statistics:
    """Statistics of images with these scores, whose score is their mean."""
    return _core.Statistics.of_rows("mean", np.column_stack((values, np.ones(len(values)))).tobytes(), 2)


def p_of(differences: Sequence[float] | Floats, offset: float = 0.0) -> float:
    """p where the images' scores differ by so much."""
    one, other = mean(np.asarray(differences, dtype=float) + offset), mean(np.full(len(differences), offset))
    [p] = _core.paired_exact([[one], [other]])
    assert _core.paired_exact([[other], [one]]) == pytest.approx([p], rel=1e-9)
    return p


numbers = st.one_of(st.floats(-2, 2, width=16), st.integers(-3, 3).map(float))


@given(st.lists(numbers, min_size=1, max_size=11))
def test_few_images_are_counted(differences: list[float]) -> None:
    assert p_of(differences) == pytest.approx(one_by_one(differences), abs=1e-12)


@given(st.lists(st.integers(-60, 60), min_size=1, max_size=30))
def test_up_to_thirty_images_are_counted(differences: list[int]) -> None:
    assert p_of(differences) == pytest.approx(of_whole_numbers(differences), rel=1e-9)


RANDOM = np.random.default_rng(20)
SIZES: dict[str, Callable[[int], npt.NDArray[np.int64]]] = {
    "normal": lambda n: np.round(np.abs(RANDOM.normal(0, 100, n))).astype(int) + 1,
    "exponential": lambda n: np.round(RANDOM.exponential(100, n)).astype(int) + 1,
    "Pareto": lambda n: np.minimum(np.round(10 * (RANDOM.pareto(1.5, n) + 1)), 5_000).astype(int),
    "equal": lambda n: np.ones(n, dtype=int),
    "2 and 3": lambda n: RANDOM.integers(2, 4, n),
    "2 to 5": lambda n: RANDOM.integers(2, 6, n),
    "few large": lambda n: np.append(RANDOM.integers(200, 900, 10), RANDOM.integers(1, 30, n - 10)),
    "16 equal large": lambda n: np.append(np.full(16, 300), RANDOM.integers(1, 30, n - 16)),
}


@pytest.mark.parametrize("images", [31, 60, 200])
@pytest.mark.parametrize("kind", SIZES)
def test_many_images_are_near_what_counting_gives(kind: str, images: int) -> None:
    """From p near 1 to 1e-12: within 6 %."""
    sizes = SIZES[kind](images)
    for share in RANDOM.uniform(0, 0.5, 8):
        differences = np.where(RANDOM.random(images) < share, -sizes, sizes).tolist()
        expected = of_whole_numbers(differences)
        if expected > 1e-12:
            assert p_of(differences) == pytest.approx(expected, rel=0.06)


def test_of_many_images_against_permutations() -> None:
    for shift in (0.03, 0.09):
        differences = np.random.default_rng(3).normal(shift, 1, 1000)
        [drawn] = _core.paired_permutation([[mean(differences)], [mean(np.zeros(1000))]], 20_000, 1)
        assert p_of(differences) == pytest.approx(drawn, rel=0.05, abs=4 * np.sqrt(drawn / 20_000))


def swapped(one: _core.Statistics, other: _core.Statistics, heads: npt.NDArray[np.bool_]) -> Pair:
    """Statistics of two systems after the captions of some images changed hands."""
    both, images = one.merge(other), np.arange(one.rows)
    kept, given_away = (images + np.where(heads, 0, one.rows)), (images + np.where(heads, one.rows, 0))
    return both.select(kept.tolist()), both.select(given_away.tolist())


@pytest.fixture(scope="module")
def scored() -> dict[str, Pair]:
    """Two systems of the example by BLEU-2 and METEOR, which are no means of images' scores."""
    one, other = (
        sacrecap.score(example.references(), example.systems()[name], "bleu-2, meteor", interval=None)
        for name in ("careful", "plain")
    )
    return {key: (one[key].rows, other[key].rows) for key in one}


@pytest.mark.parametrize("metric", ["bleu-2", "meteor"])
def test_corpus_metrics_against_permutations(scored: dict[str, Pair], metric: str) -> None:
    """To the first order: the p is near that of the drawn swaps, where the systems differ somewhat."""
    pair = swapped(*scored[metric], np.random.default_rng(5).random(60) < 0.65)
    [drawn] = _core.paired_permutation([[pair[0]], [pair[1]]], 20_000, 1)
    [p] = _core.paired_exact([[pair[0]], [pair[1]]])
    assert p == pytest.approx(drawn, rel=0.25, abs=4 * np.sqrt(drawn / 20_000))


@pytest.mark.soak
@pytest.mark.parametrize("metric", ["bleu-2", "meteor"])
def test_the_level_is_kept_by_corpus_metrics(
    scored: dict[str, Pair], metric: str, record_property: Callable[[str, object], None]
) -> None:
    """After random swaps neither system is better: p is uniform."""
    random = np.random.default_rng(6)
    p = [
        _core.paired_exact([[one] for one in swapped(*scored[metric], random.random(60) < 0.5)])[0]
        for _ in range(4_000)
    ]
    for level in (0.01, 0.05, 0.1, 0.5):
        found = float(np.mean(np.array(p) <= level))
        record_property(f"p at most {level}", found)
        assert abs(found - level) < 3.5 * np.sqrt(level * (1 - level) / 4_000)


@pytest.mark.soak
def test_p_is_uniform_if_the_systems_are_equal(record_property: Callable[[str, object], None]) -> None:
    random = np.random.default_rng(7)
    for images in (8, 40, 300):
        p = np.array([p_of(random.standard_t(3, images)) for _ in range(600)])
        for level in (0.05, 0.25, 0.5):
            found = float(np.mean(p <= level))
            record_property(f"{images} images, p at most {level}", found)
            assert abs(found - level) < 3.5 * np.sqrt(level * (1 - level) / 600)


def test_p_goes_far_below_what_permutations_resolve(scored: dict[str, Pair]) -> None:
    one, other = scored["meteor"]
    [p] = _core.paired_exact([[one], [other]])
    assert 2.0**-59 <= p < 1e-12
    assert 0 < p_of(np.full(5_000, 0.1)) < 1e-290
    assert p_of(np.full(40, 0.1)) == pytest.approx(2.0**-39)


def test_ties_have_p_1() -> None:
    """Equal scores, and such that only rounding tells apart."""
    assert p_of(np.zeros(5)) == p_of([0.3, -0.3]) == 1.0
    assert p_of(np.full(40, 9e-10), 1.0) == 1.0
    assert p_of(np.full(40, 2e-9), 1.0) < 1e-9
    assert p_of([1e-11] * 20 + [0.5]) == 1.0  # one image alone is either way


def test_an_image_on_which_both_are_equal_changes_nothing() -> None:
    differences = np.random.default_rng(8).normal(0.3, 1, 80)
    padded = np.concatenate((differences, np.zeros(500)))
    assert p_of(padded) == pytest.approx(p_of(differences), rel=1e-9)


def test_scores_that_are_none_are_no_evidence() -> None:
    def nothing(sums: list[float]) -> float:
        return float("nan")

    values = np.ones((40, 1)).tobytes()
    one, other = (_core.Statistics.of_rows("none", values, 1, nothing) for _ in range(2))
    assert _core.paired_exact([[one], [other]]) == [1.0]


def test_nothing_depends_on_threads() -> None:
    random = np.random.default_rng(9)
    systems = [[mean(random.normal(0, 1, 3_000)), mean(random.exponential(1, 3_000))] for _ in range(6)]
    assert _core.paired_exact(systems, 1) == _core.paired_exact(systems, 4)
    alone = [_core.paired_exact([[a[1]], [b[1]]])[0] for n, a in enumerate(systems) for b in systems[n + 1 :]]
    assert _core.paired_exact(systems, 2)[1::2] == alone
