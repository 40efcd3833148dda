"""Users' own files of what people said: pairs, ratings, and opinions without references.

`docs/howto/measure-agreement.md` has the fields of pairs and ratings. `votes`, if given, are those whose majority is
the winner. Where people judged each reference, `people` has how many of them chose b and c for it; without `people`, as
many votes as references are one for each. A caption set that was rated replaces `references` that are missing; else
these come from a file of references, by image.

Opinions come without references, from a table, JSON lines or a study's export: `docs/tutorial/calibrate.md`. Ratings:
`image_id`, `system` or `caption` (or neither), and `rating`. Choices: `image_id`, `b_system` and `c_system`, or the
captions `b` and `c`, and `winner` or `votes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from sacrecap.choices import CATEGORIES
from sacrecap.data import read_references
from sacrecap.data.source import PathLike
from sacrecap.data.tables import is_missing, is_number
from sacrecap.errors import DataError, UsageError, accepted_name, option
from sacrecap.judgments.datasets.records import (
    JudgedPair,
    JudgmentForm,
    RatedCaption,
    Record,
    WhatToRead,
    add_references,
    in_one_form,
    read_one_kind,
    translate,
)
from sacrecap.judgments.judged_rows import READER, majority
from sacrecap.resources.outside_scores import strays

WINNERS = {"b": 1, "c": -1, "tie": 0}


def _judged_pair(record: Record, to_read: WhatToRead) -> Iterator[JudgedPair]:
    """A tie needs no votes."""
    preferred = winner(record)
    yield JudgedPair(
        record.name("image_id"),
        record.captions("references"),
        record.caption("b"),
        record.caption("c"),
        preferred,
        _category(record, is_named=to_read.categories is not None),
        votes=read_votes(record) if record.has("votes") else None if preferred else [],
        reference_votes=_reference_votes(record),
        b_system=record.known_name("b_system"),
        c_system=record.known_name("c_system"),
    )


def _pair_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    records = read_one_kind(path)
    translate(records, to_read.words, "winner")
    return records


PAIRS = JudgmentForm("pairs", ("b", "c", "winner"), _judged_pair, _pair_records)


def read_votes(record: Record) -> list[int]:
    """The field `votes`: a list of 1 and −1."""
    votes = record.find("votes")
    if not isinstance(votes, list) or not votes or any(isinstance(v, bool) or v not in (1, -1) for v in votes):
        raise record.refuse(f"votes must be a list of 1 (for b) and -1 (for c), got {votes!r}")
    return votes


def _reference_votes(record: Record) -> list[int] | None:
    """A vote for each reference, 0 if its people were undecided; None if the references were not judged."""
    references = record.captions("references")
    if not record.has("people"):
        votes = read_votes(record) if record.has("votes") else []
        return votes if len(votes) == len(references) else None
    people = record.find("people")
    if not isinstance(people, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(count) is int and count >= 0 for count in pair)
        for pair in people
    ):
        raise record.refuse(f"people must be a list of two whole numbers (for b and for c) each, got {people!r}")
    signs = [(b > c) - (b < c) for b, c in people]
    return signs if len(signs) == len(references) else None


def winner(record: Record) -> int:
    """1 for b, −1 for c, 0 for a tie."""
    named = record.find("winner")
    if not isinstance(named, str) or named.lower() not in WINNERS:
        raise record.refuse(f"winner must be one of {', '.join(WINNERS)}, got {named!r}")
    preferred = WINNERS[named.lower()]
    if record.has("votes"):
        votes = read_votes(record)
        if preferred != majority(votes):
            raise record.refuse(f"the winner is {named!r}, but the votes add up to {sum(votes)}; correct one of them")
    return preferred


def _category(record: Record, *, is_named: bool) -> str:
    """Where nobody names categories, they are the usual ones."""
    if not record.has("category"):
        return ""
    category = record.name("category")
    try:
        accepted_name("category", category, [category] if is_named else CATEGORIES)
    except ValueError as error:
        named = option("categories", of=READER)
        raise record.refuse(f"{error}; others are accepted once they are named with {named}") from None
    return category


RATING = ("rating", "human_score")
IMAGE = ("image_id", "image", "imgid", "img.path", "img")
CAPTION = ("caption", "candidate", "cand")
REFERENCES = ("references", "refs")


KNOWN = frozenset((*RATING, *IMAGE, *CAPTION, *REFERENCES, "system", "captions", "inclusion", "winner"))


def _rating_records(path: PathLike, to_read: WhatToRead) -> list[Record]:
    """The records, one per caption, whatever layout the file has; those without references with those of another."""
    records = in_one_form(read_one_kind(path), KNOWN, RATING, to_read.raters, to_read.words)
    if to_read.captions is not None:
        without = [record for record in records if not record.has(*REFERENCES)]
        add_references(without, read_references(to_read.captions).to_dict(), *IMAGE)
    return records


def aspect_of(first: Record, aspect: str | None) -> str | None:
    """The aspect that is read: of several ratings of a caption the first, unless one is asked for."""
    value = first.find(*RATING) if first.has(*RATING) else None
    if isinstance(value, dict):
        return aspect or next(iter(value), None)
    if aspect not in (None, "rating"):
        raise UsageError(f"{first.source} has one rating per caption, so there is no {aspect!r} to choose")
    return aspect


def doubtful(records: Sequence[Record]) -> list[str]:
    """Notes on ratings that are blank, and on numbers that look as if they stood for none."""
    by_aspect: dict[str, list[Any]] = {}
    for record in records:
        value = record.find(*RATING) if record.has(*RATING) else None
        for aspect, rated in value.items() if isinstance(value, dict) else (("", value),):
            by_aspect.setdefault(aspect, []).extend(rated if isinstance(rated, list) else [rated])
    blank = sum(is_missing(cell) for cells in by_aspect.values() for cell in cells)
    notes = [f"blank ratings, left out: {blank:,}"] if blank else []
    for aspect, cells in by_aspect.items():
        numbers = [float(cell) for cell in cells if is_number(cell) and not is_missing(cell)]
        notes += strays(numbers, f"ratings of {aspect}" if aspect else "ratings")
    return notes


def _judged_caption(record: Record, to_read: WhatToRead) -> Iterator[RatedCaption]:
    if any(name in record.fields for name in RATING) and not record.has(*RATING):
        return  # a blank one
    ratings = read_rating(record, to_read.rating, to_read.rating_range)
    if not ratings:
        return
    captions = record.captions("captions") if record.has("captions") else None
    yield RatedCaption(
        record.name(*IMAGE),
        record.captions(*REFERENCES, *(() if captions is None else ("captions",))),
        record.caption(*CAPTION) if captions is None else "\n".join(captions),
        ratings,
        record.known_name("system"),
        sets=captions,
    )


RATINGS = tuple(
    JudgmentForm("ratings", (name,), _judged_caption, _rating_records, aspect_of=aspect_of, remarks=doubtful)
    for name in RATING
)


def read_rating(record: Record, aspect: str | None, bounds: tuple[float, float] | None) -> tuple[float, ...]:
    """The ratings of a line, one per rater who gave one."""
    value: Any = record.find(*RATING)
    if isinstance(value, dict):
        if aspect not in value:
            raise record.refuse(f"no rating called {aspect!r}; it has {', '.join(value) or 'none'}")
        value = value[aspect]
    values = value if isinstance(value, list) else [value]
    if not values:
        raise record.refuse("an empty list of ratings; give at least one, or remove the line")
    return tuple(record.number("rating", value, *(bounds or ())) for value in values if not is_missing(value))


@dataclass(frozen=True)
class Opinions:
    """Ratings of captions, or choices between captions B and C; a caption may occur several times."""

    source: str
    images: list[str]
    sides: list[tuple[list[str] | None, list[str] | None]]
    """The captions that were judged, and who wrote them, as far as told: of ratings, or of b and of c."""
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
    records = _rating_records(path, WhatToRead(raters=raters, words=words or {}))
    first = next((record for record in records if record.has("winner", "votes", *RATING)), records[0])
    notes: list[str] = []
    answers: list[Sequence[float]]
    if first.has("winner", "votes"):
        sides = [(_column(records, side), _column(records, f"{side}_system")) for side in ("b", "c")]
        signs = [read_votes(record) if record.has("votes") else [winner(record)] for record in records]
        answers = [[(1 + sign) / 2 for sign in of_record] for of_record in signs]  # 1 for B, 0 for C, a half for a tie
    elif first.has(*RATING):
        named, notes = aspect_of(first, aspect), doubtful(records)
        ratings = [read_rating(record, named, bounds) if record.has(*RATING) else () for record in records]
        rated = [place for place, of_record in enumerate(ratings) if of_record]
        if not rated:
            raise DataError(f"{first.source}: every rating of it is blank")
        records, answers = [records[place] for place in rated], [ratings[place] for place in rated]
        sides = [(_column(records, *CAPTION), _column(records, "system"))]
    else:
        raise DataError(f"{first.source}: no column rating, and none winner; it has {', '.join(first.fields)}")
    images, values = [record.name(*IMAGE) for record in records], list(map(fmean, answers))
    inclusion = []
    for record in records:
        inclusion.append(record.number("inclusion", record.find("inclusion")) if record.has("inclusion") else 1.0)
        if inclusion[-1] <= 0:
            raise record.refuse(f"inclusion must be a number above 0 (1 is a plain draw), got {inclusion[-1]:g}")
    return Opinions(first.source, images, sides, values, sum(map(len, answers)), inclusion, notes)


def _column(records: list[Record], *names: str) -> list[str] | None:
    """The texts of a column; None without it. Raises `DataError` where only some rows have it."""
    if not records[0].has(*names):
        return None
    return [record.name(*names).strip() for record in records]
