"""Scores of all captions × ratings of a few → what people would say of all.

A sample is rated captions, or choices between two systems' captions, beside the scores of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from sacrecap import _core
from sacrecap.errors import DataError, UsageError, spelled
from sacrecap.judgments.bootstrap import Floats, image_numbers
from sacrecap.judgments.calibration.estimates import NO_BOUNDS, Calibrated, Calibration, Evidence, Teller
from sacrecap.judgments.datasets.read import Opinions, read_people
from sacrecap.resources.outside_scores import OutsideScores, read_scores, strays
from sacrecap.scoring.intervals import Interval

STEEP = 1.5
"""How fast a difference of scores, in deviations, becomes a choice: people choose no more than always."""
FAR = 4.0
"""Standard errors by which the rated captions' scores may differ from all captions' before a note asks why."""
Pair: TypeAlias = "tuple[str, str]"
"""Two systems, in the order of the scores."""
Rows: TypeAlias = "tuple[int, int]"
"""The rows of the scores of the two captions of a pair."""
Figures: TypeAlias = "tuple[Calibrated, str, dict[str, Calibrated], dict[Pair, Calibrated]]"
"""The first figure and what it is of, the systems', and the pairs'."""


def _matrix(scores: OutsideScores, witnesses: Sequence[str]) -> tuple[Floats, list[str]]:
    """The scores, and what is to be told of those that are missing.

    A witness says nothing of a caption without a score: it stands at the mean of its system's others. What is known of
    every caption, rated or not, may predict ratings; so the estimate stays right, and every rating counts.
    """
    columns: Floats = np.array([scores.columns[name] for name in witnesses], dtype=np.float64).T
    lacking = np.isnan(columns)
    group = np.unique(scores.systems or ["all"] * scores.rows, return_inverse=True)[1]
    for witness in np.flatnonzero(lacking.any(axis=0)):
        values = columns[:, witness]
        for number in np.unique(group[lacking[:, witness]]):
            scored = values[(group == number) & ~lacking[:, witness]]
            values[(group == number) & lacking[:, witness]] = scored.mean() if len(scored) else np.nanmean(values)
    missing = [
        f"{count:,} of {scores.rows:,} captions {'has' if count == 1 else 'have'} no score by {name}, which says "
        "nothing there; ratings count all the same."
        for name, count in zip(witnesses, lacking.sum(axis=0).tolist(), strict=True)
        if count
    ]
    return columns, missing


def _once(scores: OutsideScores) -> tuple[OutsideScores, list[str]]:
    """Each caption once, with a note where rows are doubled."""
    names = filter(None, (scores.images, scores.systems, scores.captions))
    rows: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(zip(*names, *(map(repr, column) for column in scores.columns.values()), strict=True)):
        rows.setdefault(key, row)
    doubled = scores.rows - len(rows)
    if not doubled:
        return scores, []
    many = "1 row is there twice and counts" if doubled == 1 else f"{doubled:,} rows are there twice and count"
    return scores.select([*rows.values()]), [f"{scores.source}: {many} once."]


def of_ratings(
    scores: OutsideScores, matrix: Floats, opinions: Opinions, witnesses: Sequence[str], notes: list[str]
) -> tuple[Evidence, list[str]]:
    """Rated captions of systems, and their names; notes are added. Raises `DataError` for a system of fewer than 2."""
    rows, place_of = np.unique(scores.find(opinions.images, *opinions.sides[0]), return_inverse=True)
    ratings, inclusion = (
        np.bincount(place_of, values) / np.bincount(place_of) for values in (opinions.values, opinions.inclusion)
    )
    names = scores.systems or ["all"] * scores.rows
    systems, group = list(dict.fromkeys(names)), image_numbers(names).astype(np.int64)
    images = np.unique(np.array(scores.images), return_inverse=True)[1]
    rated = Evidence.of(ratings, 1 / inclusion, rows, matrix, images, group, is_finite=True)
    few = [
        name
        for number, name in enumerate(systems)
        if len(np.unique(rated.images[rated.groups == number])) < min(2, len(np.unique(images[group == number])))
    ]
    if few:
        of = "" if len(systems) == 1 else f" of {', '.join(few)}"
        raise DataError(
            f"{opinions.source}: captions{of} of fewer than 2 images are rated; rate more, or leave these rows out of "
            f"{scores.source}"
        )
    # Captions that are drawn at random are like the others by every witness.
    expected = matrix.std(axis=0) * math.sqrt((rated.weights**2).sum()) / rated.weights.sum()
    distance = np.abs(np.average(rated.scores, axis=0, weights=rated.weights) - matrix.mean(axis=0))
    far = [name for name, gap, spread in zip(witnesses, distance, expected, strict=True) if gap > FAR * spread > 1e-12]
    if far:
        other = f"The rated captions have other scores by {', '.join(far)} than all captions have"
        notes.append(f"{other}: the figures hold for captions that are drawn at random.")
    return rated, systems


def of_choices(
    scores: OutsideScores, matrix: Floats, opinions: Opinions, notes: list[str]
) -> tuple[Evidence, list[Pair]]:
    """Pairs of systems are groups; every image of which both have a caption is a pair of captions. Notes are added."""
    if scores.systems is None:
        raise DataError(f"{scores.source}: no column system; choices tell how often one system wins against another")
    names, images = list(dict.fromkeys(scores.systems)), scores.images or []
    place_of = {(system, image): row for row, (system, image) in enumerate(zip(scores.systems, images, strict=True))}
    of_pair = {
        (a, b): [
            (place_of[a, image], place_of[b, image])
            for image in dict.fromkeys(images)
            if (a, image) in place_of and (b, image) in place_of
        ]
        for a, b in combinations(names, 2)
    }
    judged = _votes(scores, opinions, names)
    of_pair = _that_differ(of_pair, judged, scores, matrix, notes)
    judged_pairs = [pair for pair in of_pair if judged.get(pair)]
    if not any(len({images[row] for row, _ in judged[pair]}) > 1 for pair in judged_pairs):
        raise DataError(f"{opinions.source}: no two systems were compared on 2 images or more; ask for more votes")
    if left := [" and ".join(pair) for pair in of_pair if pair not in judged_pairs]:
        notes.append(f"Left out, for lack of votes: {'; '.join(left)}.")
    group = np.repeat(np.arange(len(judged_pairs)), [len(of_pair[pair]) for pair in judged_pairs])
    rows = np.array([row for pair in judged_pairs for row in of_pair[pair]])
    differences = matrix[rows[:, 0]] - matrix[rows[:, 1]]
    scale = differences.std(axis=0)
    scale[scale == 0] = 1.0
    choice = np.tanh(STEEP * differences / scale)
    image = np.unique([images[row] for row in rows[:, 0]], return_inverse=True)[1]
    place = {(first, second): number for number, (first, second) in enumerate(rows.tolist())}
    votes = {place[key]: choices for pair in judged_pairs for key, choices in judged[pair].items()}
    shares, inclusion = np.array(
        [[np.mean(parts) for parts in zip(*of_key, strict=True)] for of_key in votes.values()]
    ).T
    return Evidence.of(shares, 1 / inclusion, np.array([*votes]), choice, image, group, is_finite=False), judged_pairs


def _that_differ(
    of_pair: dict[Pair, list[Rows]],
    judged: Mapping[Pair, Mapping[Rows, object]],
    scores: OutsideScores,
    matrix: Floats,
    notes: list[str],
) -> dict[Pair, list[Rows]]:
    """The pairs of captions whose texts, or else scores, differ, where nobody was asked about others; with a note."""
    alike: Sequence[object] = list(map(tuple, matrix.tolist()))
    what = "equal scores by every witness"
    if scores.captions is not None:
        alike, what = list(map(str.strip, scores.captions)), "equal captions"
    equal = {(a, b) for pair_rows in of_pair.values() for a, b in pair_rows if alike[a] == alike[b]}
    rows_judged = {rows for pair_rows in judged.values() for rows in pair_rows}
    if not equal:
        return of_pair
    total = sum(map(len, of_pair.values()))
    have = f"{len(equal):,} of {total:,} pairs have {what}"
    if equal & rows_judged or (scores.captions is None and (1 - len(equal) / total) ** len(rows_judged) > 0.01):
        notes.append(f"{have}; they count as people chose, a tie as half.")
        return of_pair
    notes.append(f"{have}, and nobody was asked about them: win shares are of pairs that differ.")
    differing = {pair: [rows for rows in pair_rows if rows not in equal] for pair, pair_rows in of_pair.items()}
    return {pair: pair_rows for pair, pair_rows in differing.items() if pair_rows}


def _votes(
    scores: OutsideScores, opinions: Opinions, names: Sequence[str]
) -> dict[Pair, dict[Rows, list[tuple[float, float]]]]:
    """The votes for the first system's caption, with their inclusion, by pair of systems and of captions."""
    systems, images = scores.systems or [], scores.images or []
    b, c = (scores.find(opinions.images, *side) for side in opinions.sides)
    votes: dict[Pair, dict[Rows, list[tuple[float, float]]]] = {}
    for row_b, row_c, share, inclusion in zip(b, c, opinions.values, opinions.inclusion, strict=True):
        if systems[row_b] == systems[row_c]:
            raise DataError(
                f"{opinions.source}: a pair of two captions of {systems[row_b]}, image {images[row_b]}; leave it out"
            )
        if names.index(systems[row_b]) > names.index(systems[row_c]):
            row_b, row_c, share = row_c, row_b, 1 - share  # noqa: PLW2901 - seen from the first system
        votes.setdefault((systems[row_b], systems[row_c]), {}).setdefault((row_b, row_c), []).append((share, inclusion))
    return votes


