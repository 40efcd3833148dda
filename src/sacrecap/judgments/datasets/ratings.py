"""Ratings in JSON lines, one rated caption per line: the format for users' own ratings, and for Composite.

`{"image_id", "caption", "references", "rating"}`: `rating` is a number, a list of numbers (one per rater), or an object
of either, by aspect (what was rated). `system` names who wrote the caption. Where caption sets were rated, `captions`
has the set, and replaces `references` that are missing; else these come from a file of references, by image.
Composite's own names of the fields (`image`, `candidate`, `human_score`) are read too, and those of Polaris and Nebula
(`img`, `cand`, `refs`, `human_score`), which are tables.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sacrecap.data import fields, read_references
from sacrecap.data.source import PathLike, display_name
from sacrecap.data.tables import is_number
from sacrecap.errors import UsageError
from sacrecap.judgments.datasets.records import Record, check_one_kind, read_records
from sacrecap.judgments.judged_rows import Ratings, Row

if TYPE_CHECKING:
    from sacrecap._core import Captions

RATING = ("rating", "human_score")
IMAGE = ("image_id", "image", "imgid", "img.path", "img")
CAPTION = ("caption", "candidate", "cand")
REFERENCES = ("references", "refs")


def read_ratings(
    path: PathLike,
    captions: PathLike | None = None,
    *,
    aspect: str | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Ratings:
    """Reads ratings; those outside `bounds` are refused.

    `captions`: references (any reference file) of the images whose lines have none.
    `aspect`: which of several ratings of a caption; the first by default. Raises `DataError`, and `UsageError` for an
        unknown aspect.
    """
    records = read_records(path)
    check_one_kind(records)
    first = records[0].find(*RATING)
    if isinstance(first, dict):
        if aspect is None:
            aspect = next(iter(first), None)
    elif aspect not in (None, "rating"):
        raise UsageError(f"{display_name(path)} has one rating per caption, so there is no {aspect!r} to choose")
    known = None if captions is None else read_references(captions)
    named = all(record.has("system") for record in records)
    sets = [record.captions("captions") for record in records] if records[0].has("captions") else None
    references = REFERENCES if sets is None else (*REFERENCES, "captions")
    return Ratings(
        "ratings",
        display_name(path),
        rows=[
            Row(image := record.name(*IMAGE), _references(record, image, known, references), place)
            for place, record in enumerate(records)
        ],
        captions=[record.caption(*CAPTION) for record in records] if sets is None else list(map("\n".join, sets)),
        ratings=[read_rating(record, aspect, bounds) for record in records],
        in_file=len(records),
        sets=sets,
        system=[record.name("system") for record in records] if named else None,
        aspect=aspect or "rating",
    )


def _references(record: Record, image: str, known: Captions | None, names: tuple[str, ...]) -> list[str]:
    if known is None or record.has(*REFERENCES):
        return record.captions(*names)
    if image not in known:
        raise record.refuse(f"no references of image {image!r}, neither here nor in the file of references; add them")
    return known.captions(image)


def read_rating(record: Record, aspect: str | None, bounds: tuple[float, float]) -> tuple[float, ...]:
    """The ratings of a line, one per rater."""
    value: Any = record.find(*RATING)
    if isinstance(value, dict):
        if aspect not in value:
            raise record.refuse(f"no rating called {aspect!r}; it has {', '.join(value) or 'none'}")
        value = value[aspect]
    values = value if isinstance(value, list) else [value]
    if not values:
        raise record.refuse("an empty list of ratings; give at least one, or remove the line")
    least, most = bounds
    numbers = [float(one) if isinstance(one, str) and is_number(one) else one for one in values]  # of a text table
    return tuple(record.checked("rating", fields.number, one, least=least, most=most) for one in numbers)
