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
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from sacrecap.above import Printable
from sacrecap.judgments.bootstrap import Floats
from sacrecap.judgments.calibration.strengths import bradley_terry
from sacrecap.scoring.intervals import Interval, opened, student

Numbers: TypeAlias = npt.NDArray[np.int64]
Chosen: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Calibrated:
    """A figure that people would give, its interval, and the same from the ratings alone."""

    estimate: float
    interval: Interval | None
    n: int
    """Rated captions, or pairs."""
    worth: float
    """As many ratings would tell as much without the witnesses."""
    images: int
    alone: float
    alone_interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """As in JSON."""
        return {
            "estimate": self.estimate,
            "interval": self.interval and list(self.interval),
            "n": self.n,
            "worth": self.worth,
            "images": self.images,
            "alone": {"estimate": self.alone, "interval": self.alone_interval and list(self.alone_interval)},
        }


@dataclass(frozen=True)
class Planned:
    """Half the length of the interval that so many rated captions would give."""

    n: int
    alone: float
    calibrated: float


@dataclass(frozen=True, eq=False)
class Calibration(Printable):
    """The result of [`sacrecap.judgments.calibrate`][]."""

    version: str
    of: str
    """What the first figure is of, in words."""
    overall: Calibrated
    systems: dict[str, Calibrated]
    """Of ratings, the mean of each system; of pairs, its strength (Bradley–Terry). Empty for one system."""
    pairs: dict[tuple[str, str], Calibrated]
    """Of ratings, the difference of two systems; of pairs, how often the first wins."""
    witnesses: list[str]
    captions: int
    """All captions, or pairs of captions, whose scores are known."""
    answers: int
    """Ratings of people, or votes."""
    level: float
    is_choice: bool
    plan: list[Planned] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Of how many captions a witness has no score: the first line of tables."""
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap calibrate`."""
        return {
            "sacrecap": self.version,
            "of": self.of,
            **self.overall.to_dict(),
            "captions": self.captions,
            "answers": self.answers,
            "level": self.level,
            "witnesses": self.witnesses,
            "systems": {name: system.to_dict() for name, system in self.systems.items()},
            "pairs": [{"a": a, "b": b, **pair_estimate.to_dict()} for (a, b), pair_estimate in self.pairs.items()],
            **({"plan": [vars(step) for step in self.plan]} if self.plan else {}),
            **({"missing": self.missing} if self.missing else {}),
            "notes": self.notes,
        }


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

    @classmethod
    def of(
        cls,
        ratings: Floats,
        weights: Floats,
        rows: Numbers,
        scores: Floats,
        images: Numbers,
        groups: Numbers,
        *,
        is_finite: bool,
    ) -> Evidence:
        """That of ratings and weights of some rows of all captions; a witness whose spread is rounding has no
        covariance.
        """
        counts = np.bincount(groups)
        means = _sums(scores, groups) / counts[:, None]
        apart = scores - means[groups]
        covariance: Floats = apart.T @ apart / max(len(scores) - len(counts), 1)
        is_flat = np.diag(covariance) <= (1e-12 * np.maximum(1.0, np.abs(scores).max(axis=0))) ** 2
        covariance[is_flat], covariance[:, is_flat] = 0.0, 0.0
        held = np.zeros((len(counts), int(images.max()) + 1))
        np.add.at(held, (groups, images), 1.0)
        together = held @ held.T - np.diag(held.sum(axis=1))
        of_rows = ratings, scores[rows], images[rows], groups[rows]
        return cls(*of_rows, means, covariance, counts.astype(np.float64), together, weights, is_finite)

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
        """The ratings without the luck of the draw: a_i above, by γ of each caption, estimated without its image."""
        deviations, correlations = self._scaled
        w, y, x = self.weights, self.ratings, self.scores / deviations
        g = np.unique(self.groups, return_inverse=True)[1]
        total, square = np.bincount(g, w), np.bincount(g, w * w)
        spare = total - square / total
        dy = y - (np.bincount(g, w * y) / total)[g]
        dx = x - (_sums(x * w[:, None], g) / total[:, None])[g]
        products, freedom = (w * dy) @ dx, spare.sum()
        # What an image takes with it: the products inside its captions of a group, and those of their mean.
        image = np.unique(self.images, return_inverse=True)[1]
        cells, cell = np.unique(image * (g.max() + 1) + g, return_inverse=True)
        of_image, of_group = cells // (g.max() + 1), cells % (g.max() + 1)
        cell_weight, own_square = np.bincount(cell, w), np.bincount(cell, w * w)
        cell_y, cell_x = np.bincount(cell, w * dy) / cell_weight, _sums(dx * w[:, None], cell) / cell_weight[:, None]
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
        gamma = (fitted / deviations * max(0.0, 1 - chance / max(explained, 1e-12)))[image]
        residuals: Floats = y - ((self.scores - self.means[self.groups]) * gamma).sum(axis=1)
        return residuals