def calibrate(
    scores: str | PathLike[str] | Mapping[str, Sequence[Any]] | Any,
    ratings: str | PathLike[str],
    *,
    witnesses: Iterable[str] | None = None,
    rating: str | None = None,
    rating_range: tuple[float, float] | None = None,
    raters: str | None = None,
    words: Mapping[str, str] | None = None,
    interval: float = 0.95,
    plan: bool = False,
) -> Calibration:
    """What people would say of all captions, from few ratings and many scores.

    Args:
        scores: a row per caption with its scores by one witness or several (metrics, judges): a file as for `scores` of
            [`sacrecap.score`][], columns, or a DataFrame. The rows are all captions.
        ratings: what people said of some of them: a file with `image_id`, `system` or `caption`, and `rating`, or the
            export of a study, of ratings or of pairs. Captions that were not drawn alike have `inclusion`, in
            proportion to the probability of their draw.
        witnesses: the columns of `scores` that are used; all by default.
        rating: which rating, where captions have several.
        rating_range: the smallest and the largest rating that there can be. Needed where all rated captions have one
            rating, of which an interval cannot be told otherwise.
        raters: the columns of one rater each, such as `R*`; columns like `rater_1` are found without.
        words: what other words stand for, such as `{"model_a": "b", "model_b": "c", "unsure": "tie"}`.
        interval: its level.
        plan: whether to tell how long the interval would be with other numbers of ratings.

    Raises:
        DataError: the files cannot be used, or do not fit together.
        UsageError: an unknown witness, or an unacceptable value.
    """
    if not 0 < interval < 1:
        raise UsageError(f"interval must be a level between 0 and 1, as 0.95, got {interval}")
    of_all = read_scores(scores)
    if of_all.images is None:
        raise DataError(f"{of_all.source}: no column image_id; it names which rating belongs to which scores")
    chosen = list(of_all.columns) if witnesses is None else list(witnesses)
    unknown = [name for name in chosen if name not in of_all.columns]
    if unknown or not chosen:
        named = ", ".join(unknown) or "that was named"
        raise UsageError(f"{of_all.source} has no column {named}; it has {', '.join(of_all.columns)}")
    opinions = read_people(ratings, aspect=rating, bounds=rating_range, raters=raters, words=words)
    of_all, doubled = _once(of_all)
    matrix, missing = _matrix(of_all, chosen)
    outliers = (strays(of_all.columns[name], f"{of_all.source}, column {name}") for name in chosen)
    notes = [*opinions.notes, *doubled, *chain(*outliers)]
    if opinions.is_choice:
        rated, judged_pairs = of_choices(of_all, matrix, opinions, notes)
        teller = Teller(rated, interval, shares=True)
        overall, of, systems, pairs = _choices(judged_pairs, teller, notes)
    else:
        rated, names = of_ratings(of_all, matrix, opinions, chosen, notes)
        bounds = rating_range or ((0.0, 1.0) if {*rated.ratings.tolist()} <= {0.0, 1.0} else None)
        teller = Teller(rated, interval, shares=bounds == (0.0, 1.0))
        overall, of, systems, pairs = _means(names, teller, bounds, notes)
    if overall.interval is None:
        scale = spelled(python="rating_range=(1, 5)", command="--rating-range 1,5")
        notes.append(f"No interval: all rated captions have one rating; name the scale, such as {scale}.")
    if overall.alone_interval and not overall.alone_interval[0] <= overall.estimate <= overall.alone_interval[1]:
        away = f"With the witnesses, {of} is outside of the interval of the ratings alone, as chance has it rarely"
        notes.append(f"{away}: were the rated captions drawn at random, and are the scores right?")
    planned = np.eye(len(rated.sizes))[0] if opinions.is_choice else rated.sizes / rated.sizes.sum()
    return Calibration(
        _core.__version__,
        of,
        overall,
        systems,
        pairs,
        chosen,
        int(rated.sizes.sum()),
        opinions.answers,
        interval,
        opinions.is_choice,
        teller.planned(planned) if plan else [],
        missing,
        notes,
    )


