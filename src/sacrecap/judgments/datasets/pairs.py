"""Pairs in JSON lines, one pair per line: the format for users' own forced choices.

`{"image_id", "references", "b", "c", "winner", "category"}`: `winner` is `b`, `c` or `tie`; `category` may be missing.
`votes` (1 for b, −1 for c), if given, are the votes whose majority is the winner. `b_system` and `c_system` name who
wrote the captions.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacrecap.choices import CATEGORIES
from sacrecap.data.source import PathLike, display_name
from sacrecap.errors import accepted_name, option
from sacrecap.judgments.datasets.records import READER, Record, read_records
from sacrecap.judgments.judged_rows import Pairs, Row

WINNERS = {"b": 1, "c": -1, "tie": 0}


def read_pairs(path: PathLike, categories: Sequence[str] = CATEGORIES) -> Pairs:
    """Reads pairs; if they have a category, it must be one of `categories`. Raises `DataError`."""
    records = read_records(path)
    voted = all(record.has("votes") for record in records)
    named = all(record.has("b_system") and record.has("c_system") for record in records)
    return Pairs(
        "pairs",
        display_name(path),
        rows=[
            Row(record.name("image_id"), record.captions("references"), place) for place, record in enumerate(records)
        ],
        b=[record.caption("b") for record in records],
        c=[record.caption("c") for record in records],
        preferred=[_winner(record) for record in records],
        categories=[_category(record, categories) for record in records],
        in_file=len(records),
        votes=[read_votes(record) for record in records] if voted else None,
        votes_decide=voted,
        b_system=[record.name("b_system") for record in records] if named else None,
        c_system=[record.name("c_system") for record in records] if named else None,
    )


def read_votes(record: Record) -> list[int]:
    """The field `votes`: a list of 1 and −1."""
    votes = record.find("votes")
    if not isinstance(votes, list) or not votes or any(isinstance(v, bool) or v not in (1, -1) for v in votes):
        raise record.refuse(f"votes must be a list of 1 (for b) and -1 (for c), got {votes!r}")
    return votes


def _winner(record: Record) -> int:
    winner = record.find("winner")
    if not isinstance(winner, str) or winner.lower() not in WINNERS:
        raise record.refuse(f"winner must be one of {', '.join(WINNERS)}, got {winner!r}")
    preferred = WINNERS[winner.lower()]
    if record.has("votes"):
        total = sum(read_votes(record))
        if preferred != (total > 0) - (total < 0):
            raise record.refuse(f"the winner is {winner!r}, but the votes add up to {total}; correct one of them")
    return preferred


def _category(record: Record, accepted: Sequence[str]) -> str:
    if not record.has("category"):
        return ""
    category = record.name("category")
    try:
        accepted_name("category", category, accepted)
    except ValueError as error:
        named = option("categories", of=READER)
        raise record.refuse(f"{error}; others are accepted once they are named with {named}") from None
    return category
