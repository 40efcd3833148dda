"""Strengths of systems from how often each wins against each: Bradley and Terry (Biometrika 1952)."""

from __future__ import annotations

import numpy as np

from sacrecap.judgments.bootstrap import Floats


def bradley_terry(won: Floats, most: float = 20.0) -> tuple[Floats, Floats] | None:
    """θ with Σ_b (won_ab − N_ab / (1 + e^(θ_b − θ_a))) = 0 for every system a, where N_ab = won_ab + won_ba; Σ θ = 0.

    Args:
        won: (systems, systems), how often the first won against the second.
        most: the largest θ, of either sign, that is taken for a finite one.

    Returns:
        θ, and the inverse of the curvature of the likelihood there; None where no finite θ fits.
    """
    games, theta = won + won.T, np.zeros(len(won))
    for _ in range(200):  # some ten are enough, but rounding may keep the last steps from becoming small
        share = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
        curve = games * share * share.T
        curve = np.diag(curve.sum(axis=1)) - curve
        if np.linalg.matrix_rank(curve, hermitian=True) < len(won) - 1:
            return None
        inverse: Floats = np.linalg.pinv(curve, hermitian=True)
        step = inverse @ (won - games * share).sum(axis=1)
        reach = float(np.ptp(step))
        # The damping with which Newton's method finds the maximum of such likelihoods from anywhere (Bach 2010).
        theta = theta + step * (np.log1p(reach) / reach if reach else 1.0)
        if np.abs(theta).max() > most:
            return None
        if reach < 1e-10:
            break
    return theta, inverse
