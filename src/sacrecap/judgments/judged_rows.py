"""Judgments of people: captions that they rated, or pairs of captions from which they chose one.

Both are rows of an image with its own references; a metric scores each column of candidates (one of a rating, two
of a pair) against the references of the row. Only the comparison of scores with people's answers differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from sacrecap.errors import DataError

READER = "sacrecap.judgments.read_judgments"
"""What has the keywords that messages name."""


@dataclass(frozen=True, eq=False)
class Row:
    """The image of a row, its references, and its position in the file."""

    image_id: str
    references: Sequence[str]
    place: int
    """Number of the judgment in its file, from 0: the row of a file of scores that belongs to it."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Captions, each with one or several ratings."""

    dataset: str
    """Name of the data set or format."""
    source: str
    """The name of the file in messages."""
    rows: list[Row]
    """The rows that are scored, in the order of the file."""
    captions: list[str]
    """The caption of each row; where caption sets were rated, the captions of the set, one below the other."""
    ratings: list[tuple[float, ...]]
    """The ratings of each row, one per rater."""
    in_file: int
    """Number of judgments in the file, including those that the protocol leaves out."""
    sets: list[list[str]] | None = None
    """The caption set of each row, where sets were rated."""
    system: list[str] | None = None
    votes: list[tuple[int, int]] | None = None
    """Numbers of yes and no votes of each row, if the rating is the share of yes."""
    aspect: str = "rating"
    """The aspect that was rated."""
    objects: dict[str, list[str]] | None = None
    """Labels of the objects in each image, if the file has them."""
    notes: list[str] = field(default_factory=list)
    """Notes for the user: what was left out, and other remarks."""

    def candidates(self) -> dict[str, list[str]]:
        """Columns of candidates by name, aligned with the rows: `caption` here, `b` and `c` of pairs."""
        return {"caption": self.captions}

    def systems(self) -> dict[str, list[str]] | None:
        """Who wrote the candidates, in the same columns; None if the file does not say."""
        return None if self.system is None else {"caption": self.system}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of captions B and C; people chose one, or were undecided. What is not said here is as of `Ratings`."""

    dataset: str
    source: str
    rows: list[Row]
    b: list[str]
    c: list[str]
    preferred: list[int]
    """+1 if people preferred B, −1 if C, 0 if they were undecided."""
    categories: list[str]
    """The category of each pair; empty if the file names none."""
    in_file: int
    votes: list[list[int]] | None = None
    """+1 for B, −1 for C, for each vote; `preferred` is their majority."""
    reference_votes: list[list[int]] | None = None
    """A vote for each reference of the row, on which caption is closer to it; 0 if people were undecided."""
    direct: list[list[int]] | None = None
    """Votes of other people, who were shown the image and asked which caption is better; a pair may have none."""
    b_system: list[str] | None = None
    c_system: list[str] | None = None
    objects: dict[str, list[str]] | None = None
    """Labels of the objects in each image, if the file has them."""
    notes: list[str] = field(default_factory=list)

    def candidates(self) -> dict[str, list[str]]:
        return {"b": self.b, "c": self.c}

    def systems(self) -> dict[str, list[str]] | None:
        return None if self.b_system is None or self.c_system is None else {"b": self.b_system, "c": self.c_system}


Judgments: TypeAlias = "Ratings | Pairs"


def majority(votes: Sequence[int]) -> int:
    """1 if most votes are 1, for B; −1 if most are −1, for C; 0 if as many are for both."""
    total = sum(votes)
    return (total > 0) - (total < 0)


def usual_metrics(judgments: Judgments) -> str:
    """The metrics that are measured if none are named: those of captions, or those of caption sets."""
    return "diversity" if isinstance(judgments, Ratings) and judgments.sets is not None else "coco"


def with_notes(judgments: Ratings | Pairs) -> Ratings | Pairs:
    """The same, with notes on faults that affect every metric: equal captions in a pair, candidates among
    references.
    """
    notes = []
    if isinstance(judgments, Pairs):
        equal = sum(b == c for b, c in zip(judgments.b, judgments.c, strict=True))
        if equal:
            notes.append(f"pairs that hold one caption twice, on which every metric ties: {equal:,}")
    references = [set(map(letters_of, row.references)) for row in judgments.rows]
    listed = sum(
        any(letters_of(caption) in letters for caption in captions)
        for letters, *captions in zip(references, *judgments.candidates().values(), strict=True)
    )
    if listed:
        notes.append(f"candidates among their own references, which can be dropped from them: {listed:,}")
    return replace(judgments, notes=[*judgments.notes, *notes])


def letters_of(caption: str) -> str:
    """The caption without case, blanks and punctuation, for comparison."""
    return "".join(filter(str.isalnum, caption.lower()))


def without_own_references(judgments: Ratings | Pairs) -> Ratings | Pairs:
    """The same without candidates among their row's references, by letters and digits, so that case and full stops do
    not count. Raises `DataError` if that leaves a row without reference.
    """
    letters = {sentence: letters_of(sentence) for row in judgments.rows for sentence in row.references}
    rows, places, dropped = [], [], 0
    for row, *candidates in zip(judgments.rows, *judgments.candidates().values(), strict=True):
        candidate_letters = set(map(letters_of, candidates))
        chosen = [place for place, sentence in enumerate(row.references) if letters[sentence] not in candidate_letters]
        references = [row.references[place] for place in chosen]
        if not references:
            raise DataError(
                f"{judgments.source}: judgment {row.place + 1} (image {row.image_id!r}) has no reference other "
                "than its own candidate; remove it, or keep own references"
            )
        dropped += len(references) < len(row.references)
        rows.append(replace(row, references=references))
        places.append(chosen)
    note = f"rows in which a reference was removed because it is the candidate: {dropped:,}"
    changed = replace(judgments, rows=rows, notes=[*judgments.notes, note])
    if not isinstance(changed, Pairs) or changed.reference_votes is None:
        return changed
    votes = [[votes[place] for place in of_row] for votes, of_row in zip(changed.reference_votes, places, strict=True)]
    return replace(changed, reference_votes=votes)


def with_direct_votes(judgments: Ratings | Pairs, pairwise: Ratings | Pairs) -> Pairs:
    """The same pairs, with the votes that `pairwise` has on them: pairs meet by image and captions, in either order.
    Raises `DataError` if none meet.
    """
    if not isinstance(judgments, Pairs) or not isinstance(pairwise, Pairs):
        rated = pairwise if isinstance(judgments, Pairs) else judgments
        raise DataError(f"{rated.source}: ratings, and direct votes are on pairs; give two files of pairs")
    votes: dict[tuple[str, str, str], list[int]] = {}
    votes_of = pairwise.votes or [[sign] if sign else [] for sign in pairwise.preferred]
    for row, b, c, votes_of_pair in zip(pairwise.rows, pairwise.b, pairwise.c, votes_of, strict=True):
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
