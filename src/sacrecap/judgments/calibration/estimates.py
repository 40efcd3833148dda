"""What few ratings and many scores say of all captions: a difference estimator with a weight for each witness.

    a_i = y_i − γ_(−i) · (x_i − X̄_g)       the rating, without what the witnesses say of the luck of the draw
    estimate of a group = mean of its a_i

y_i is the (mean) rating of a caption of group g (its system, or pair of systems), x_i its scores by the witnesses, X̄_g
the mean of these over all captions of the group. γ is the covariance of ratings and scores within groups, by what the
scores vary over *all* captions: the power-tuned weight of Angelopoulos, Duchi and Zrnic, *PPI++* (2023), so that few
wild scores make a witness weigh little. It is estimated without the image of i (Zrnic and Candès, *Cross-Prediction-
Powered Inference*, PNAS 2024), and is the smaller the less the ratings tell of it (James and Stein 1961).

Variances are of each group by itself, with n_g − 1, for a finite number of captions (1 − n_g / N_g: where all are
rated, nothing is left to guess), with Satterthwaite's degrees of freedom (Biometrics Bulletin 1946; Welch, Biometrika
1947). Ratings of one image count together as far as the draw took more of them together than chance would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]

SPARE = 20
"""Ratings that there must be beyond those that means and weights take, for witnesses to be weighed at all."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rated captions, and what is known of all captions; groups and images are numbers from 0."""

    ratings: Floats
    """The mean rating of each rated caption, shape (n,)."""
    scores: Floats
    """Its scores, shape (n, witnesses)."""
    images: Numbers
    groups: Numbers
    means: Floats
    """The mean scores of all captions of each group, shape (groups, witnesses)."""
    covariance: Floats
    """Of the scores of all captions, within groups, shape (witnesses, witnesses)."""
    sizes: Floats
    """How many captions each group has."""
    together: Floats
    """How many pairs of different captions of one image there are, by their groups, shape (groups, groups)."""
    weights: Floats
    """How many captions each rated caption stands for; equal where all were drawn alike."""
    is_finite: bool
    """Whether nothing is left to guess where all are rated. A choice is one person's, and others may choose else."""

    @property
    def freedom(self) -> int:
        """Ratings that are left after means and weights are fitted."""
        return len(self.ratings) - len(np.unique(self.groups)) - self.told

    @cached_property
    def told(self) -> int:
        """How many things the witnesses tell: those that say the same count once, those that say nothing not at all."""
        return int(np.linalg.matrix_rank(self._scaled[1], tol=1e-9, hermitian=True))

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats]:
        """The deviation of each witness, and the correlations; 1 and 0 of one that says nothing."""
        deviations = np.sqrt(np.diag(self.covariance))
        deviations[deviations == 0] = 1.0
        return deviations, self.covariance / np.outer(deviations, deviations)

    @property
    def weighs(self) -> bool:
        """Whether the ratings are enough to weigh the witnesses."""
        return bool(self.covariance.any()) and self.freedom >= SPARE

    @cached_property
    def counts(self) -> Floats:
        """How many captions of each group are rated."""
        return np.bincount(self.groups, minlength=len(self.sizes)).astype(np.float64)

    @cached_property
    def inclusion(self) -> Floats:
        """The share of its group's captions that each rated one was drawn with, where these are all that there are."""
        if not self.is_finite:
            return np.zeros(len(self.ratings))
        total = np.bincount(self.groups, self.weights, len(self.sizes))
        share: Floats = np.minimum(1.0, (total / self.sizes)[self.groups] / self.weights)
        return np.minimum(1.0, (self.counts / self.sizes)[self.groups]) if np.ptp(self.weights) == 0 else share

    def adjusted(self) -> Floats:
        """The ratings without the luck of the draw: a_i above."""
        luck = self.scores - self.means[self.groups]
        residuals: Floats = self.ratings - (luck * self._weights()).sum(axis=1)
        return residuals

    def _weights(self) -> Floats:
        """γ for each rated caption, estimated without its image."""
        deviations, correlations = self._scaled
        w, y, x = self.weights, self.ratings, self.scores / deviations
        g = np.unique(self.groups, return_inverse=True)[1]
        total, square = np.bincount(g, w), np.bincount(g, w * w)
        spare = total - square / total
        dy = y - (np.bincount(g, w * y) / total)[g]
        dx = x - _means(x, w, g)[g]
        products, freedom = (w * dy) @ dx, spare.sum()
        # What an image takes with it: the products inside its captions of a group, and those of their mean.
        image = np.unique(self.images, return_inverse=True)[1]
        cells, cell = np.unique(image * (g.max() + 1) + g, return_inverse=True)
        of_image, of_group = cells // (g.max() + 1), cells % (g.max() + 1)
        cell_weight, own_square = np.bincount(cell, w), np.bincount(cell, w * w)
        cell_y, cell_x = np.bincount(cell, w * dy) / cell_weight, _means(dx, w, cell)
        rest = np.maximum(total[of_group] - cell_weight, 0.0)
        is_left = rest > 1e-9 * total[of_group]
        safe = np.where(is_left, rest, 1.0)
        apart = np.where(is_left, total[of_group] * cell_weight / safe, 0.0)
        inside = _sums((w * (dy - cell_y[cell]))[:, None] * (dx - cell_x[cell]), cell)
        lost = _sums(inside + (apart * cell_y)[:, None] * cell_x, of_image)
        without_cell = np.where(is_left, rest - (square[of_group] - own_square) / safe, 0.0)
        left: Floats = freedom - np.bincount(of_image, spare[of_group] - without_cell)
        inverse = np.linalg.pinv(correlations, rcond=1e-9, hermitian=True)
        fitted = (products - lost) / np.maximum(left, 1e-9)[:, None] @ inverse
        # The share of the variance that is told, against what chance tells.
        shared = products / freedom
        explained = min(float(shared @ inverse @ shared) / max(float((w * dy) @ dy / freedom), 1e-300), 1.0)
        chance = self.told * (1 - explained) / max(self.freedom, 1)
        weights: Floats = (fitted / deviations * max(0.0, 1 - chance / max(explained, 1e-12)))[image]
        return weights


