"""Pairs that people judged reference by reference and directly: exports of triplet and of pairwise studies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged import GOOD, POOR, REFERENCES, ratings, write_lines

from report.opened import data_of
from sacrecap.errors import DataError, UsageError
from sacrecap.judgments import Pairs, agreement, read_judgments
from sacrecap.judgments.judged_rows import with_direct_votes
from sacrecap.report.agreement_report import render
from sacrecap.report.html import render_html

COUNTS = [[(2, 1), (3, 0), (1, 1), (0, 3)], [(0, 3), (1, 2), (0, 2), (1, 2)], [(1, 1), (1, 1), (2, 2), (0, 0)]]
"""Of each pair, the people for B and for C at each of four references."""


def triplet_export() -> list[dict[str, Any]]:
    lines = []
    for number, counts in enumerate(COUNTS * 2):
        votes = [1 if b > c else -1 for b, c in counts if b != c]
        total = sum(votes)
        lines.append(
            {
                "image_id": str(number),
                "b": GOOD[number],
                "c": POOR[number],
                "category": ("HC", "HI", "HM")[number % 3],
                "references": list(REFERENCES[number] * 2),
                "winner": "b" if total > 0 else "c" if total < 0 else "tie",
                **({"votes": votes} if votes else {}),
                "people": [list(count) for count in counts],
            }
        )
    return lines


def pairwise_export() -> list[dict[str, Any]]:
    """Five of the six pairs, the second with its captions exchanged."""
    lines = []
    for number, votes in enumerate(([1, 1, -1], [1, 1, 1], [1, -1], [-1, -1, -1], [-1, 1, -1])):
        b, c = (POOR, GOOD) if number == 1 else (GOOD, POOR)
        total = sum(votes)
        lines.append(
            {
                "image_id": str(number),
                "b": b[number],
                "c": c[number],
                "references": list(REFERENCES[number]),
                "winner": "b" if total > 0 else "c" if total < 0 else "tie",
                "votes": votes,
                "people": [[votes.count(1), votes.count(-1)]],
            }
        )
    return lines


@pytest.fixture
def triplets(tmp_path: Path) -> str:
    return write_lines(tmp_path / "triplets.jsonl", triplet_export())


@pytest.fixture
def pairwise(tmp_path: Path) -> str:
    return write_lines(tmp_path / "pairwise.jsonl", pairwise_export())


def test_a_triplet_export_has_a_vote_for_each_reference(triplets: str) -> None:
    judged = read_judgments(triplets)
    assert isinstance(judged, Pairs)
    assert judged.preferred == [1, -1, 0] * 2
    assert judged.reference_votes == [[1, 1, 0, -1], [-1] * 4, [0] * 4] * 2
    assert judged.votes == [[1, 1, -1], [-1] * 4, []] * 2
    assert judged.direct is None


def test_halves_of_a_triplet_export(triplets: str) -> None:
    """As slow code splits them, with the same order of references."""
    judged = read_judgments(triplets)
    assert isinstance(judged, Pairs)
    assert judged.reference_votes is not None
    found = agreement(judged, "rouge-1", halves=30, seed=4, interval=None).halves
    assert found is not None
    random = np.random.default_rng(4)
    right = decided = 0
    for _ in range(30):
        for votes in judged.reference_votes:
            order = random.permutation(4)
            truth, said = (int(np.sign(sum(votes[place] for place in half))) for half in (order[:2], order[2:]))
            decided += truth != 0
            right += truth != 0 and truth == said
    assert found["people"]["all"].value == pytest.approx(right / decided)
    assert found["people"]["HI"].value == 1


def test_votes_as_many_as_references_are_theirs(tmp_path: Path) -> None:
    lines = triplet_export()[1::3]
    for line in lines:
        del line["people"]
    judged = read_judgments(write_lines(tmp_path / "own.jsonl", lines))
    assert isinstance(judged, Pairs)
    assert judged.reference_votes == [[-1] * 4] * 2


def test_direct_votes_are_not_of_references(pairwise: str) -> None:
    judged = read_judgments(pairwise)
    assert isinstance(judged, Pairs)
    assert judged.reference_votes is None
    with pytest.raises(UsageError, match="pairwise.jsonl has no vote on each of several references"):
        agreement(judged, "rouge-1", halves=1)


@pytest.mark.parametrize("people", [3, [[1]], [[1, -1]], [[1, 0.5]], [["b", "c"]]])
def test_people_that_are_no_counts_are_refused(tmp_path: Path, people: Any) -> None:
    lines = [{**triplet_export()[0], "people": people}]
    with pytest.raises(DataError, match="line 1: people must be a list of two whole numbers"):
        read_judgments(write_lines(tmp_path / "own.jsonl", lines))


def test_own_references_are_dropped_with_their_votes(tmp_path: Path) -> None:
    [line] = triplet_export()[:1]
    line["references"][3] = line["b"].upper() + " ."
    judged = read_judgments(write_lines(tmp_path / "own.jsonl", [line]), drop_own_reference=True)
    assert isinstance(judged, Pairs)
    assert judged.reference_votes == [[1, 1, 0]]
    assert len(judged.rows[0].references) == 3


def test_what_people_like_is_compared_with_what_is_like_people(triplets: str, pairwise: str) -> None:
    judged = read_judgments(triplets, pairwise=pairwise)
    assert isinstance(judged, Pairs)
    assert judged.direct == [[1, 1, -1], [-1, -1, -1], [1, -1], [-1, -1, -1], [-1, 1, -1], []]
    assert judged.notes == [f"pairs with direct votes in {pairwise}: 5 of 6"]
    found = agreement(judged, "rouge-1", interval=None)
    assert found.direct is not None
    # Decided by both: pair 0 alike, 1 alike, 3 differently, 4 alike. Pair 2 and 5 are undecided.
    assert {name: one.value for name, one in found.direct.items()} == pytest.approx(
        {"HC": 1 / 2, "HI": 1, "HM": float("nan"), "all": 3 / 4}, nan_ok=True
    )
    assert found.to_dict()["direct_votes"]["accuracy"]["all"] == 3 / 4
    assert "direct votes prefer what the consensus prefers: HC 0.5000  HI 1.0000" in render(found, "table")
    alone = replace(judged, votes=None)
    assert "direct votes prefer" not in render(agreement(alone, "rouge-1", interval=None), "table"), "a row has them"
    told = str(data_of(render_html(found)))
    assert "1 of 3 votes · 2 of 3 direct votes" not in told
    assert "2 of 3 votes · 2 of 3 direct votes" in told


def test_direct_votes_may_decide(triplets: str, pairwise: str) -> None:
    judged = read_judgments(triplets, pairwise=pairwise, votes="direct")
    assert isinstance(judged, Pairs)
    assert judged.preferred == [1, -1, 0, -1, -1, 0]
    assert judged.direct is None
    assert "the majority of the direct votes decides" in judged.notes
    assert agreement(judged, "rouge-1", interval=None).n == 4


def test_direct_votes_that_are_not_there(triplets: str, pairwise: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="triplets.jsonl has no direct votes beside the winner; pairwise=FILE"):
        read_judgments(triplets, votes="direct")
    with pytest.raises(UsageError, match="votes must be one of consensus, direct, got 'both'"):
        read_judgments(triplets, votes="both")
    others = [{**line, "image_id": "none"} for line in pairwise_export()]
    with pytest.raises(
        DataError, match=r"other.jsonl: no vote on a pair of .*triplets.jsonl; pairs meet by image and captions"
    ):
        read_judgments(triplets, pairwise=write_lines(tmp_path / "other.jsonl", others))
    with pytest.raises(DataError, match="test: ratings, and direct votes are on pairs"):
        with_direct_votes(ratings([(1.0,)]), read_judgments(pairwise))


def test_pairs_of_which_people_like_another_caption_are_named(triplets: str, pairwise: str) -> None:
    """Figure 7 of the CIDEr paper: pair 3 is decided for B by two references, and people like C."""
    judged = read_judgments(triplets, pairwise=pairwise)
    found = agreement(judged, "rouge-1", interval=None)
    human, other = REFERENCES[3]
    assert found.to_dict()["liked_otherwise"] == [
        {"image_id": "3", "human_like": GOOD[3], "liked": POOR[3], "references": [human, other]}
    ]
    assert f"{GOOD[3]}   {POOR[3]}   {human}; {other}" in render(found, "table")
    assert "liked_otherwise" not in agreement(read_judgments(triplets), "rouge-1", interval=None).to_dict()


def test_direct_votes_of_pairs_without_categories(triplets: str, pairwise: str) -> None:
    judged = read_judgments(triplets, pairwise=pairwise, categories=["HC"])
    assert isinstance(judged, Pairs)
    assert judged.categories == ["HC"] * 2
    assert judged.direct == [[1, 1, -1], [-1, -1, -1]]
