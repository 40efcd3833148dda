"""What was said of few captions beside the scores of all: rated captions, or choices between two systems' captions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sacrecap.errors import DataError
from sacrecap.judgments.calibration.adjusted import Evidence

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.judgments.datasets.opinions import Opinions
    from sacrecap.resources.outside_scores import OutsideScores

    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]

STEEP = 1.5
"""How fast a difference of scores, in deviations, becomes a choice: people choose no more than always."""
FAR = 4.0
"""Standard errors by which the rated captions' scores may differ from all captions' before a note asks why."""
Pair: TypeAlias = "tuple[str, str]"
"""Two systems, in the order of the scores."""
Rows: TypeAlias = "tuple[int, int]"
"""The rows of the scores of the two captions of a pair."""


@dataclass(frozen=True, eq=False)
class RatedSample:
    """Rated captions of groups (systems, or pairs of systems), and how many captions each group has."""

    rated: Evidence
    groups: list[str] | list[tuple[str, str]]
    sizes: Floats
    """Captions of each group, rated or not."""
    answers: int
    is_choice: bool
    notes: list[str]


def _matrix(scores: OutsideScores, witnesses: Sequence[str]) -> tuple[Floats, list[str]]:
    """The scores, and notes on those that are missing.

    A witness says nothing of a caption without a score: it stands at the mean of its system's others. What is known of
    every caption, rated or not, may predict ratings; so the estimate stays right, and every rating counts.
    """
    columns: Floats = np.array([scores.columns[name] for name in witnesses], dtype=np.float64).T
    lacking = np.isnan(columns)
    group = np.unique(scores.systems or ["all"] * scores.rows, return_inverse=True)[1]
    for witness in np.flatnonzero(lacking.any(axis=0)):
        own = columns[:, witness]
        for number in np.unique(group[lacking[:, witness]]):
            known = own[(group == number) & ~lacking[:, witness]]
            own[(group == number) & lacking[:, witness]] = known.mean() if len(known) else np.nanmean(own)
    notes = [
        f"{count:,} of {scores.rows:,} captions {'has' if count == 1 else 'have'} no score by {name}, which says "
        "nothing there; ratings count all the same."
        for name, count in zip(witnesses, lacking.sum(axis=0).tolist(), strict=True)
        if count
    ]
    return columns, notes


def _merged(keys: Sequence[int], values: Sequence[float]) -> tuple[Numbers, Floats]:
    """Each key once, with the mean of its values."""
    known, places = np.unique(np.asarray(keys, dtype=np.int64), return_inverse=True)
    means: Floats = np.bincount(places, np.asarray(values, dtype=np.float64)) / np.bincount(places)
    return known, means


def of_ratings(scores: OutsideScores, witnesses: list[str], said: Opinions) -> RatedSample:
    """Rated captions of systems. Raises `DataError` for a system of which fewer than two images are rated."""
    matrix, lacking = _matrix(scores, witnesses)
    [side] = said.sides
    found = scores.find(said.images, side.captions, side.systems)
    (rows, ratings), (_, inclusion) = _merged(found, said.values), _merged(found, said.inclusion)
    systems = list(dict.fromkeys(scores.systems or ["all"]))
    group = np.array([systems.index(name) for name in scores.systems or ["all"] * scores.rows])
    means = np.array([matrix[group == number].mean(axis=0) for number in range(len(systems))])
    images = np.unique(np.array(scores.images), return_inverse=True)[1]
    rated = Evidence(ratings, matrix[rows], images[rows], group[rows], means, _deviations(matrix), 1 / inclusion)
    few = [name for number, name in enumerate(systems) if len(np.unique(rated.images[rated.groups == number])) < 2]
    if few:
        of = "" if len(systems) == 1 else f" of {', '.join(few)}"
        raise DataError(
            f"{said.source}: captions{of} of fewer than 2 images are rated; rate more, or leave these rows out of "
            f"{scores.source}"
        )
    notes = lacking + _chosen_by_scores(rated, matrix, witnesses)
    sizes = np.bincount(group).astype(np.float64)
    return RatedSample(rated, systems, sizes, said.answers, is_choice=False, notes=notes)


def _deviations(matrix: Floats) -> Floats:
    """The deviation of each column; 0 where it is only rounding."""
    found = matrix.std(axis=0)
    known: Floats = np.where(found > 1e-12 * np.maximum(1.0, np.abs(matrix).max(axis=0)), found, 0.0)
    return known


def _chosen_by_scores(rated: Evidence, matrix: Floats, witnesses: list[str]) -> list[str]:
    """A note where the rated captions are not like the others by a witness, as those drawn at random are."""
    expected = rated.deviations * math.sqrt((rated.weights**2).sum()) / rated.weights.sum()
    distance = np.abs(np.average(rated.scores, axis=0, weights=rated.weights) - matrix.mean(axis=0))
    far = [name for name, own, one in zip(witnesses, distance, expected, strict=True) if own > FAR * one > 0]
    if not far:
        return []
    found = f"The rated captions have other scores by {', '.join(far)} than all captions have"
    return [f"{found}: the figures hold for captions that are drawn at random."]


def of_choices(scores: OutsideScores, witnesses: list[str], said: Opinions) -> RatedSample:
    """Pairs of systems are groups; every image of which both have a caption is a pair of captions."""
    if scores.systems is None:
        raise DataError(f"{scores.source}: no column system; choices tell how often one system wins against another")
    (matrix, lacking), images = _matrix(scores, witnesses), scores.images or []
    names = list(dict.fromkeys(scores.systems))
    of_pair = _pairs_of_captions(scores.systems, images, names)
    judged = _votes(scores, said, names)
    kept = [pair for pair in of_pair if len({images[one] for one, _ in judged.get(pair, ())}) > 1]
    if not kept:
        raise DataError(f"{said.source}: no two systems were compared on 2 images or more; ask for more votes")
    left = [" and ".join(pair) for pair in of_pair if pair not in kept]
    notes = [*lacking, *([f"Left out, for lack of votes on 2 images: {'; '.join(left)}."] if left else [])]
    differences = {pair: np.array([matrix[one] - matrix[other] for one, other in of_pair[pair]]) for pair in kept}
    scale = np.vstack(list(differences.values())).std(axis=0)
    scale[scale == 0] = 1.0

    def choice(difference: Floats) -> Floats:
        saturated: Floats = np.tanh(STEEP * difference / scale)
        return saturated

    rows = [(number, key, votes) for number, pair in enumerate(kept) for key, votes in judged[pair].items()]
    rated = Evidence(
        np.array([np.mean([share for share, _ in votes]) for _, _, votes in rows]),
        np.array([choice(matrix[key[0]] - matrix[key[1]]) for _, key, _ in rows]),
        np.unique([images[key[0]] for _, key, _ in rows], return_inverse=True)[1],
        np.array([number for number, _, _ in rows]),
        np.array([choice(differences[pair]).mean(axis=0) for pair in kept]),
        _deviations(choice(np.vstack(list(differences.values())))),
        np.array([1 / np.mean([inclusion for _, inclusion in votes]) for _, _, votes in rows]),
    )
    sizes = np.array([len(of_pair[pair]) for pair in kept], dtype=np.float64)
    return RatedSample(rated, kept, sizes, said.answers, is_choice=True, notes=notes)


def _pairs_of_captions(systems: Sequence[str], images: Sequence[str], names: Sequence[str]) -> dict[Pair, list[Rows]]:
    """The pairs of captions of every two systems: of each image that both describe."""
    place = {(systems[row], image): row for row, image in enumerate(images)}
    return {
        (a, b): [
            (place[a, image], place[b, image])
            for image in dict.fromkeys(images)
            if (a, image) in place and (b, image) in place
        ]
        for a, b in combinations(names, 2)
    }


def _votes(
    scores: OutsideScores, said: Opinions, names: Sequence[str]
) -> dict[Pair, dict[Rows, list[tuple[float, float]]]]:
    """The shares of votes for the first system's caption, with their inclusion, by pair of systems and of captions.

    Raises `DataError` for a pair of two captions of one system.
    """
    systems, images = scores.systems or [], scores.images or []
    b, c = (scores.find(said.images, side.captions, side.systems) for side in said.sides)
    votes: dict[Pair, dict[Rows, list[tuple[float, float]]]] = {}
    for one, other, share, inclusion in zip(b, c, said.values, said.inclusion, strict=True):
        if systems[one] == systems[other]:
            raise DataError(
                f"{said.source}: a pair of two captions of {systems[one]}, image {images[one]}; leave it out"
            )
        if names.index(systems[one]) > names.index(systems[other]):
            one, other, share = other, one, 1 - share  # noqa: PLW2901 - seen from the first system
        votes.setdefault((systems[one], systems[other]), {}).setdefault((one, other), []).append((share, inclusion))
    return votes
