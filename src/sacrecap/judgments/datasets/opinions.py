"""What people said of captions, without references: ratings or choices, from a table, JSON lines or a study's export.

Ratings: `image_id`, `system` or `caption` (or neither), and `rating`, a number, a list of them, or an object of either.
Choices: `image_id`, `b_system` and `c_system`, or the captions `b` and `c`, and `winner` (b, c or tie) or `votes`.
Both may have `inclusion`: how likely this caption was to be drawn, where 1 is a plain draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

from sacrecap.data import fields
from sacrecap.data.source import PathLike, display_name
from sacrecap.data.tables import is_number
from sacrecap.errors import DataError
from sacrecap.judgments.datasets.pairs import read_votes, winner
from sacrecap.judgments.datasets.ratings import CAPTION, IMAGE, RATING, read_rating
from sacrecap.judgments.datasets.records import Record, check_one_kind, read_records


@dataclass(frozen=True)
class Opinions:
    """Ratings of captions; a caption may occur several times."""

    source: str
    images: list[str]
    captions: list[str] | None
    systems: list[str] | None
    ratings: list[float]
    """The mean of each line."""
    answers: int
    inclusion: list[float]
    """How likely each line was to be drawn, where 1 is a plain draw."""


@dataclass(frozen=True)
class Choices:
    """Choices between captions B and C."""

    source: str
    images: list[str]
    b: list[str] | None
    c: list[str] | None
    b_systems: list[str] | None
    c_systems: list[str] | None
    shares: list[float]
    """The share of the votes for B; a tie is half a vote."""
    answers: int
    inclusion: list[float]
    """As of `Opinions`."""


def read_people(
    path: PathLike, *, aspect: str | None = None, bounds: tuple[float, float] | None = None
) -> Opinions | Choices:
    """Ratings or choices of a file. Raises `DataError` for any other file, or a rating out of bounds."""
    records = read_records(path)
    check_one_kind(records)
    source, first = display_name(path), records[0]
    if first.has("winner", "votes"):
        shares = [_share(record) for record in records]
        return Choices(
            source,
            [record.name(*IMAGE) for record in records],
            _column(records, "b"),
            _column(records, "c"),
            _column(records, "b_system"),
            _column(records, "c_system"),
            [share for share, _ in shares],
            sum(votes for _, votes in shares),
            _inclusions(records),
        )
    if not first.has(*RATING):
        raise DataError(f"{source}: no column rating, and none winner; it has {', '.join(first.fields)}")
    if aspect is None and isinstance(first.find(*RATING), dict):
        aspect = next(iter(first.find(*RATING)), None)
    rated = [read_rating(record, aspect, bounds or (-math.inf, math.inf)) for record in records]
    return Opinions(
        source,
        [record.name(*IMAGE) for record in records],
        _column(records, *CAPTION),
        _column(records, "system"),
        list(map(fmean, rated)),
        sum(map(len, rated)),
        _inclusions(records),
    )


def _inclusions(records: list[Record]) -> list[float]:
    """Those that the lines have; 1 for a line without. Raises `DataError` for one that is not above 0."""
    return [_inclusion(record) if record.has("inclusion") else 1.0 for record in records]


def _inclusion(record: Record) -> float:
    value = record.find("inclusion")
    number = float(value) if isinstance(value, str) and is_number(value) else value
    found = record.checked("inclusion", fields.number, number, least=0.0, most=math.inf)
    if not 0 < found < math.inf:
        raise record.refuse(f"inclusion must be a number above 0 (1 is a plain draw), got {value!r}")
    return found


def _column(records: list[Record], *names: str) -> list[str] | None:
    """The texts of a column; None without it. Raises `DataError` where only some rows have it."""
    if not records[0].has(*names):
        return None
    return [record.name(*names).strip() for record in records]


def _share(record: Record) -> tuple[float, int]:
    if record.has("votes"):
        votes = read_votes(record)
        return votes.count(1) / len(votes), len(votes)
    return (1 + winner(record)) / 2, 1