def _means(systems: list[str], teller: Teller, bounds: Interval | None, notes: list[str]) -> Figures:
    """The mean rating of all captions, that of each system, and the difference of each two."""
    rated = teller.rated
    notes += _of_witnesses(rated)
    least, most = bounds or (float(rated.ratings.min()), float(rated.ratings.max()))
    seen = (least, most) if bounds or least < most else NO_BOUNDS

    def mean(parts: Floats) -> Calibrated:
        """Within the scale; the ratings that were seen bound what has no width, where no scale is named."""
        estimate = teller.mean(parts, bounds or NO_BOUNDS)
        return teller.mean(parts, seen) if estimate.interval is None or estimate.alone_interval is None else estimate

    groups = np.eye(len(systems))
    overall, wide = mean(rated.sizes / rated.sizes.sum()), (seen[0] - seen[1], seen[1] - seen[0])
    by_system = {name: mean(parts) for name, parts in zip(systems, groups, strict=True)} if len(systems) > 1 else {}
    differences = {
        (systems[a], systems[b]): teller.mean(groups[a] - groups[b], wide)
        for a, b in combinations(range(len(systems)), 2)
    }
    return overall, "the mean rating of all captions", by_system, differences


def _of_witnesses(rated: Evidence) -> list[str]:
    """Notes on what the witnesses tell."""
    if not rated.weighs:
        return [
            f"The ratings alone: {len(rated.ratings):,} ratings are too few to weigh the witnesses."
            if rated.covariance.any()
            else "The ratings alone: the witnesses give all captions one score."
        ]
    spread = rated.scores - rated.means[rated.groups]
    design = np.hstack([np.eye(len(rated.sizes))[rated.groups], spread])
    fitted = design @ np.linalg.lstsq(design, rated.ratings, rcond=None)[0]
    is_told = np.abs(fitted - rated.ratings).max() <= 1e-9 * max(1.0, float(np.abs(rated.ratings).max()))
    if not is_told or not np.ptp(rated.ratings) or len(rated.sizes) == len(rated.ratings):
        return []
    return [f"The witnesses tell all {len(rated.ratings):,} ratings exactly; of the other captions this is not known."]


