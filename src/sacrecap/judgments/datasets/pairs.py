"""Pairs in JSON lines, one pair per line: the format for users' own forced choices.

`{"image_id", "references", "b", "c", "winner", "category"}`: `winner` is `b`, `c` or `tie`; `category` may be missing.
`votes` (1 for b, −1 for c), if given, are the votes whose majority is the winner. Where people judged each reference,
`people` has how many of them chose b and c for it; without `people`, as many votes as references are one for each.
`b_system` and `c_system` name who wrote the captions.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacrecap.choices import CATEGORIES
from sacrecap.data.source import PathLike
from sacrecap.errors import accepted_name, option
from sacrecap.judgments.datasets.judgment_forms import JudgedPair, JudgmentForm, WhatToRead
from sacrecap.judgments.datasets.records import READER, Record, read_one_kind
from sacrecap.judgments.datasets.spreadsheet import in_one_form
from sacrecap.judgments.judged_rows import majority

WINNERS = {"b": 1, "c": -1, "tie": 0}


def _judged(record: Record, wanted: WhatToRead) -> Iterator[JudgedPair]:
    """A tie needs no votes."""
    preferred = winner(record)
    yield JudgedPair(
        record.name("image_id"),
        record.captions("references"),
        record.caption("b"),
        record.caption("c"),
        preferred,
        _category(record, is_named=wanted.categories is not None),
        votes=read_votes(record) if record.has("votes") else None if preferred else [],
        reference_votes=_reference_votes(record),
        b_system=record.known_name("b_system"),
        c_system=record.known_name("c_system"),
    )


def _records(path: PathLike, wanted: WhatToRead) -> list[Record]:
    return in_one_form(read_one_kind(path), frozenset(), (), None, wanted.words)


PAIRS = JudgmentForm("pairs", ("b", "c", "winner"), _judged, _records)


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
    if not isinstance(people, list) or not all(_is_count(count) for count in people):
        raise record.refuse(f"people must be a list of two whole numbers (for b and for c) each, got {people!r}")
    signs = [(b > c) - (b < c) for b, c in people]
    return signs if len(signs) == len(references) else None


def _is_count(value: object) -> bool:
    """Whether it is the people for b and those for c."""
    return isinstance(value, list) and len(value) == 2 and all(type(number) is int and number >= 0 for number in value)


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
