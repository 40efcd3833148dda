"""Ratings in JSON lines, one rated caption per line: the format for users' own ratings, and for Composite.

`{"image_id", "caption", "references", "rating"}`: `rating` is a number, a list of numbers (one per rater), or an object
of either, by aspect (what was rated). `system` names who wrote the caption. Where caption sets were rated, `captions`
has the set, and replaces `references` that are missing; else these come from a file of references, by image.
Composite's own names of the fields (`image`, `candidate`, `human_score`) are read too, and those of Polaris and Nebula
(`img`, `cand`, `refs`, `human_score`), which are tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sacrecap.data import fields
from sacrecap.data.source import PathLike
from sacrecap.data.tables import is_missing, is_number
from sacrecap.errors import UsageError
from sacrecap.judgments.datasets.judgment_forms import JudgmentForm, RatedCaption, WhatToRead, add_references
from sacrecap.judgments.datasets.records import Record, read_one_kind
from sacrecap.judgments.datasets.spreadsheet import in_one_form, without_blanks
from sacrecap.resources.outside_scores import strays

RATING = ("rating", "human_score")
IMAGE = ("image_id", "image", "imgid", "img.path", "img")
CAPTION = ("caption", "candidate", "cand")
REFERENCES = ("references", "refs")


KNOWN = frozenset((*RATING, *IMAGE, *CAPTION, *REFERENCES, "system", "captions", "inclusion", "winner"))


def rated_records(path: PathLike, raters: str | None, words: Mapping[str, str]) -> list[Record]:
    """The records of a file, one per caption, whatever layout it has."""
    return in_one_form(read_one_kind(path), KNOWN, RATING, raters, words)


def _records(path: PathLike, wanted: WhatToRead) -> list[Record]:
    """The lines; those without references with the ones of the file that is given."""
    records = rated_records(path, wanted.raters, wanted.words)
    if wanted.captions is not None:
        add_references([record for record in records if not record.has(*REFERENCES)], wanted.captions, *IMAGE)
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


def _judged(record: Record, wanted: WhatToRead) -> Iterator[RatedCaption]:
    if any(name in record.fields for name in RATING) and not record.has(*RATING):
        return  # a blank one
    ratings = read_rating(record, wanted.rating, wanted.rating_range)
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
    JudgmentForm("ratings", (name,), _judged, _records, aspect_of=aspect_of, remarks=doubtful) for name in RATING
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
    values = without_blanks(values)
    least, most = bounds or (-math.inf, math.inf)
    numbers = [
        float(value) if isinstance(value, str) and is_number(value) else value for value in values
    ]  # of a text table
    return tuple(record.checked("rating", fields.number, number, least=least, most=most) for number in numbers)