def _choices(groups: list[Pair], teller: Teller, notes: list[str]) -> Figures:
    """How often the first system wins, the systems' strengths, and the win rate of each pair."""
    rated, share = teller.rated, (0.0, 1.0)
    notes += _of_witnesses(rated)
    images = [len(np.unique(rated.images[rated.groups == number])) for number in range(len(groups))]
    pairs = {
        pair: teller.mean(np.eye(len(groups))[number], share)
        for number, pair in enumerate(groups)
        if images[number] > 1
    }
    if len(pairs) < len(groups):
        few = "; ".join(" and ".join(pair) for pair in groups if pair not in pairs)
        notes.append(f"No figure of their own, for votes on 1 image alone: {few}.")
    first = groups[0][0]
    of_first = np.array([pair[0] == first for pair in groups])
    parts = np.where(of_first, rated.sizes, 0.0) / rated.sizes[of_first].sum()
    enough = all(count > 1 for count, present in zip(images, of_first, strict=True) if present)
    overall = (teller.mean if enough else teller.together)(parts, share)
    of = f"the share of choices that {first} wins"
    if len(groups) == 1:
        return overall, of, {}, pairs
    names = list(dict.fromkeys(name for pair in groups for name in pair))
    strengths = teller.strengths(np.array([[names.index(name) for name in pair] for pair in groups]), len(names))
    if strengths is None:
        notes.append("No strengths: a system wins or loses every choice, or systems were not compared with each other.")
    return overall, of, dict(zip(names, strengths or (), strict=False)), pairs
