"""Strengths of systems from how often each wins against each: Bradley and Terry (Biometrika 1952)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def strengths(
    groups: list[tuple[str, str]], names: list[str], sizes: Floats, shares: list[float]
) -> tuple[Floats, Floats] | None:
    """Bradley–Terry: θ with Σ_b N_ab (w_ab − 1 / (1 + e^(θ_b − θ_a))) = 0 for every system a, and Σ θ = 0.

    Returns θ, and how each pair's share w moves it; None where no finite θ fits.
    """
    signs = np.zeros((len(names), len(groups)))
    for number, (a, b) in enumerate(groups):
        signs[names.index(a), number], signs[names.index(b), number] = 1.0, -1.0
    theta = np.zeros(len(names))
    for _ in range(100):
        expected = 1 / (1 + np.exp(-(signs.T @ theta)))
        slope = (signs * (sizes * expected * (1 - expected))) @ signs.T
        inverse = np.linalg.pinv(slope, hermitian=True)
        step = inverse @ signs @ (sizes * (np.array(shares) - expected))
        theta = theta + np.clip(step, -1, 1)
        if np.abs(theta).max() > 20 or np.linalg.matrix_rank(slope) < len(names) - 1:
            return None
        if np.abs(step).max() < 1e-10:
            moved: Floats = inverse @ (signs * sizes)
            return theta, moved
    return None
