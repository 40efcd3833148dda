"""Direct votes: people see the image and two captions, and choose the better one.

They say what people like; the consensus of a triplet study, what is like the captions that people write (CIDEr paper,
appendices I and III).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sacrecap.errors import DataError, UsageError, option
from sacrecap.judgments.datasets.records import READER
from sacrecap.judgments.judged_rows import Pairs, Ratings, majority


def with_direct_votes(judgments: Ratings | Pairs, pairwise: Ratings | Pairs) -> Pairs:
    """The same pairs, with the votes that `pairwise` has on them: pairs meet by image and captions, in either order.

    Raises `DataError` if none meet.
    """
    if not isinstance(judgments, Pairs) or not isinstance(pairwise, Pairs):
        rated = pairwise if isinstance(judgments, Pairs) else judgments
        raise DataError(f"{rated.source}: ratings, and direct votes are on pairs; give two files of pairs")
    votes: dict[tuple[str, str, str], list[int]] = {}
    known = pairwise.votes or [[sign] if sign else [] for sign in pairwise.preferred]
    for row, b, c, votes_of_pair in zip(pairwise.rows, pairwise.b, pairwise.c, known, strict=True):
        votes[row.image_id, b, c] = votes_of_pair
        votes[row.image_id, c, b] = [-vote for vote in votes_of_pair]
    direct = [
        votes.get((row.image_id, b, c), []) for row, b, c in zip(judgments.rows, judgments.b, judgments.c, strict=True)
    ]
    met = sum(map(bool, direct))
    if not met:
        raise DataError(f"{pairwise.source}: no vote on a pair of {judgments.source}; pairs meet by image and captions")
    note = f"pairs with direct votes in {pairwise.source}: {met:,} of {len(direct):,}"
    return replace(judgments, direct=direct, notes=[*judgments.notes, note])


def liked_otherwise(judgments: Ratings | Pairs) -> list[dict[str, Any]]:
    """The pairs of which people like the other caption than the one that is like their own: that, the one they like,
    and the references whose votes were for the former (CIDEr paper, figure 7). None without a vote of each reference.
    """
    if not isinstance(judgments, Pairs) or judgments.direct is None or judgments.reference_votes is None:
        return []
    columns = (judgments.rows, judgments.b, judgments.c, judgments.preferred, judgments.direct)
    rows = []
    for row, b, c, sign, direct, votes in zip(*columns, judgments.reference_votes, strict=True):
        if sign * majority(direct) < 0:
            human_like, liked = (b, c) if sign > 0 else (c, b)
            voted = [reference for reference, vote in zip(row.references, votes, strict=True) if vote == sign]
            rows.append({"image_id": row.image_id, "human_like": human_like, "liked": liked, "references": voted})
    return rows


def decided_directly(judgments: Ratings | Pairs) -> Pairs:
    """The same pairs; the majority of the direct votes decides. Raises `UsageError` if there are none."""
    if not isinstance(judgments, Pairs) or judgments.direct is None:
        joined = option("pairwise", "FILE", of=READER)
        raise UsageError(f"{judgments.source} has no direct votes beside the winner; {joined} gives a file of them")
    return replace(
        judgments,
        preferred=list(map(majority, judgments.direct)),
        votes=judgments.direct,
        reference_votes=None,
        direct=None,
        notes=[*judgments.notes, "the majority of the direct votes decides"],
    )
