"""Ranks that many systems may have, from tests of pairs: ranges that all hold at once, and that newcomers do not blur.

Holm's correction over all pairs of n systems multiplies the smallest p by n(n - 1)/2, so each system that joins makes
every rank less certain, however bad it is. Here the limit of a pair depends on how far down the board it may be:

    p ≤ 2α · a(r) / (r - 1),    a(2) = 1/4, a(r) = 1 / (r (r - 1)) for r > 2

r is the larger of the two worst ranks that the pair's systems may still have. At first that is n for all. Each system
that is found to be worse than another takes one from that one's worst rank, which raises the limits of its other pairs,
and so on until nothing changes.

Why at most α of boards have a mistake: say that system i truly is in place r(i), with its equals before it. A mistake
calls i better than one of the r(i) - 1 systems that are as good or better. The first mistake meets a limit for r(i) or
lower down, since ranks were only taken away for a reason. So its probability is at most half that limit, and that of
any mistake with i at most α · a(r(i)). These add up to α at most, however many systems there are: a(2) + a(3) + … is
3/4, and where the best c are equal, c · a(c) + a(c + 1) + … ≤ 1. Nothing is assumed of how the tests depend on each
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def separated(p: npt.NDArray[np.float64], ahead: npt.NDArray[np.bool_], alpha: float = 0.05) -> npt.NDArray[np.bool_]:
    """Which systems are found to be better than which; with probability 1 - alpha all of it is true.

    Args:
        p: of the two-sided test of each pair, (systems, systems), symmetric; 1 if there was no test.
        ahead: whether the first system of the pair has the better score, (systems, systems).
        alpha: the probability of any mistake.

    Returns:
        (systems, systems): whether the first is better than the second. What follows from others holds too: better than
        a better one.
    """
    count = len(p)
    found = np.zeros((count, count), dtype=bool)
    while True:
        worst = count - found.sum(1)
        limits = _limit(np.maximum(worst[:, None], worst[None, :]), alpha)
        more = _with_consequences(found | (ahead & (p <= limits)))
        if np.array_equal(more, found):
            return found
        found = more


def _limit(rank: npt.NDArray[np.int64], alpha: float) -> npt.NDArray[np.float64]:
    rank = np.maximum(rank, 2).astype(np.float64)
    return 2 * alpha * np.where(rank == 2, 0.25, 1 / (rank * (rank - 1))) / (rank - 1)


def _with_consequences(better: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Who is better than a better one is better."""
    while True:
        numbers = better.astype(np.float32)
        more = better | (numbers @ numbers > 0)
        if np.array_equal(more, better):
            return better
        better = more


def ranges(better: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The best and the worst rank of each system, 1 being the best; neither falls from one system to the next.

    `better` is what `separated` gives for systems in the order of the board. A range that lies before that of a system
    higher up is widened, and so is that one, so that the ranges go down the board as the systems do.
    """
    first = 1 + better.sum(0)
    last = len(better) - better.sum(1)
    first = np.minimum.accumulate(first[::-1])[::-1]
    last = np.maximum.accumulate(last)
    return [(int(best), int(worst)) for best, worst in zip(first, last, strict=True)]
