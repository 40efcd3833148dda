"""What few ratings and many scores say of all captions: cross-fitted control variates, clustered by image.

    a_i = y_i − γ_(−i) · (x_i − X̄)             the rating, without what the witnesses say of the luck of the draw
    estimate = mean of a_i,  interval = estimate ± t · √(Σ_g ψ_g² · G / (G − 1))

y_i is the (mean) rating of a caption, x_i its scores by the witnesses, X̄ the mean of these over all captions. γ_(−i)
are the weights of a regression of ratings on scores, fitted without the captions of the image of i, so that no rating
weighs itself; ψ_g sums what the captions of image g add. With one witness this is the power-tuned estimate of
Angelopoulos, Duchi and Zrnic, *PPI++: Efficient Prediction-Powered Inference* (2023), where the rated captions are
among all captions, with the cross-fitting of Zrnic and Candès, *Cross-Prediction-Powered Inference* (PNAS 2024). The
weights may have any sign and size: a witness that knows nothing gets a weight of about 0. Captions that were not drawn
alike count by 1 / inclusion, in means and regressions (Hájek 1971; Zrnic and Candès, *Active Statistical Inference*,
ICML 2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sacrecap.scoring.intervals import student

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]

SPARE = 20
"""Images that must be rated beyond those that weights and means take, for witnesses to be weighed at all."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rated captions, and all captions: what estimates are made of."""

    ratings: Floats
    """The mean rating of each rated caption."""
    scores: Floats
    """Its scores, a column per witness."""
    images: Numbers
    """Its image, as a number."""
    groups: Numbers
    """Its group, such as the system that wrote it, as a number from 0."""
    means: Floats
    """The mean scores of all captions of each group."""
    deviations: Floats
    """The deviation of each witness over all captions; 0 for one that says nothing."""
    weights: Floats
    """How many captions each rated caption stands for; equal where all were drawn alike."""

    @property
    def freedom(self) -> int:
        """Images that are left after means and weights are fitted."""
        return len(np.unique(self.images)) - len(np.unique(self.groups)) - int((self.deviations > 0).sum())

    @property
    def weighs(self) -> bool:
        """Whether the rated images are enough to weigh the witnesses."""
        return bool(self.deviations.any()) and self.freedom >= SPARE

    def adjusted(self) -> Floats:
        """The ratings without the luck of the draw: a_i above; the ratings themselves if nothing can be weighed."""
        if not self.weighs:
            return self.ratings
        varies = self.deviations > 0
        scores = (self.scores - self.means[self.groups])[:, varies] / self.deviations[varies]
        weights = self._weights(scores)
        adjusted: Floats = self.ratings - (scores * weights).sum(axis=1)
        return adjusted

    def _weights(self, scores: Floats) -> Floats:
        """The weights for each caption, fitted without its image."""
        known, groups = np.unique(self.groups, return_inverse=True)
        design = np.hstack([np.eye(len(known))[groups], scores])
        images, image = np.unique(self.images, return_inverse=True)
        products = np.zeros((len(images), design.shape[1], design.shape[1]))
        moments = np.zeros((len(images), design.shape[1]))
        weighted = design * self.weights[:, None]
        np.add.at(products, image, weighted[:, :, None] * design[:, None, :])
        np.add.at(moments, image, weighted * self.ratings[:, None])
        without = np.linalg.pinv(products.sum(axis=0) - products, rcond=1e-10, hermitian=True)
        fitted: Floats = np.einsum("gij,gj->gi", without, moments.sum(axis=0) - moments)
        return fitted[image, len(known) :]


def influence(values: Floats, images: Numbers, number: int, weights: Floats) -> tuple[float, Floats]:
    """The weighted mean of values, and by how much each of `number` images pulls it."""
    mean = float((values * weights).sum() / weights.sum())
    pulls: Floats = np.bincount(images, weights * (values - mean), number) / weights.sum()
    return mean, pulls


def error(pulls: Floats, images: int) -> float:
    """The standard error of a figure that so many images made, from how each pulls it."""
    return math.sqrt(float(pulls @ pulls) * images / (images - 1)) if images > 1 else math.inf


def reach(level: float, freedom: int, standard_error: float) -> float:
    """Half the length of the interval."""
    return student((1 + level) / 2, max(1, freedom)) * standard_error
