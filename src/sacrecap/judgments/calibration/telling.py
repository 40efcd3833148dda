"""The captions whose ratings would tell most: drawn the more often the less their scores predict what people say.

    inclusion_i ∝ σ(predicted rating of caption i)            at most one draw of each caption

σ is how far the first ratings lie from their predictions: the root mean square of an eighth of the captions with alike
predictions. With inclusion ∝ σ the estimate of a mean has the least variance (Neyman 1934), and 1 / inclusion as weight
keeps it unbiased (Horvitz and Thompson 1952). The inclusion is told in those of a plain draw, so that ratings of both
draws make one estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from sacrecap.errors import DataError, UsageError, some
from sacrecap.judgments.calibration.calibrate import chosen_witnesses, sample_of, scores_by_image
from sacrecap.judgments.datasets.opinions import read_people

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.judgments.calibration.samples import RatedSample
    from sacrecap.resources.outside_scores import OutsideScores

    Floats = npt.NDArray[np.float64]

PARTS = 8
"""Parts of the captions with alike predictions, each with a σ of its own."""
PRIOR = 3
"""As many rated captions with the σ of all are added to each part."""
LEAST = 0.2
"""The least σ of a part, in that of all: a part that looks certain is asked about nevertheless."""

Question = tuple[str, Sequence[tuple[str, str]]]
"""An image, and who wrote which caption: one caption, or the two of a pair."""


def telling(
    questions: Sequence[Question],
    number: int,
    scores: str | PathLike[str] | Any,
    ratings: str | PathLike[str],
    *,
    witnesses: Iterable[str] | None = None,
    rating: str | None = None,
    seed: int = 0,
) -> dict[int, float]:
    """Draws the questions whose answers would tell most.

    Args:
        questions: that can be asked: of all captions of the scores that are not rated yet.
        number: how many are drawn.
        scores: as for [`sacrecap.judgments.calibrate`][].
        ratings: the first ratings, as for `calibrate`, of captions that were drawn at random.
        witnesses: as for `calibrate`.
        rating: as for `calibrate`.
        seed: of the draw.

    Returns:
        For each drawn question, by its place, its `inclusion`: how likely it was to be drawn, where 1 is a plain draw.

    Raises:
        DataError: the files cannot be used, do not fit together, or have captions about which there is no question.
        UsageError: an unknown witness, or fewer questions than are to be drawn.
    """
    known = scores_by_image(scores)
    sample = sample_of(known, chosen_witnesses(known, witnesses), read_people(ratings, aspect=rating))
    if not sample.rated.weighs:
        raise DataError(f"{ratings}: too few rated images to tell which captions the scores predict; rate more first")
    asked = {rows: place for place, rows in enumerate(_rows(known, questions))}
    unrated = [place for place, rows in enumerate(sample.all.rows) if rows not in sample.judged]
    rows = [frozenset(sample.all.rows[place]) for place in unrated]
    lacking = [" and ".join(_named(known, row) for row in sorted(one)) for one in rows if one not in asked]
    if lacking:
        raise DataError(f"{known.source} has captions about which there is no question: {some(lacking)}")
    if not 0 < number <= len(unrated):
        raise UsageError(f"{number:,} captions are to be drawn, of {len(unrated):,} that are not rated yet")
    chances = _chances(_spreads(sample)[unrated], number)
    drawn = _drawn(chances, sample.all.groups[unrated], seed)
    return {asked[rows[one]]: float(chances[one] * len(unrated) / number) for one in drawn}


def _rows(known: OutsideScores, questions: Sequence[Question]) -> list[frozenset[int]]:
    """The rows of the scores that each question is about."""
    found: list[list[int]] = [[] for _ in questions]
    for number in range(max((len(captions) for _, captions in questions), default=0)):
        images, captions = [image for image, _ in questions], [own[number] for _, own in questions]
        rows = known.find(images, [text for _, text in captions], [system for system, _ in captions])
        for own, row in zip(found, rows, strict=True):
            own.append(row)
    return list(map(frozenset, found))


def _named(known: OutsideScores, row: int) -> str:
    names = [column[row] for column in (known.images, known.systems) if column is not None]
    return " · ".join(names)


def _spreads(sample: RatedSample) -> Floats:
    """σ of each caption of the population."""
    rated, everybody = sample.rated, sample.all
    adjusted = rated.adjusted()
    names, groups = np.unique(rated.groups, return_inverse=True)
    means = np.bincount(groups, rated.weights * adjusted) / np.bincount(groups, rated.weights)
    squares = (adjusted - means[groups]) ** 2
    root = np.sqrt(rated.weights)[:, None]
    design = np.hstack([np.eye(len(names))[groups], rated.scores])
    fit = np.linalg.lstsq(root * design, root[:, 0] * rated.ratings, rcond=None)[0]
    of_all = np.hstack([np.eye(len(names))[np.searchsorted(names, everybody.groups)], everybody.scores]) @ fit
    cuts = np.quantile(of_all, np.arange(1, PARTS) / PARTS)
    part = np.searchsorted(cuts, design @ fit)
    common = float(np.average(squares, weights=rated.weights))
    weights = rated.weights / rated.weights.mean()
    sums, numbers = np.bincount(part, weights * squares, PARTS), np.bincount(part, weights, PARTS)
    spreads = np.sqrt((sums + PRIOR * common) / (numbers + PRIOR))
    found: Floats = np.maximum(spreads, LEAST * math.sqrt(common))[np.searchsorted(cuts, of_all)]
    return found


def _chances(spreads: Floats, number: int) -> Floats:
    """The probability of each to be among `number` drawn ones, in proportion to its σ, but 1 at most."""
    chances = np.ones(len(spreads))
    certain = np.zeros(len(spreads), dtype=bool)
    while not certain.all():
        left = ~certain
        total = spreads[left].sum()
        chances[left] = (number - certain.sum()) * (spreads[left] / total if total > 0 else 1 / left.sum())
        beyond = left & (chances > 1)
        if not beyond.any():
            break
        chances[beyond], certain = 1.0, certain | beyond
    return chances


def _drawn(chances: Floats, groups: npt.NDArray[np.int64], seed: int) -> list[int]:
    """A systematic draw, group after group, each in an order of chance: every group gets its share (Madow 1949)."""
    random = np.random.default_rng(seed)
    order = np.lexsort((random.random(len(chances)), groups))
    ends = np.cumsum(chances[order])
    steps = np.arange(round(float(ends[-1]))) + random.random()
    places = np.minimum(np.searchsorted(ends, steps, side="right"), len(chances) - 1)
    return sorted(order[places].tolist())
