"""Direct votes: people see the image and two captions, and choose the better one.

They say what people like; the consensus of a triplet study, what is like the captions that people write (CIDEr paper,
appendices I and III).
"""

from __future__ import annotations

from dataclasses import replace

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
    for row, b, c, own in zip(pairwise.rows, pairwise.b, pairwise.c, known, strict=True):
        votes[row.image_id, b, c] = own
        votes[row.image_id, c, b] = [-vote for vote in own]
    direct = [
        votes.get((row.image_id, b, c), []) for row, b, c in zip(judgments.rows, judgments.b, judgments.c, strict=True)
    ]
    met = sum(map(bool, direct))
    if not met:
        raise DataError(f"{pairwise.source}: no vote on a pair of {judgments.source}; pairs meet by image and captions")
    note = f"pairs with direct votes in {pairwise.source}: {met:,} of {len(direct):,}"
    return replace(judgments, direct=direct, notes=[*judgments.notes, note])


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