def _sums(rows: Floats, of: Numbers) -> Floats:
    """The sums of the rows of each number."""
    return np.stack([np.bincount(of, column) for column in rows.T], axis=1)


def _means(rows: Floats, weights: Floats, of: Numbers) -> Floats:
    return _sums(rows * weights[:, None], of) / np.bincount(of, weights)[:, None]


class Figure(NamedTuple):
    """An estimate, its variance, and the degrees of freedom of that; and its third moment about its mean."""

    value: float
    variance: float
    freedom: float
    skew: float = 0.0


class Estimates:
    """The means of all groups, from these (adjusted) ratings, and what follows from them."""

    def __init__(self, rated: Evidence, values: Floats) -> None:
        self.rated, self.values = rated, values
        self._images = np.unique(rated.images, return_inverse=True)[1]
        total = np.bincount(rated.groups, rated.weights, len(rated.sizes))
        self.shares: Floats = rated.weights / total[rated.groups]
        """The share of each rated caption in its group's mean."""
        weighed: Floats = self.shares * values
        self.means: Floats = np.bincount(rated.groups, weighed, len(rated.sizes)).astype(np.float64)

    def mean(self, parts: Floats) -> Figure:
        """The sum of the groups' means, each times its part, shape (groups,)."""
        groups, counts = self.rated.groups, self.rated.counts
        spread = np.sqrt(counts / np.maximum(counts - 1, 1))[groups]
        pulls = parts[groups] * self.shares * (self.values - self.means[groups]) * spread
        return self.pulled(float(parts @ self.means), pulls, parts != 0)

    def fitted(
        self, value: float, expected: Floats, weights: Floats, of_groups: npt.NDArray[np.bool_], by: int
    ) -> Figure:
        """A figure of several groups at once, for which `by` numbers were fitted: what was expected of each rated
        caption, and how much the figure moves with it.
        """
        count = float(self.rated.counts[of_groups].sum())
        spread = math.sqrt(count / max(count - by, 1.0))
        figure = self.pulled(value, weights * (self.values - expected) * spread, of_groups)
        return figure._replace(freedom=max(1.0, count - by), skew=0.0)

    def pulled(self, value: float, pulls: Floats, of_groups: npt.NDArray[np.bool_]) -> Figure:
        """A figure by how much each rated caption pulls it, pulls being scaled for what was fitted."""
        rated = self.rated
        group_mean = of_groups[rated.groups]
        pulls, image, group = (
            (pulls * np.sqrt(1 - rated.inclusion))[group_mean],
            self._images[group_mean],
            rated.groups[group_mean],
        )
        beside = np.bincount(image)
        seen = float((beside * (beside - 1)).sum())
        share = np.where(of_groups, np.minimum(1.0, rated.counts / rated.sizes), 0.0)
        excess = max(0.0, 1 - float(share @ rated.together @ share) / seen) if seen else 0.0
        by_image = np.bincount(image, pulls)
        variance = (1 - excess) * float(pulls @ pulls) + excess * float(by_image @ by_image)
        skew = float((pulls**3).sum())
        return Figure(value, variance, _freedom(pulls, image, group, excess), skew)


def _freedom(pulls: Floats, image: Numbers, group: Numbers, excess: float) -> float:
    """Satterthwaite's: of variances of groups that may share images, captions being independent."""
    used, group = np.unique(group, return_inverse=True)
    counts = np.bincount(group).astype(np.float64)
    left = np.maximum(counts - 1, 0.0)
    each = np.bincount(group, pulls**2) / np.maximum(left, 1.0)
    held = np.zeros((len(used), int(image.max()) + 1))
    np.add.at(held, (group, image), 1.0)
    shared = held @ held.T
    inverse = 1 / counts
    traces = shared - shared * (inverse[:, None] + inverse) + shared**2 * np.outer(inverse, inverse)
    traces *= excess**2
    np.fill_diagonal(traces, left)
    below = float(each @ traces @ each)
    return max(1.0, float(each @ left) ** 2 / below) if below > 0 else 1.0