def _sums(rows: Floats, of: Numbers) -> Floats:
    """The sums of the rows of each number."""
    return np.stack([np.bincount(of, column) for column in rows.T], axis=1)


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

    def fitted(self, value: float, expected: Floats, weights: Floats, of_groups: Chosen, by: int) -> Figure:
        """A figure of several groups at once, for which `by` numbers were fitted: what was expected of each rated
        caption, and how much the figure moves with it.
        """
        count = float(self.rated.counts[of_groups].sum())
        spread = math.sqrt(count / max(count - by, 1.0))
        figure = self.pulled(value, weights * (self.values - expected) * spread, of_groups)
        return figure._replace(freedom=max(1.0, count - by), skew=0.0)

    def pulled(self, value: float, pulls: Floats, of_groups: Chosen) -> Figure:
        """A figure by how much each rated caption pulls it, pulls being scaled for what was fitted."""
        rated = self.rated
        is_of_groups = of_groups[rated.groups]
        pulls = (pulls * np.sqrt(1 - rated.inclusion))[is_of_groups]
        image, group = self._images[is_of_groups], rated.groups[is_of_groups]
        beside = np.bincount(image)
        of_image = float((beside * (beside - 1)).sum())
        share = np.where(of_groups, np.minimum(1.0, rated.counts / rated.sizes), 0.0)
        excess = max(0.0, 1 - float(share @ rated.together @ share) / of_image) if of_image else 0.0
        by_image = np.bincount(image, pulls)
        variance = (1 - excess) * float(pulls @ pulls) + excess * float(by_image @ by_image)
        # Satterthwaite's degrees of freedom, of variances of groups that may share images, captions being independent.
        used, group = np.unique(group, return_inverse=True)
        counts = np.bincount(group).astype(np.float64)
        left = np.maximum(counts - 1, 0.0)
        spread = np.bincount(group, pulls**2) / np.maximum(left, 1.0)
        held = np.zeros((len(used), len(by_image)))
        np.add.at(held, (group, image), 1.0)
        shared = held @ held.T
        inverse = 1 / counts
        traces = shared - shared * (inverse[:, None] + inverse) + shared**2 * np.outer(inverse, inverse)
        traces *= excess**2
        np.fill_diagonal(traces, left)
        below = float(spread @ traces @ spread)
        freedom = max(1.0, float(spread @ left) ** 2 / below) if below > 0 else 1.0
        return Figure(value, variance, freedom, float((pulls**3).sum()))


PLANNED = (20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000)
"""Numbers of rated captions in a plan."""
MOST_SKEWED = 0.3
"""The share of half its length by which an interval is moved, at most, to where ratings are skewed."""
NO_BOUNDS: Interval = (-math.inf, math.inf)


