"""The draws of the bootstrap and of the permutation test, number by number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

MASK = 2**64 - 1


def splitmix64(state: int) -> Iterator[int]:
    """The generator of Steele, Lea and Flood (2014)."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def streams(samples: int, seed: int) -> Iterator[Iterator[int]]:
    """A stream of numbers for each sample."""
    key = next(splitmix64(seed))
    for sample in range(samples):
        yield splitmix64(key ^ (sample * 0xD1342543DE82EF95 & MASK))


def draws(count: int, samples: int, seed: int) -> Iterator[list[int]]:
    """For each sample, the rows drawn: as many as there are, with replacement."""
    for numbers in streams(samples, seed):
        yield [next(numbers) * count >> 64 for _ in range(count)]


def halves(count: int, samples: int, seed: int) -> Iterator[npt.NDArray[np.bool_]]:
    """For each sample, whether each row is taken: bits of the numbers, lowest first."""
    for numbers in streams(samples, seed):
        words = [next(numbers) for _ in range(-(-count // 64))]
        yield np.array([words[row // 64] >> row % 64 & 1 for row in range(count)], dtype=bool)
