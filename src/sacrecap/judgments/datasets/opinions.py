"""What people said of captions, without references: ratings or choices, from a table, JSON lines or a study's export.

Ratings: `image_id`, `system` or `caption` (or neither), and `rating`, a number, a list of them, or an object of either.
Choices: `image_id`, `b_system` and `c_system`, or the captions `b` and `c`, and `winner` (b, c or tie) or `votes`.
Both may have `inclusion`: how likely this caption was to be drawn, where 1 is a plain draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sacrecap.data import fields
from sacrecap.data.source import PathLike
from sacrecap.data.tables import is_number
from sacrecap.errors import DataError
from sacrecap.judgments.datasets.pairs import read_votes, winner
from sacrecap.judgments.datasets.ratings import CAPTION, IMAGE, RATING, aspect_of, doubtful, rated_records, read_rating
from sacrecap.judgments.datasets.records import Record


@dataclass(frozen=True)
class OpinionSide:
    """The captions that were rated, or those of one side of the choices, and who wrote them, as far as told."""

    captions: list[str] | None
    systems: list[str] | None


@dataclass(frozen=True)
class Opinions:
    """Ratings of captions, or choices between captions B and C; a caption may occur several times."""

    source: str
    images: list[str]
    sides: list[OpinionSide]
    """One of ratings, two of choices."""
    values: list[float]
    """The mean rating of each line, or the share of the votes for B; a tie is half a vote."""
    answers: int
    inclusion: list[float]
    """How likely each line was to be drawn, where 1 is a plain draw."""
    notes: list[str]

    @property
    def is_choice(self) -> bool:
        """Whether people chose between captions."""
        return len(self.sides) == 2


def read_people(
    path: PathLike,
    *,
    aspect: str | None = None,
    bounds: tuple[float, float] | None = None,
    raters: str | None = None,
    words: Mapping[str, str] | None = None,
) -> Opinions:
    """Ratings or choices of a file. Raises `DataError` for any other file, or a rating out of bounds."""
    records = rated_records(path, raters, words or {})
    first = next((record for record in records if record.has("winner", "votes", *RATING)), records[0])
    notes: list[str] = []
    answers: list[Sequence[float]]
    if first.has("winner", "votes"):
        sides = [OpinionSide(_column(records, side), _column(records, f"{side}_system")) for side in ("b", "c")]
        answers = [_votes(record) for record in records]
    elif first.has(*RATING):
        named, notes = aspect_of(first, aspect), doubtful(records)
        ratings = [read_rating(record, named, bounds) if record.has(*RATING) else () for record in records]
        rated = [place for place, of_record in enumerate(ratings) if of_record]
        if not rated:
            raise DataError(f"{first.source}: every rating of it is blank")
        records, answers = [records[place] for place in rated], [ratings[place] for place in rated]
        sides = [OpinionSide(_column(records, *CAPTION), _column(records, "system"))]
    else:
        raise DataError(f"{first.source}: no column rating, and none winner; it has {', '.join(first.fields)}")
    images, values = [record.name(*IMAGE) for record in records], list(map(fmean, answers))
    return Opinions(first.source, images, sides, values, sum(map(len, answers)), list(map(_inclusion, records)), notes)


def _votes(record: Record) -> list[float]:
    """Each vote: 1 for B, 0 for C, and a half for a tie."""
    votes = read_votes(record) if record.has("votes") else [winner(record)]
    return [(1 + vote) / 2 for vote in votes]


def _inclusion(record: Record) -> float:
    """That of the line; 1 without. Raises `DataError` for one that is not above 0."""
    if not record.has("inclusion"):
        return 1.0
    value = record.find("inclusion")
    number = float(value) if isinstance(value, str) and is_number(value) else value
    inclusion = record.checked("inclusion", fields.number, number, least=0.0, most=math.inf)
    if not 0 < inclusion < math.inf:
        raise record.refuse(f"inclusion must be a number above 0 (1 is a plain draw), got {value!r}")
    return inclusion


def _column(records: list[Record], *names: str) -> list[str] | None:
    """The texts of a column; None without it. Raises `DataError` where only some rows have it."""
    if not records[0].has(*names):
        return None
    return [record.name(*names).strip() for record in records]
