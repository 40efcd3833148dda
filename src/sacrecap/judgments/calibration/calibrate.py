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
from sacrecap.judgments.calibration.estimates import AdjustedFigure, Teller, figures_of
from sacrecap.judgments.calibration.samples import RatedSample, of_choices, of_ratings
from sacrecap.judgments.calibration.strengths import strengths
from sacrecap.judgments.datasets.opinions import Opinions, read_people
from sacrecap.resources.outside_scores import OutsideScores, read_scores


def calibrate(
    scores: str | PathLike[str] | Mapping[str, Sequence[Any]] | Any,
    ratings: str | PathLike[str],
    *,
    witnesses: Iterable[str] | None = None,
    rating: str | None = None,
    rating_range: tuple[float, float] | None = None,
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
    said = read_people(ratings, aspect=rating, bounds=rating_range)
    bounds = (0.0, 1.0) if said.is_choice else rating_range
    return _calibrated(sample_of(known, chosen, said), chosen, interval, bounds, plan)


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


def sample_of(known: OutsideScores, witnesses: list[str], said: Opinions) -> RatedSample:
    """What was said beside the scores of all."""
    return (of_choices if said.is_choice else of_ratings)(known, witnesses, said)


def _calibrated(
    sample: RatedSample, witnesses: list[str], level: float, bounds: tuple[float, float] | None, plan: bool
) -> Calibration:
    figures, teller = figures_of(sample), Teller(sample.rated, level)
    notes = list(sample.notes)
    if not sample.rated.weighs:
        notes.append(
            f"The ratings alone: {sample.rated.freedom + 1 + int((sample.rated.deviations > 0).sum()):,} rated images "
            "are too few to weigh the witnesses."
            if sample.rated.deviations.any()
            else "The ratings alone: the witnesses give all captions one score."
        )
    wide = None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
    if sample.is_choice:
        overall, of, systems, pairs = _choices(sample, figures, teller, notes)
    else:
        total = AdjustedFigure.mean(figures, sample.sizes / sample.sizes.sum())
        overall, of = total, "the mean rating of all captions"
        several = len(figures) > 1
        systems = {
            str(name): teller.told(own, bounds) for name, own in zip(sample.groups, figures, strict=True) if several
        }
        pairs = {
            (str(a), str(b)): teller.told(AdjustedFigure.mean([one, other], (1.0, -1.0)), wide)
            for (a, one), (b, other) in combinations(zip(sample.groups, figures, strict=True), 2)
        }
    told = teller.told(overall, bounds)
    if told.interval is None:
        scale = spelled(python="rating_range=(1, 5)", command="--rating-range 1,5")
        notes.append(f"No interval: all rated captions have one rating; name the scale, such as {scale}.")
    return Calibration(
        _core.__version__,
        of,
        told,
        systems,
        pairs,
        witnesses,
        int(sample.sizes.sum()),
        sample.answers,
        level,
        sample.is_choice,
        teller.planned(overall) if plan else [],
        notes,
    )


def _choices(
    sample: RatedSample, figures: list[AdjustedFigure], teller: Teller, notes: list[str]
) -> tuple[AdjustedFigure, str, dict[str, Calibrated], dict[tuple[str, str], Calibrated]]:
    """How often the first system wins, the systems' strengths, and the win rate of each pair."""
    groups: list[tuple[str, str]] = list(sample.groups)  # type: ignore[arg-type]
    pairs = {pair: teller.told(own, (0.0, 1.0)) for pair, own in zip(groups, figures, strict=True)}
    first = groups[0][0]
    against = [number for number, pair in enumerate(groups) if pair[0] == first]
    shares = sample.sizes[against] / sample.sizes[against].sum()
    overall = AdjustedFigure.mean([figures[number] for number in against], shares)
    of = f"the share of choices that {first} wins"
    if len(groups) == 1:
        return overall, of, {}, pairs
    names = list(dict.fromkeys(name for pair in groups for name in pair))
    solved = [strengths(groups, names, sample.sizes, [own.values[k] for own in figures]) for k in (0, 1)]
    found = [one for one in solved if one is not None]
    if len(found) < 2:
        notes.append("No strengths: a system wins or loses every choice, or systems were not compared with each other.")
        return overall, of, {}, pairs
    systems = {}
    for place, name in enumerate(names):
        (alone, moved), (calibrated, moved_too) = found
        pulls = (moved[place] @ [own.pulls[0] for own in figures], moved_too[place] @ [own.pulls[1] for own in figures])
        of_system = [own for pair, own in zip(groups, figures, strict=True) if name in pair]
        n, captions = sum(own.n for own in of_system), sum(own.captions for own in of_system)
        seen = np.any([own.seen for own in figures], axis=0)
        figure = AdjustedFigure((float(alone[place]), float(calibrated[place])), pulls, n, seen, captions)
        systems[name] = teller.told(figure)
    return overall, of, systems, pairs
