"""Scores that others computed, of judged captions: aligned with the rows of the judgments, by column of candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sacrecap.data.tables import of_columns
from sacrecap.errors import DataError
from sacrecap.judgments.judged_rows import Ratings
from sacrecap.metrics.outside import outside_scores
from sacrecap.resources.outside_scores import OutsideScores

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.judgments.judged_rows import Judgments
    from sacrecap.resources.needs import Needs


def outside_of(needs: Needs, judgments: Judgments) -> dict[str, OutsideScores]:
    """The scores that a call was given, for each column of candidates; nothing without.

    Rows that name captions or systems may come in any order, and so may rows of images where each has one judgment.
    Others are one for each judgment, in the order of the judgments' file. Judgments that the protocol leaves out may
    have a row, but need not. Rated captions have a column per metric. Pairs have two, `NAME.b` and `NAME.c`, or one,
    `NAME`: by how much B is better.

    Raises `DataError` for scores that do not fit the judgments.
    """
    scores = outside_scores(needs.with_({"scores": _in_table(needs.get("scores"), judgments)}))
    if scores is None:
        return {}
    images, captions = [row.image_id for row in judgments.rows], judgments.candidates()
    if scores.captions is not None or scores.systems is not None:
        systems = judgments.systems()
        if scores.captions is None and systems is None:
            raise DataError(f"{scores.source} names systems, and {judgments.source} names none; add a column caption")
        of = {name: None if systems is None else systems[name] for name in captions}
        return {name: scores.aligned(images, texts, of[name]) for name, texts in captions.items()}
    names_images = scores.images is not None and len({*scores.images}) == scores.rows
    if len(captions) == 1 and names_images and len({*images}) == len(images):
        return {name: scores.aligned(images, texts) for name, texts in captions.items()}
    aligned = _in_order(scores, judgments)
    if len(captions) == 2:
        return _of_pairs(aligned)
    of_sets = isinstance(judgments, Ratings) and judgments.sets is not None
    return {name: replace(aligned, of_sets=of_sets) for name in captions}


def for_judgments(needs: Needs, judgments: Judgments) -> Needs:
    """The needs, by which a metric's name may be a column of the scores."""
    outside = outside_of(needs, judgments)
    return needs.with_({"scores": next(iter(outside.values()))}) if outside else needs


def _in_order(scores: OutsideScores, judgments: Judgments) -> OutsideScores:
    number = scores.rows
    if number not in (judgments.in_file, len(judgments.rows)):
        left = (
            "" if judgments.in_file == len(judgments.rows) else f" (or {len(judgments.rows):,}, without those left out)"
        )
        raise DataError(
            f"{scores.source}: {number:,} rows of scores for {judgments.in_file:,} judgments{left}; give a row for each"
        )
    places = [row.place for row in judgments.rows] if number == judgments.in_file else list(range(number))
    for row, place in zip(judgments.rows, places, strict=True):
        if scores.images is not None and scores.images[place] != row.image_id:
            raise DataError(
                f"{scores.source}: row {place + 1} is of image {scores.images[place]!r}, and that judgment of image "
                f"{row.image_id!r}; give the rows in the order of the judgments, or add a column caption"
            )
    return replace(scores.select(places), images=None)


def _of_pairs(scores: OutsideScores) -> dict[str, OutsideScores]:
    """The scores of B and those of C, from columns of a row per pair."""
    sides: dict[str, dict[str, list[float]]] = {"b": {}, "c": {}}
    for name, values in scores.columns.items():
        stem, dot, side = name.rpartition(".")
        if not dot or side not in sides:
            sides["b"][name], sides["c"][name] = values, [0.0] * len(values)
        elif f"{stem}.b" not in scores.columns or f"{stem}.c" not in scores.columns:
            raise DataError(
                f"{scores.source}: column {name!r} without its partner; scores of pairs are {stem}.b and {stem}.c"
            )
        else:
            sides[side][stem] = values
    return {side: replace(scores, columns=columns) for side, columns in sides.items()}


def _in_table(scores: Any, judgments: Judgments) -> Any:
    """The scores; those by name and column of candidates, `{"mine": {"caption": …}}`, as columns of a table."""
    if not isinstance(scores, Mapping) or not any(isinstance(values, Mapping) for values in scores.values()):
        return scores
    columns: dict[str, list[float]] = {}
    expected = list(judgments.candidates())
    for name, values in scores.items():
        if not isinstance(values, Mapping) or set(values) != set(expected):
            received = (
                f"the columns {', '.join(map(repr, values))}" if isinstance(values, Mapping) else repr(values)[:60]
            )
            needed = ", ".join(f"{column!r}: numbers" for column in expected)
            raise DataError(f"scores {name!r}: got {received}; these judgments need {{{needed}}}")
        for column in expected:
            numbers = _numbers(f"scores {name!r}, column {column!r}", values[column], len(judgments.rows))
            columns[name if len(expected) == 1 else f"{name}.{column}"] = numbers
    return OutsideScores.of_table(of_columns("the scores", columns))


def _numbers(where: str, values: npt.ArrayLike, rows: int) -> list[float]:
    import numpy as np

    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: not a sequence of numbers: {error}") from None
    if numbers.shape != (rows,):
        shape = f"{len(numbers):,} numbers" if numbers.ndim == 1 else f"an array of shape {numbers.shape}"
        raise DataError(f"{where}: {shape} for {rows:,} judgments; give one number for each")
    if not np.isfinite(numbers).all():
        index = int(np.argmin(np.isfinite(numbers)))
        raise DataError(f"{where}: expected finite numbers, got {numbers[index]} at place {index}")
    plain_numbers: list[float] = numbers.tolist()
    return plain_numbers
