"""Optimal transport equals POT's, and proves its own optimality."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyemd import emd

from sacrecap import _core
from sacrecap.errors import UsageError

Numbers = npt.NDArray[np.float64]
Problem = tuple[Numbers, Numbers, Numbers]


def solve(*problems: Problem, threads: int = 1) -> list[tuple[float, Numbers, Numbers, Numbers]]:
    """Value, plan, and duals of rows and columns of each problem."""
    sizes = [cost.shape for _, _, cost in problems]
    joined = [
        np.concatenate([np.asarray(part, np.float64).ravel() for part in parts]).tobytes()
        for parts in zip(*problems, strict=True)
    ]
    values, plans, duals = map(np.frombuffer, _core.transport(sizes, *joined, threads=threads))
    solved = []
    for value, (n, m) in zip(values, sizes, strict=True):
        plan, plans = plans[: n * m].reshape(n, m), plans[n * m :]
        u, v, duals = duals[:n], duals[n : n + m], duals[n + m :]
        solved.append((float(value), plan, u, v))
    return solved


def check(*problems: Problem, rounding: float = 1e-300) -> None:
    """Equal to POT to 1e-12 relative or to its rounding; plan and duals are feasible, and complementary."""
    for (supply, demand, cost), (value, plan, u, v) in zip(problems, solve(*problems), strict=True):
        expected = float(ot.emd2(supply, demand, np.ascontiguousarray(cost, np.float64), numItermax=10**7))
        assert value == pytest.approx(expected, rel=1e-12, abs=rounding)
        total, largest = supply.sum(), max(cost.max(), 1e-300)
        assert (plan >= 0).all()
        np.testing.assert_allclose(plan.sum(axis=1), supply, rtol=0, atol=1e-13 * total)
        np.testing.assert_allclose(plan.sum(axis=0), demand, rtol=0, atol=1e-13 * total)
        slack = cost - u[:, None] - v
        assert slack.min() >= -1e-12 * largest
        assert np.abs(slack[plan > 1e-13 * total]).max(initial=0) <= 1e-12 * largest
        assert supply @ u + demand @ v == pytest.approx(value, rel=1e-11, abs=1e-13 * total * largest)


def balanced(supply: Numbers, demand: Numbers, cost: Numbers) -> Problem:
    return supply / supply.sum(), demand / demand.sum(), cost


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def euclidean(rng: np.random.Generator, n: int, m: int, power: int) -> Numbers:
    x, y = rng.normal(size=(n, 50)), rng.normal(size=(m, 50))
    return np.linalg.norm(x[:, None] - y, axis=2) ** power


SIZES = [(1, 1), (1, 7), (9, 1), (2, 2), (3, 6), (6, 3), (12, 12), (40, 25), (5, 120)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_random_problems(size: tuple[int, int]) -> None:
    rng = chance()
    n, m = size
    check(*(balanced(rng.random(n), rng.random(m), euclidean(rng, n, m, power)) for power in (1, 2) for _ in range(10)))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_integer_problems_with_many_ties(size: tuple[int, int]) -> None:
    rng = chance(1)
    n, m = size
    made = []
    for _ in range(20):
        supply, demand = rng.multinomial(3 * (n + m), np.ones(n) / n), rng.multinomial(3 * (n + m), np.ones(m) / m)
        made.append((supply.astype(float), demand.astype(float), rng.integers(0, 4, (n, m)).astype(float)))
    check(*made)


def test_degenerate_problems() -> None:
    rng = chance(2)
    points = rng.normal(size=(8, 5))
    same = np.linalg.norm(points[:, None] - points, axis=2)
    ones = np.ones(8) / 8
    value, plan, *_ = solve((ones, ones, same))[0]
    assert value == 0
    np.testing.assert_array_equal(plan, np.diag(ones))
    check(
        (ones, ones, np.ones((8, 8))),  # every plan is optimal
        (ones, ones, np.zeros((8, 8))),
        (ones, ones, np.tile(same[:4], (2, 1))),  # equal points
        (np.array([0.5, 0.0, 0.5]), np.array([0.0, 1.0, 0.0, 0.0]), rng.random((3, 4))),  # zero masses
        (np.array([1 / 3] * 3), np.array([1 / 7] * 7), rng.integers(0, 2, (3, 7)).astype(float)),
    )


def test_very_different_masses_and_costs() -> None:
    rng = chance(3)
    check(
        *(
            balanced(10 ** rng.uniform(-9, 0, n), 10 ** rng.uniform(-9, 0, m), 10 ** rng.uniform(-6, 6, (n, m)))
            for n, m in [(3, 6), (20, 30), (1, 50), (60, 2)]
            for _ in range(5)
        )
    )


@pytest.mark.parametrize("kind", ["euclidean", "ties"])
def test_hundreds_a_side(kind: str) -> None:
    rng = chance(4)
    cost = euclidean(rng, 300, 500, 2) if kind == "euclidean" else rng.integers(0, 10, (300, 500)).astype(float)
    check(balanced(rng.random(300), rng.random(500), cost))


def test_a_label_list_of_five_hundred() -> None:
    rng = chance(5)
    check(balanced(np.ones(500), np.ones(8), euclidean(rng, 500, 8, 1)))


@given(st.data())
def test_any_small_problem(data: st.DataObject) -> None:
    n, m = data.draw(st.tuples(st.integers(1, 8), st.integers(1, 8)))
    mass = st.integers(0, 5) | st.floats(1e-6, 1)
    supply, demand = (np.array(data.draw(st.lists(mass, min_size=k, max_size=k)), float) for k in (n, m))
    supply[0], demand[-1] = supply[0] + 1, demand[-1] + 1
    cells = st.lists(st.integers(0, 3) | st.floats(1e-3, 10), min_size=n * m, max_size=n * m)
    cost = np.array(data.draw(cells), float).reshape(n, m)
    # POT rounds masses: of (1) to (1e-6, 1) at the costs (1, 0) its value is wrong in the eleventh digit.
    check(balanced(supply, demand, cost), rounding=1e-15 * cost.max())


def test_sums_that_rounding_unbalances() -> None:
    supply, demand = np.array([0.1] * 10), np.array([1.0])
    assert sum(supply) != demand.sum()
    value, plan, *_ = solve((supply, demand, np.ones((10, 1))))[0]
    assert value == pytest.approx(1, rel=1e-15)
    nudged = np.array([0.25, 0.75 + 4e-16]), np.array([0.5 - 2e-16, 0.5]), np.array([[1.0, 2.0], [3.0, 1.0]])
    value, plan, *_ = solve(nudged)[0]
    assert value == pytest.approx(0.25 + 3 * 0.25 + 0.5, rel=1e-14)
    assert plan.sum() == pytest.approx(1, rel=1e-14)


def test_pyemd_agrees() -> None:
    rng = chance(6)
    for _ in range(20):
        supply, demand, cost = balanced(rng.random(4), rng.random(4), euclidean(rng, 4, 4, 1))
        square = np.block([[np.zeros((4, 4)), cost], [cost.T, np.zeros((4, 4))]])
        expected = emd(np.append(supply, np.zeros(4)), np.append(np.zeros(4), demand), square)
        assert solve((supply, demand, cost))[0][0] == pytest.approx(expected, rel=1e-6)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    rng = chance(7)
    made = [balanced(rng.random(n), rng.random(m), rng.random((n, m))) for n, m in rng.integers(1, 9, (50, 2))]
    one = solve(*made)
    for threads in (2, 7):
        for (value, plan, *_), (other, plan_again, *_) in zip(one, solve(*made, threads=threads), strict=True):
            assert value == other
            assert plan.tobytes() == plan_again.tobytes()


def test_unusable_numbers_are_refused() -> None:
    one = np.ones(1)
    for bad in (-1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="must be finite and not negative"):
            solve((one, one, np.array([[bad]])))
    with pytest.raises(UsageError, match="are not those of the sizes"):
        _core.transport([(1, 2)], one.tobytes(), one.tobytes(), one.tobytes())
