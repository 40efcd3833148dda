"""Laws of corrected p and rank ranges, on boards of simulated systems."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacrecap.scoring.ranks import corrected, holm, rank_ranges

Floats = npt.NDArray[Any]
Tests = dict[tuple[int, int], float]


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=8))
def test_holm_is_the_textbook_procedure(p: list[float]) -> None:
    found = holm(p)
    for alpha in (0.01, 0.05, 0.3, *found):
        rejected: set[int] = set()
        for step, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
            if p[place] * (len(p) - step) > alpha:
                break
            rejected.add(place)
        assert {place for place, value in enumerate(found) if value <= alpha} == rejected or alpha >= 1


@st.composite
def boards(draw: st.DrawFn) -> tuple[int, Tests]:
    """A number of systems, and any p of each pair."""
    count = draw(st.integers(1, 7))
    p = st.one_of(st.floats(0, 1), st.floats(0, 0.01))
    return count, {pair: draw(p) for pair in combinations(range(count), 2)}


@given(boards())
def test_what_follows_from_others_holds_too(board: tuple[int, Tests]) -> None:
    """By every path of the slow way: all orders of systems between the two."""
    count, p = board
    found = corrected(range(count), p)
    own = dict(zip(p, holm(list(p.values())), strict=True))
    for better, worse in p:
        between = range(better + 1, worse)
        paths = ((better, *some, worse) for size in range(len(between) + 1) for some in combinations(between, size))
        assert found[better, worse] == min(max(own[pair] for pair in pairwise(path)) for path in paths)


@given(boards(), st.sampled_from([0.01, 0.05, 0.3]))
def test_a_pair_is_significant_if_and_only_if_its_ranks_are_separated(board: tuple[int, Tests], alpha: float) -> None:
    """A better system's range begins and ends earlier; ranges that do not touch are of a better and a worse one."""
    count, p = board
    better = {pair for pair, own in corrected(range(count), p).items() if own <= alpha}
    ranks = rank_ranges(range(count), better)
    for one, other in combinations(range(count), 2):
        if (one, other) in better:
            assert ranks[one][0] < ranks[other][0]
            assert ranks[one][1] < ranks[other][1]
        if ranks[one][1] < ranks[other][0]:
            assert (one, other) in better
        assert not ranks[other][1] < ranks[one][0]
    assert all(1 <= first <= last <= count for first, last in ranks.values())
    separable = rank_ranges(range(count), p)
    assert separable == {place: (place + 1, place + 1) for place in range(count)}


def test_pairs_without_a_test_are_not_separated_unless_it_follows() -> None:
    tests = {(0, 1): 1e-9, (0, 2): 1.0, (1, 2): 1e-9}
    assert max(corrected(range(3), tests).values()) < 1e-8
    tests[1, 2] = 1.0
    assert [pair for pair, own in corrected(range(3), tests).items() if own < 1] == [(0, 1)]


SHAPES: dict[str, Callable[[int], Floats]] = {
    "equal": np.zeros,
    "pairs": lambda count: -np.repeat(np.arange((count + 1) // 2), 2)[:count] * 40.0,
    "close": lambda count: -np.arange(count) * 1.5,
    "groups that double": lambda count: -np.floor(np.log2(np.arange(count) + 1)) * 40.0,
}


@pytest.mark.soak
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [2, 3, 5, 33])
def test_the_true_order_is_inside_the_ranges(
    shape: str, count: int, record_property: Callable[[str, object], None]
) -> None:
    """Nobody is called better than a system that is as good or better, on 95 of 100 boards."""
    random = np.random.default_rng(count)
    wrong = 0
    for _ in range(400):
        means = SHAPES[shape](count)
        scores = means + random.standard_normal(count)
        order = np.argsort(-scores).tolist()
        p = {(a, b): math.erfc((scores[a] - scores[b]) / 2) for a, b in combinations(order, 2)}
        wrong += any(own <= 0.05 and means[a] <= means[b] for (a, b), own in corrected(order, p).items())
    record_property("boards with a mistake", wrong / 400)
    assert wrong <= 400 * 0.05 + 3 * math.sqrt(400 * 0.05 * 0.95)