class Teller:
    """Makes calibrated figures of what was rated, at a level: each from the ratings alone, and with the witnesses."""

    def __init__(self, rated: Evidence, level: float, *, shares: bool) -> None:
        """`shares`: figures are of choices or of yes, from 0 to 1, which they reach where all agree."""
        self.rated, self.level, self.shares = rated, level, shares
        alone = Estimates(rated, rated.ratings)
        self.sides = [alone, Estimates(rated, rated.adjusted()) if rated.weighs else alone]

    def mean(self, parts: Floats, bounds: Interval) -> Calibrated:
        """The sum of the groups' means, each times its part."""
        return self._sentence(
            [side.mean(parts) for side in self.sides], parts != 0, bounds, is_difference=not parts.sum()
        )

    def together(self, parts: Floats, bounds: Interval) -> Calibrated:
        """The same of groups that are too few to have a variance each: one of all."""
        groups, figures = self.rated.groups, []
        for side in self.sides:
            value = float(parts @ side.means)
            expected, weights = np.full(len(groups), value), parts[groups] * side.shares
            figures.append(side.fitted(value, expected, weights, parts != 0, 1))
        return self._sentence(figures, parts != 0, bounds)

    def strengths(self, pairs: npt.NDArray[np.int64], systems: int) -> list[Calibrated] | None:
        """θ of Bradley and Terry (1952) of each system, by the shares that the first of each pair, shape (groups, 2),
        wins of all its games; None where no finite θ fits.
        """
        first, second = pairs.T
        sizes = np.where(self.rated.counts > 0, self.rated.sizes, 0.0)
        sides: list[list[Figure]] = []
        everything = self.rated.counts > 0
        for side in self.sides:
            won = np.zeros((systems, systems))
            np.add.at(won, (first, second), sizes * side.means)
            np.add.at(won, (second, first), sizes * (1 - side.means))
            solved = bradley_terry(won)
            if solved is None:
                return None
            theta, inverse = solved
            expected = (1 / (1 + np.exp(theta[second] - theta[first])))[self.rated.groups]
            moved = ((inverse[:, first] - inverse[:, second]) * sizes)[:, self.rated.groups] * side.shares
            fitted = (
                side.fitted(float(value), expected, weights, everything, systems - 1)
                for value, weights in zip(theta, moved, strict=True)
            )
            sides.append([*fitted])
        return [
            self._sentence(list(figures), everything & (pairs == system).any(axis=1), NO_BOUNDS)
            for system, figures in enumerate(zip(*sides, strict=True))
        ]

    def _sentence(
        self, figures: list[Figure], of_groups: Chosen, bounds: Interval, *, is_difference: bool = False
    ) -> Calibrated:
        rated = of_groups[self.rated.groups]
        n, captions = int(rated.sum()), float(self.rated.sizes[of_groups].sum())
        images = len(np.unique(self.rated.images[rated]))
        alone, with_ratings = figures
        values = [_within(figure.value, bounds) for figure in figures]
        tiny = [figure.variance <= (1e-9 * max(1.0, abs(figure.value))) ** 2 for figure in figures]
        is_whole = self.rated.is_finite and n >= captions
        # Where all agree, what one may be wrong by is known exactly; and where all are rated, nothing is to be guessed.
        if is_whole or (self.shares and bounds != NO_BOUNDS and tiny[0]):
            with_ratings, values[1], tiny[1] = alone, values[0], True
        intervals = [
            (value, value)
            if is_whole
            else opened((value, value), value, (None, None) if bounds == NO_BOUNDS else bounds, images, self.level)
            if empty
            else self._interval(value, figure, bounds, values[0], is_difference)
            for value, figure, empty in zip(values, (alone, with_ratings), tiny, strict=True)
        ]
        ratio = 1.0 if tiny[0] or is_whole else math.inf if tiny[1] else alone.variance / with_ratings.variance
        worth = min(n * ratio, max(captions, n))
        return Calibrated(values[1], intervals[1], n, worth, images, values[0], intervals[0])

    def _interval(self, value: float, figure: Figure, bounds: Interval, alone: float, is_difference: bool) -> Interval:
        half = reach(self.level, figure)
        if bounds != NO_BOUNDS and not is_difference:
            least, most = bounds
            scale = most - least
            spread = max((mean - least) * (most - mean) for mean in (value, alone)) / scale**2
            low, high = wilson((value - least) / scale, figure.variance / scale**2, half / scale, spread)
            return least + scale * low, least + scale * high
        # Where the mean lies if ratings are skewed (Johnson, JASA 1978). Of a difference two skews all but cancel, and
        # what few ratings say of the rest is too uncertain to shorten an interval by it.
        skew = figure.skew / figure.variance * (1 + 2 * (half * half / figure.variance)) / 6
        skew = min(max(skew, -MOST_SKEWED * half), MOST_SKEWED * half)
        below, above = (min(skew, 0.0), max(skew, 0.0)) if is_difference else (skew, skew)
        return _within(value + below - half, bounds), _within(value + above + half, bounds)

    def planned(self, parts: Floats) -> list[Planned]:
        """Half the length of the interval of a mean at other numbers of rated captions, drawn as these were."""
        captions, now = float(self.rated.sizes.sum()), float(len(self.rated.ratings))
        alone, weighed = (side.mean(parts) for side in self.sides)
        least = len(self.rated.sizes) + self.rated.told + SPARE
        beyond = 1 / captions if self.rated.is_finite else 0.0
        left = 1 / now - beyond
        figures = []
        for n in [n for n in PLANNED if n < captions] + [int(captions)]:
            factor = (1 / n - beyond) / left if left > 0 else 0.0
            halves = [
                reach(self.level, Figure(0.0, estimate.variance * factor, max(1.0, estimate.freedom * n / now)))
                for estimate in (alone, weighed)
            ]
            figures.append(Planned(n, halves[0], halves[1] if n >= least else halves[0]))
        return figures


def _within(value: float, bounds: Interval) -> float:
    return min(max(value, bounds[0]), bounds[1])


def reach(level: float, figure: Figure) -> float:
    """Half the length of the interval; Student's quantile is between those of whole degrees of freedom."""
    below = max(1, math.floor(figure.freedom))
    part = (1 / below - 1 / max(figure.freedom, 1.0)) * below * (below + 1)
    share = (1 + level) / 2
    quantile = (1 - part) * student(share, below) + part * student(share, below + 1)
    return quantile * math.sqrt(figure.variance)


def wilson(share: float, variance: float, half: float, spread: float) -> Interval:
    """Wilson's interval (JASA 1927) of a share, or of a mean on a scale from 0 to 1: of as many choices as would have
    this variance, where one choice has the `spread`; `half` is the half length of Student's.
    """
    many = max(spread, 1e-12) / variance
    t = half / math.sqrt(variance)
    middle = (share + t * t / (2 * many)) / (1 + t * t / many)
    wide = t / (1 + t * t / many) * math.sqrt(variance + t * t / (4 * many * many))
    return max(0.0, middle - wide), min(1.0, middle + wide)
