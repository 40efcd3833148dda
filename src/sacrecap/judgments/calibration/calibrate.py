"""Scores of all captions × ratings of a few → what people would say of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from os import PathLike
from typing import Any

import numpy as np

from sacrecap import _core
from sacrecap.errors import DataError, UsageError, spelled
from sacrecap.judgments.calibration.calibration_result import Calibrated, Calibration
from sacrecap.judgments.calibration.samples import RatedSample, of_choices, of_ratings
from sacrecap.judgments.calibration.teller import NO_BOUNDS, Teller
from sacrecap.judgments.datasets.opinions import Opinions, read_people
from sacrecap.resources.outside_scores import OutsideScores, read_scores


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
    known = scores_by_image(scores)
    chosen = chosen_witnesses(known, witnesses)
    opinions = read_people(ratings, aspect=rating, bounds=rating_range, raters=raters, words=words)
    bounds = (0.0, 1.0) if opinions.is_choice else rating_range
    return _calibrated(sample_of(known, chosen, opinions), chosen, interval, bounds, plan)


def scores_by_image(scores: Any) -> OutsideScores:
    """The scores of all captions. Raises `DataError` where nothing names the images."""
    known = read_scores(scores)
    if known.images is None:
        raise DataError(f"{known.source}: no column image_id; it names which rating belongs to which scores")
    return known


def chosen_witnesses(known: OutsideScores, witnesses: Iterable[str] | None) -> list[str]:
    """Columns of the scores. Raises `UsageError` for one that is not there."""
    chosen = list(known.columns) if witnesses is None else list(witnesses)
    unknown = [name for name in chosen if name not in known.columns]
    if unknown or not chosen:
        named = ", ".join(unknown) or "that was named"
        raise UsageError(f"{known.source} has no column {named}; it has {', '.join(known.columns)}")
    return chosen


def sample_of(known: OutsideScores, witnesses: list[str], opinions: Opinions) -> RatedSample:
    """What was said beside the scores of all."""
    return (of_choices if opinions.is_choice else of_ratings)(known, witnesses, opinions)


def _calibrated(
    sample: RatedSample, witnesses: list[str], level: float, bounds: tuple[float, float] | None, plan: bool
) -> Calibration:
    rated, number = sample.rated, len(sample.groups)
    if bounds is None and {*rated.ratings.tolist()} <= {0.0, 1.0}:
        bounds = (0.0, 1.0)
    teller = Teller(rated, level, shares=bounds == (0.0, 1.0))
    notes = [*sample.notes, *_of_witnesses(sample)]
    seen = bounds or (NO_BOUNDS if not np.ptp(rated.ratings) else (rated.ratings.min(), rated.ratings.max()))
    seen = (float(seen[0]), float(seen[1])) if seen[0] is not None and seen[1] is not None else NO_BOUNDS
    total = rated.sizes / rated.sizes.sum()
    each = np.eye(number)
    if sample.is_choice:
        overall, of, systems, pairs = _choices(sample, teller, notes)
        total = total * 0 + each[0]
    else:
        within = NO_BOUNDS if bounds is None else seen
        wide = NO_BOUNDS if seen[0] is None or seen[1] is None else (seen[0] - seen[1], seen[1] - seen[0])
        overall, of = _scaled(teller, total, seen, within), "the mean rating of all captions"
        systems = {
            str(name): _scaled(teller, parts, seen, within)
            for name, parts in zip(sample.groups, each, strict=True)
            if number > 1
        }
        pairs = {
            (str(sample.groups[a]), str(sample.groups[b])): teller.mean(each[a] - each[b], wide)
            for a, b in combinations(range(number), 2)
        }
    if overall.interval is None:
        scale = spelled(python="rating_range=(1, 5)", command="--rating-range 1,5")
        notes.append(f"No interval: all rated captions have one rating; name the scale, such as {scale}.")
    notes += _apart(of, overall)
    return Calibration(
        _core.__version__,
        of,
        overall,
        systems,
        pairs,
        witnesses,
        sample.captions,
        sample.answers,
        level,
        sample.is_choice,
        teller.planned(total) if plan else [],
        sample.missing,
        notes,
    )


def _scaled(teller: Teller, parts: Any, seen: Any, within: Any) -> Calibrated:
    """A mean rating within the scale; the ratings that were seen bound what has no width, where no scale is named."""
    estimate = teller.mean(parts, within)
    return teller.mean(parts, seen) if estimate.interval is None or estimate.alone_interval is None else estimate


def _of_witnesses(sample: RatedSample) -> list[str]:
    """Notes on what the witnesses tell."""
    rated = sample.rated
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
    if not is_told or not np.ptp(rated.ratings) or len(sample.groups) == len(rated.ratings):
        return []
    return [f"The witnesses tell all {len(rated.ratings):,} ratings exactly; of the other captions this is not known."]


def _apart(of: str, figure: Calibrated) -> list[str]:
    """A note where the witnesses move a figure out of what the ratings alone allow."""
    if figure.alone_interval is None or figure.alone_interval[0] <= figure.estimate <= figure.alone_interval[1]:
        return []
    away = f"With the witnesses, {of} is outside of the interval of the ratings alone, as chance has it rarely"
    return [f"{away}: were the rated captions drawn at random, and are the scores right?"]


def _choices(
    sample: RatedSample, teller: Teller, notes: list[str]
) -> tuple[Calibrated, str, dict[str, Calibrated], dict[tuple[str, str], Calibrated]]:
    """How often the first system wins, the systems' strengths, and the win rate of each pair."""
    groups: list[tuple[str, str]] = list(sample.groups)  # type: ignore[arg-type]
    rated, share = sample.rated, (0.0, 1.0)
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
