"""Optimal transport of caption-sized problems against pyemd and POT: the same problems, one run, values compared first.

python benchmarks/transport.py [problems]
"""

from __future__ import annotations

import sys

import numpy as np
import ot
from pyemd import emd

from measure import machine, race
from sacrecap import _core

OBJECTS, WORDS = 3, 6
Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def problems(count: int) -> list[Problem]:
    """Bags of about 3 objects and 6 words, as captions have them, and costs between 0 and 2."""
    chance = np.random.default_rng(0)
    made = []
    for _ in range(count):
        n, m = chance.integers(OBJECTS - 2, OBJECTS + 3), chance.integers(WORDS - 2, WORDS + 3)
        supply, demand = (bag / bag.sum() for bag in (chance.integers(1, 4, n).astype(float), np.ones(m)))
        made.append((supply, demand, chance.uniform(0, 2, (n, m))))
    return made


def of_pyemd(supply: np.ndarray, demand: np.ndarray, cost: np.ndarray) -> float:
    """As VIFIDEL's script calls it: both bags over the joint vocabulary, a square matrix of distances."""
    n, m = cost.shape
    square = np.zeros((n + m, n + m))
    square[:n, n:], square[n:, :n] = cost, cost.T
    return float(emd(np.append(supply, np.zeros(m)), np.append(np.zeros(n), demand), square))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    made = problems(count)
    sizes = [cost.shape for _, _, cost in made]
    joined = [np.concatenate([part.ravel() for part in parts]).tobytes() for parts in zip(*made, strict=True)]

    def of_sacrecap() -> np.ndarray:
        return np.frombuffer(_core.transport(sizes, *joined, plans=False, threads=1)[0])

    np.testing.assert_allclose(of_sacrecap(), [ot.emd2(*problem) for problem in made], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(of_sacrecap(), [of_pyemd(*problem) for problem in made], rtol=1e-6, atol=1e-6)
    print(f"{count:,} problems of about {OBJECTS} × {WORDS}, one thread; {machine()}, POT {ot.__version__}")
    race(
        {
            "pyemd": lambda: [of_pyemd(*problem) for problem in made],
            "ot.emd2": lambda: [ot.emd2(*problem) for problem in made],
            "sacrecap": of_sacrecap,
        }
    )


if __name__ == "__main__":
    main()
