"""Files of human judgments: what they hold, how they are recognised, and what is refused."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from judged import CROWD, EXPERT, GOOD, POOR, REFERENCES, pair_lines, rating_lines, write_flickr, write_lines

from sacrecap.data import read_references
from sacrecap.errors import DataError, MissingDependencyError, SacrecapError, UsageError
from sacrecap.judgments import DATASETS, Pairs, Ratings, read_judgments
from sacrecap.judgments.datasets.read import FORMS
from sacrecap.judgments.datasets.releases import RELEASES


def refused(path: str | Path, message: str, error: type[SacrecapError] = DataError, **options: Any) -> None:
    with pytest.raises(error) as caught:
        read_judgments(path, **options)
    assert message in str(caught.value), str(caught.value)


# Flickr8k


def test_expert_rows_of_own_references_are_left_out(tmp_path: Path) -> None:
    judged = read_judgments(write_flickr(tmp_path))
    assert isinstance(judged, Ratings)
    assert (judged.dataset, judged.in_file, [row.place for row in judged.rows]) == ("flickr8k-expert", 5, [1, 3, 4])
    assert judged.ratings == [(1, 2, 1), (1, 1, 2), (2, 2, 3)]
    assert judged.captions == [REFERENCES[1][1], REFERENCES[0][1], REFERENCES[1][0]]
    assert [tuple(row.references) for row in judged.rows] == [REFERENCES[0], REFERENCES[1], REFERENCES[0]]
    assert judged.notes == ["rows left out whose caption is one of the image's own references: 2"]


def test_judged_captions_leave_the_references_of_the_crowd(tmp_path: Path) -> None:
    judged = read_judgments(write_flickr(tmp_path, None, CROWD))
    assert isinstance(judged, Ratings)
    assert judged.dataset == "flickr8k-cf"
    assert judged.ratings == [(1.0,), (0.0,), (0.333333333333333,)]
    assert judged.votes == [(3, 0), (0, 3), (1, 2)]
    # 1.jpg#0 is judged, so that both rows of image 1 keep the other reference alone.
    assert [tuple(row.references) for row in judged.rows] == [REFERENCES[0][1:], REFERENCES[0][1:], REFERENCES[1]]


def test_a_folder_of_both_needs_a_choice(tmp_path: Path) -> None:
    folder = write_flickr(tmp_path, EXPERT, CROWD)
    refused(folder, "holds judgments of flickr8k-cf and flickr8k-expert; choose one with dataset", UsageError)
    assert read_judgments(folder, dataset="flickr8k-cf").dataset == "flickr8k-cf"
    assert read_judgments(folder, dataset="flickr8k-expert").dataset == "flickr8k-expert"


def test_the_token_file_may_be_elsewhere(tmp_path: Path) -> None:
    write_flickr(tmp_path)
    (tmp_path / "away").mkdir()
    moved = (tmp_path / "ExpertAnnotations.txt").rename(tmp_path / "away" / "ratings.txt")
    refused(moved, "the captions are in Flickr8k.token.txt, which is not in the same folder")
    assert len(read_judgments(moved, captions=tmp_path / "Flickr8k.token.txt").rows) == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("9.jpg\t2.jpg#1\t1\t2\t1", "line 1: no captions of image '9.jpg' in the token file"),
        ("1.jpg\t2.jpg#7\t1\t2\t1", "line 1: no caption '2.jpg#7' in the token file"),
        ("1.jpg\t2.jpg#1\t1\t5\t1", "line 1: a rating must be a whole number from 1 to 4, got '5'"),
        ("1.jpg\t2.jpg#1\t1\tgood\t1", "line 1: a rating must be a whole number from 1 to 4, got 'good'"),
        ("1.jpg\t2.jpg#1\t1\t2", "line 1: 4 columns, expected 5"),
        ("1.jpg\t1.jpg#1\t4\t4\t4", "no judgment of flickr8k-expert in it; rows left out whose caption is one of"),
        ("", "no judgment in it"),
    ],
)
def test_expert_lines_that_are_refused(tmp_path: Path, line: str, message: str) -> None:
    write_flickr(tmp_path, line + "\n")
    refused(tmp_path / "ExpertAnnotations.txt", message, dataset="flickr8k-expert")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1.jpg\t2.jpg#1\t1.5\t3\t0", "the share of yes must be a number from 0 to 1, got '1.5'"),
        ("1.jpg\t2.jpg#1\t0.5\t3\t0", "a share of 0.5 does not follow from 3 votes for yes and 0 for no"),
        ("1.jpg\t2.jpg#1\t0.33\t1\t2", "a share of 0.33 does not follow from 1 votes for yes and 2 for no"),
        ("1.jpg\t2.jpg#1\t0\t0\t0", "a share of 0 does not follow from 0 votes"),
        ("1.jpg\t2.jpg#1\t0\t-1\t3", "a number of votes must be a whole number of at least 0, got '-1'"),
        ("1.jpg\t1.jpg#0\t1\t3\t0\n1.jpg\t1.jpg#1\t1\t3\t0", "every reference of image '1.jpg' is itself judged"),
    ],
)
def test_crowd_lines_that_are_refused(tmp_path: Path, line: str, message: str) -> None:
    refused(write_flickr(tmp_path, None, line + "\n"), message, dataset="flickr8k-cf")


# JSON lines


def test_pairs(tmp_path: Path) -> None:
    judged = read_judgments(write_lines(tmp_path / "pairs.jsonl", pair_lines()))
    assert isinstance(judged, Pairs)
    assert judged.preferred == [-1, 1, -1, 1, -1, 1]
    assert judged.categories == ["HI"] * 3 + ["HM"] * 3
    assert (judged.b[0], judged.c[0]) == (POOR[0], GOOD[0])
    assert judged.votes is None


def test_pairs_with_votes_and_systems(tmp_path: Path) -> None:
    lines = [
        {**line, "votes": [1, 1, -1] if line["winner"] == "b" else [-1, -1], "b_system": "x", "c_system": 7}
        for line in pair_lines()
    ]
    del lines[0]["category"]
    judged = read_judgments(write_lines(tmp_path / "pairs.jsonl", lines))
    assert isinstance(judged, Pairs)
    assert judged.direct is None
    assert judged.systems() == {"b": ["x"] * 6, "c": ["7"] * 6}
    assert judged.categories[0] == ""


def test_ratings_of_three_shapes(tmp_path: Path) -> None:
    for rating, wanted in ((3, (3.0,)), ([1, 2.5], (1.0, 2.5)), ({"clear": [2, 3], "true": 1}, (2.0, 3.0))):
        path = write_lines(tmp_path / "r.jsonl", [{**line, "rating": rating} for line in rating_lines()])
        judged = read_judgments(path)
        assert isinstance(judged, Ratings)
        assert judged.ratings == [wanted] * 12
    judged = read_judgments(path, rating="true")
    assert isinstance(judged, Ratings)
    assert (judged.aspect, judged.ratings[0]) == ("true", (1.0,))
    refused(path, "line 1: no rating called 'nice'; it has clear, true", rating="nice")


def test_references_of_ratings_may_be_elsewhere(tmp_path: Path) -> None:
    lines = [{"image_id": image, "caption": "a dog", "rating": 1} for image in ("1", "2")]
    lines[1]["references"] = ["its own"]
    path = write_lines(tmp_path / "r.jsonl", lines)
    references = write_lines(tmp_path / "refs.jsonl", [{"image_id": "1", "caption": "a dog runs"}])
    judged = read_judgments(path, captions=references)
    assert [list(row.references) for row in judged.rows] == [["a dog runs"], ["its own"]]
    other = write_lines(tmp_path / "other.jsonl", [{"image_id": "2", "caption": "a cat"}])
    refused(path, "line 1: no references of image '1', neither here nor in the file", captions=other)


def test_composites_own_names(tmp_path: Path) -> None:
    line = {
        "dataset": "flickr8k",
        "image": "i",
        "candidate": "A dog runs.",
        "human_score": 5,
        "references": ["a dog runs .", "dogs"],
    }
    path = write_lines(tmp_path / "composite.jsonl", [line, {**line, "candidate": "a cat"}])
    judged = read_judgments(path)
    assert judged.notes == ["candidates among their own references, which can be dropped from them: 1"]
    dropped = read_judgments(path, drop_own_reference=True)
    assert [list(row.references) for row in dropped.rows] == [["dogs"], ["a dog runs .", "dogs"]]
    only = write_lines(tmp_path / "only.jsonl", [{**line, "references": ["A dog runs"]}])
    refused(only, "judgment 1 (image 'i') has no reference other than its own candidate", drop_own_reference=True)


def test_a_pair_of_equal_captions_is_kept_and_noted(tmp_path: Path) -> None:
    lines = [{**line, "b": "same", "c": "same"} if n == 2 else line for n, line in enumerate(pair_lines())]
    judged = read_judgments(write_lines(tmp_path / "pairs.jsonl", lines))
    assert len(judged.rows) == 6
    assert judged.notes == ["pairs that hold one caption twice, on which every metric ties: 1"]


def changed(lines: list[dict[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    """The lines, with these fields of the second; None removes one."""
    second = {name: value for name, value in {**lines[1], **fields}.items() if value is not None}
    return [lines[0], second, *lines[2:]]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"category": "HX"}, "line 2: category must be one of HC, HI, HM, MM, got 'HX'"),
        ({"winner": "d"}, "line 2: winner must be one of b, c, tie, got 'd'"),
        ({"winner": 1}, "line 2: winner must be one of b, c, tie, got 1"),
        ({"image_id": None}, "line 2: no field 'image_id'; it has references, b, c, winner, category"),
        ({"image_id": 1.5}, "line 2: image_id must be text or a whole number, got 1.5"),
        ({"references": []}, "line 2: references must be a list of at least 1, each a caption, got []"),
        ({"references": "a dog"}, "line 2: references must be a list of at least 1, each a caption, got 'a dog'"),
        ({"references": ["a", 3]}, "line 2: references[1] must be a caption, got 3"),
        ({"b": " "}, "line 2: b must be a caption, got ' '"),
        ({"c": "a \ud800"}, "line 2: c must be a caption, got half a surrogate pair in 'a \\ud800'"),
        ({"votes": [2]}, "line 2: votes must be a list of 1 (for b) and -1 (for c), got [2]"),
        ({"votes": [-1]}, "line 2: the winner is 'b', but the votes add up to -1"),
    ],
)
def test_pairs_that_are_refused(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    refused(write_lines(tmp_path / "pairs.jsonl", changed(pair_lines(), **fields)), message)


def test_categories_of_ones_own(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "pairs.jsonl", changed(pair_lines(), category="easy"))
    refused(path, "others are accepted once they are named with categories")
    judged = read_judgments(path, categories=["HI", "HM", "easy"])
    assert isinstance(judged, Pairs)
    assert judged.categories[1] == "easy"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rating": 6}, "line 2: rating must be a number from 1 to 5, got 6"),
        ({"rating": [5, 0]}, "line 2: rating must be a number from 1 to 5, got 0"),
        ({"rating": float("inf")}, "line 2: rating must be a number from 1 to 5, got inf"),
        ({"rating": True}, "line 2: rating must be a number from 1 to 5, got True"),
        ({"rating": []}, "line 2: an empty list of ratings"),
        ({"rating": {}}, "line 2: no rating called None; it has none"),
        ({"caption": None}, "line 2: no field 'caption' or 'candidate'"),
    ],
)
def test_ratings_that_are_refused(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    refused(write_lines(tmp_path / "r.jsonl", changed(rating_lines(), **fields)), message, rating_range=(1, 5))


def test_lines_of_several_kinds_are_refused_and_the_way_out_is_named(tmp_path: Path) -> None:
    """Whatever the first line is: each kind has a protocol of its own."""
    rated = {"image_id": "1", "caption": "a dog", "references": ["a dog runs"], "rating": [3]}
    lines = {
        ".caption and (.captions | not)": rated,
        ".captions": {**rated, "captions": ["a dog", "a cat"]},
        ".winner": {"image_id": "1", "references": ["a dog runs"], "b": "a dog", "c": "a cat", "winner": "b"},
        ".answers and (.caption | not)": {"image_id": "1", "answers": {"why": ["so"]}},
    }
    for (one, first), (other, second) in itertools.permutations(lines.items(), 2):
        path = tmp_path / "mixed.jsonl"
        path.write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"has .* \(from line 1\), .* \(from line 2\)") as refused:
            read_judgments(path, dataset="pairs" if one == ".winner" else "ratings")
        assert all(f"jq -c 'select({kind})' {path}" in str(refused.value) for kind in (one, other))


def test_undecided_pairs_can_be_won_by_one_of_the_two(tmp_path: Path) -> None:
    pair = {"image_id": "1", "references": ["a dog runs"], "b": "a dog", "c": "a cat"}
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps({**pair, "winner": own}) + "\n" for own in ("b", "tie", "c")), encoding="utf-8")
    for undecided, expected in (("out", [1, 0, -1]), ("b", [1, 1, -1]), ("c", [1, -1, -1])):
        found = read_judgments(path, undecided=undecided)
        assert isinstance(found, Pairs)
        assert found.preferred == expected
        assert any("counted as won by" in note and note.endswith(": 1") for note in found.notes) == (undecided != "out")
    path.write_text(json.dumps({"image_id": 1, "caption": "a", "references": ["b"], "rating": 3}), encoding="utf-8")
    with pytest.raises(UsageError, match="has ratings; undecided 'c' is for pairs"):
        read_judgments(path, undecided="c")


def test_options_of_other_formats_are_refused(tmp_path: Path) -> None:
    ratings = write_lines(tmp_path / "r.jsonl", rating_lines())
    refused(ratings, "has one rating per caption, so there is no 'recall' to choose", UsageError, rating="recall")
    pairs = write_lines(tmp_path / "p.jsonl", pair_lines())
    refused(pairs, "pairs has one kind of rating; leave the rating 'total' out", UsageError, rating="total")
    refused(pairs, "the range of ratings is for the format ratings", UsageError, rating_range=(1, 5))
    refused(pairs, "dataset must be one of", UsageError, dataset="pascal")


# THumB

THUMB = {
    "SYS": "x",
    "seg_id": "7",
    "hyp": "a dog runs",
    "image": "i.jpg",
    "P": 4.0,
    "R": 3.0,
    "Fl": -0.5,
    "Inc": -0.0,
    "Con": -0.1,
    "human_score": 2.9,
}


def test_thumb(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "mscoco_THumB-1.0.jsonl", [THUMB, {**THUMB, "SYS": "y"}])
    refused(path, "no file of references (JSON lines of seg_id and refs) in its folder")
    references = write_lines(tmp_path / "mscoco_references.jsonl", [{"seg_id": 7, "refs": list(REFERENCES[0])}])
    for aspect, value in ((None, 2.9), ("precision", 4), ("recall", 3), ("fluency", -0.5), ("conciseness", -0.1)):
        judged = read_judgments(tmp_path, rating=aspect)
        assert isinstance(judged, Ratings)
        assert judged.ratings == [(value,)] * 2
    assert judged.system == ["x", "y"]
    assert read_judgments(path, captions=references).rows[0].references == list(REFERENCES[0])
    refused(path, "rating must be one of total, precision", UsageError, rating="style")
    refused(
        write_lines(tmp_path / "t.jsonl", [{**THUMB, "P": 6}]), "P must be a number from 1 to 5", rating="precision"
    )
    refused(write_lines(tmp_path / "t.jsonl", [{**THUMB, "seg_id": "8"}]), "line 1: no references of image '8'")


def write_composite(folder: Path, answers: list[str], name: str = "coco_correctness.csv") -> Path:
    """Two images of four captions each, and the rows below the table that the release has."""
    urls = [f"http://x.org/COCO_val2014_00000000000{n}.jpg" for n in (1, 2)]
    head = ["HITId", "Input.image_url", *(f"Input.text{n}" for n in range(1, 5))]
    head += [f"Answer.Q{n}Answer" for n in range(1, 5)]
    texts = [["a dog runs .", "a cat", "a big dog", "dogs"], ["a man", "two men", "nobody", "a bus"]]
    rows = [["h", url, *own, *row.split()] for url, own, row in zip(urls, texts, answers, strict=True)]
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([head, *rows, [""] * len(head), [""] * len(head)])
    return folder / name


def test_composite_as_released(tmp_path: Path) -> None:
    """Its references are elsewhere; captions among them are people's."""
    references = tmp_path / "captions.json"
    references.write_text(json.dumps({"1": ["A dog runs.", "A dog."], "2": ["Two men", "Men."]}), encoding="utf-8")
    path = write_composite(tmp_path, ["5 1 4 2", "3 5 1 1"])
    refused(path, "has no references; name a file of them")
    judged = read_judgments(path, captions=references)
    assert isinstance(judged, Ratings)
    assert (judged.dataset, judged.aspect, len(judged.rows)) == ("ratings", "relevance", 8)
    assert judged.system == ["human", "text2", "text3", "text4", "text1", "human", "text3", "text4"]
    assert [own[0] for own in judged.ratings] == [5, 1, 4, 2, 3, 5, 1, 1]
    assert "rows without ratings, left out: 2" in judged.notes
    machines = read_judgments(path, captions=references, categories=["machine"], rating="relevance")
    assert isinstance(machines, Ratings)
    assert [row.place for row in machines.rows] == [1, 2, 3, 4, 6, 7]
    thorough = write_composite(tmp_path, ["5 1 4 2", "3 5 1 1"], "coco_throughness.csv")
    assert getattr(read_judgments(thorough, captions=references), "aspect", "") == "thoroughness"
    refused(thorough, "has ratings of thoroughness", UsageError, captions=references, rating="relevance")
    refused(write_composite(tmp_path, ["5 1 4 6", "3 5 1 1"]), "Answer.Q4Answer must be", captions=references)
    references.write_text(json.dumps({"1": ["A dog runs."]}), encoding="utf-8")
    refused(path, "line 3: no references of image 'COCO_val2014_000000000002.jpg'", captions=references)


# ABSTRACT-50S and PASCAL-50S

TRIPLETS = [
    # Two pairs of an image, which share the first sentence: a correct and an incorrect one beside it.
    *((reference, GOOD[0], "a dog runs", vote) for reference, vote in zip(REFERENCES[0], (1, 1), strict=True)),
    *((reference, POOR[0], GOOD[0], vote) for reference, vote in zip(REFERENCES[0], (-1, 1), strict=True)),
    *((reference, GOOD[1], "men", vote) for reference, vote in zip(REFERENCES[1], (-1, -1), strict=True)),
    *((reference, GOOD[1], POOR[1], vote) for reference, vote in zip(REFERENCES[1], (1, 1), strict=True)),
]


def write_triplets_csv(path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["pair", "A_reference", "B", "C", "vote"])
        writer.writerows([number // 2, *triplet] for number, triplet in enumerate(TRIPLETS))
    return path


def struct(names: str, rows: list[tuple[Any, ...]]) -> np.ndarray:
    array = np.empty((1, len(rows)), dtype=[(name, "O") for name in names.split()])
    for number, row in enumerate(rows):
        array[0, number] = row
    return array


def write_triplets_matlab(path: Path, triplets: list[tuple[str, str, str, int]]) -> Path:
    scipy.io.savemat(path, {"triplets": struct("A B C rating", [([[a]], [[b]], [[c]], v) for a, b, c, v in triplets])})
    return path


@pytest.mark.parametrize("form", ["csv", "mat"])
def test_abstract50s(tmp_path: Path, form: str) -> None:
    path = (
        write_triplets_csv(tmp_path / "t.csv") if form == "csv" else write_triplets_matlab(tmp_path / "t.mat", TRIPLETS)
    )
    judged = read_judgments(path)
    assert isinstance(judged, Pairs)
    assert (judged.dataset, len(judged.rows)) == ("abstract-50s", 4)
    assert judged.categories == ["HC", "HI", "HC", "HI"]
    assert judged.preferred == [1, 0, -1, 1]
    assert judged.votes == [[1, 1], [-1, 1], [-1, -1], [1, 1]]
    assert judged.reference_votes == judged.votes
    assert [row.image_id for row in judged.rows] == ["0", "0", "1", "1"]


def test_a_folder_with_both_forms_is_read_as_text(tmp_path: Path) -> None:
    write_triplets_matlab(tmp_path / "consensus_abstract.mat", TRIPLETS)
    write_triplets_csv(tmp_path / "triplets.csv")
    assert read_judgments(tmp_path).source.endswith("triplets.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace(",1\r\n", ",2\r\n", 1), "triplet 1: the vote must be 1 (B is closer) or -1"),
        (lambda text: text.replace("a dog runs,", ",", 1), "triplet 1: an empty sentence"),
        (lambda text: text.replace(",1\r\n", "\r\n", 1), "triplet 1: not as many columns as the first line"),
        (lambda text: text.splitlines(keepends=True)[0], "no triplet in it"),
        (lambda text: "".join(text.splitlines(keepends=True)[:-2]), "ABSTRACT-50S has two per image"),
    ],
)
def test_triplets_that_are_refused(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    path = write_triplets_csv(tmp_path / "t.csv")
    path.write_bytes(change(path.read_bytes().decode()).encode())
    refused(path, message)


PASCAL_PAIRS = [("1.jpg", GOOD[0], POOR[0]), ("1.jpg", "a dog", GOOD[0]), ("2.jpg", GOOD[1], POOR[1])]


def write_pascal(folder: Path, **changes: Any) -> Path:
    results = np.empty((1, 3), dtype=[("result", "O")])
    for number, votes in enumerate(([1] * 11, [-1, 1, -1], [1, 1, -1])):
        results[0, number] = (np.array([votes], dtype=np.int16),)
    variables = {
        "new_input": struct("name sent1 sent2", PASCAL_PAIRS),
        "new_data": np.array([[6, 7], [6, 6], [2, 6]], dtype=np.uint8),
        "category": np.array([[2, 1, 3]], dtype=np.uint8),
        "result": results,
    }
    scipy.io.savemat(folder / "pair_pascal.mat", {**variables, **changes})
    return folder / "pair_pascal.mat"


def test_pascal50s_with_its_consensus(tmp_path: Path) -> None:
    write_pascal(tmp_path)
    votes = [(1, 1), (1, 1), (-1, -1)]
    references = [REFERENCES[0], REFERENCES[0], REFERENCES[1]]
    triplets = [
        (a, b, c, v)
        for (_, b, c), own, vs in zip(PASCAL_PAIRS, references, votes, strict=True)
        for a, v in zip(own, vs, strict=True)
    ]
    write_triplets_matlab(tmp_path / "consensus_pascal.mat", triplets)
    judged = read_judgments(tmp_path)
    assert isinstance(judged, Pairs)
    assert (judged.dataset, judged.categories) == ("pascal-50s", ["HI", "HC", "HM"])
    assert judged.preferred == [1, 1, -1]
    assert judged.systems() == {"b": ["human", "human", "2"], "c": ["human, other image", "human", "human"]}
    assert [tuple(row.references) for row in judged.rows] == references
    write_triplets_matlab(tmp_path / "consensus_pascal.mat", triplets[:-1])
    refused(tmp_path, "5 triplets cannot be divided evenly among 3 pairs")
    write_triplets_matlab(tmp_path / "consensus_pascal.mat", triplets[::-1])
    refused(tmp_path, "the triplets of pair 1 are about other captions")


def test_pascal50s_without_it_takes_references_from_a_file(tmp_path: Path) -> None:
    path = write_pascal(tmp_path)
    refused(path, "the references are not in this file; put consensus_pascal.mat in its folder")
    references = tmp_path / "references.json"
    references.write_text(json.dumps({"1.jpg": REFERENCES[0], "2.jpg": REFERENCES[1]}), encoding="utf-8")
    judged = read_judgments(path, captions=references)
    assert isinstance(judged, Pairs)
    assert judged.preferred == [1, -1, 1]
    references.write_text(json.dumps({"1.jpg": REFERENCES[0]}), encoding="utf-8")
    refused(path, "no references of image '2.jpg'", captions=references)


def write_references(folder: Path, references: dict[str, list[str]]) -> Path:
    """As `pascal50S.mat` holds them."""
    cells = []
    for image, sentences in references.items():
        cell = np.empty((1, len(sentences)), dtype=object)
        cell[0, :] = sentences
        cells.append((image, cell))
    scipy.io.savemat(folder / "pascal50S.mat", {"refs": struct("image sent", cells)})
    return folder / "pascal50S.mat"


def test_pascal50s_with_the_released_references(tmp_path: Path) -> None:
    """They stand in place of those that the lines have; votes on other references are left out."""
    references = {"1.jpg": [" a dog ", "a hound", "some dog"], "2.jpg": ["men", "two men"]}
    released = write_references(tmp_path, references)
    known = read_references(released)
    assert {image: known.captions(image) for image in known.image_ids} == {
        image: [one.strip() for one in own] for image, own in references.items()
    }
    (lines := tmp_path / "lines").mkdir()
    write_lines(lines / "p.jsonl", [_line("1.jpg"), _line("2.jpg")])
    judged = read_judgments(lines, captions=released)
    assert isinstance(judged, Pairs)
    assert [len(row.references) for row in judged.rows] == [3, 2]
    assert f"references of each image from {released}" in judged.notes
    refused(lines, "nothing.mat: no such file", captions=tmp_path / "nothing.mat")
    write_lines(lines / "p.jsonl", [_line("3.jpg")])
    refused(lines, "pascal50S.mat: no references of image '3.jpg'", captions=released)
    scipy.io.savemat(tmp_path / "pascal50S.mat", {"refs": struct("a b", [("1", "2")])})
    refused(lines, "pascal50S.mat: refs must have the fields image and sent", captions=released)


def test_the_consensus_decides_whichever_references_are_scored(tmp_path: Path) -> None:
    (folder := tmp_path / "pascal").mkdir()
    write_pascal(folder)
    triplets = [(a, b, c, -1) for _, b, c in PASCAL_PAIRS for a in REFERENCES[0]]
    fields = struct("A B C label", [([[a]], [[b]], [[c]], v) for a, b, c, v in triplets])
    scipy.io.savemat(folder / "consensus_pascal.mat", {"triplets": fields})
    released = write_references(tmp_path, {"1.jpg": ["x y", "z"], "2.jpg": ["u"]})
    judged = read_judgments(folder, captions=released)
    assert isinstance(judged, Pairs)
    assert judged.preferred == [-1, -1, -1]
    assert [list(row.references) for row in judged.rows] == [["x y", "z"], ["x y", "z"], ["u"]]
    assert judged.reference_votes is None
    assert judged.direct is not None


def test_pairs_of_some_categories(tmp_path: Path) -> None:
    write_pascal(tmp_path)
    released = write_references(tmp_path, {"1.jpg": ["x y", "z"], "2.jpg": ["u"]})
    judged = read_judgments(tmp_path / "pair_pascal.mat", captions=released, categories=["HM", "MM", "HC"])
    assert isinstance(judged, Pairs)
    assert [(row.image_id, row.place) for row in judged.rows] == [("1.jpg", 1), ("2.jpg", 2)]
    assert judged.categories == ["HC", "HM"]
    assert "judgments of other categories, left out: 1" in judged.notes
    refused(tmp_path / "pair_pascal.mat", "its categories: HC, HI, HM", captions=released, categories=["MM"])
    rated = write_lines(tmp_path / "r.jsonl", rating_lines())
    refused(rated, "no judgment of the categories MM; its categories: none", categories=["MM"])


def _line(image: str) -> dict[str, Any]:
    return {
        "image": image,
        "category": "HI",
        "B": GOOD[0],
        "C": POOR[0],
        "consensus_label": 0,
        "references": list(REFERENCES[0]),
    }


def test_pascal50s_that_is_refused(tmp_path: Path) -> None:
    references = tmp_path / "references.json"
    references.write_text(json.dumps({"1.jpg": REFERENCES[0], "2.jpg": REFERENCES[1]}), encoding="utf-8")
    path = write_pascal(tmp_path, category=np.array([[2, 5, 3]], dtype=np.uint8))
    refused(path, "pair 2 is of category 5, expected 1 to 4", captions=references)
    path = write_pascal(tmp_path, category=np.array([[2, 3]], dtype=np.uint8))
    refused(path, "are not equally long", captions=references)
    path = write_pascal(tmp_path, result=struct("result", [([[1]],), ([[0]],), ([[1]],)]))
    refused(path, "the votes of pair 2 must be 1 or -1, got [0]", captions=references)


def test_pascal50s_as_lines(tmp_path: Path) -> None:
    line = {
        "image": "1.jpg",
        "category": "HI",
        "B": GOOD[0],
        "C": POOR[0],
        "consensus_label": 0,
        "references": list(REFERENCES[0]),
        "votes": [1, -1, 1],
        "source_B": 6,
        "source_C": 7,
    }
    path = write_lines(tmp_path / "p.jsonl", [line, {**line, "consensus_label": 1}])
    judged = read_judgments(path)
    assert isinstance(judged, Pairs)
    assert (judged.dataset, judged.preferred, judged.votes) == ("pascal-50s", [1, -1], None)
    for label in (2, True, "0", [1], {}):
        refused(write_lines(tmp_path / "p.jsonl", [{**line, "consensus_label": label}]), "consensus_label must be 0")
    refused(write_lines(tmp_path / "p.jsonl", [{**line, "category": "XX"}]), "category must be one of HC, HI, HM, MM")


def test_pascal50s_as_lines_of_several_files(tmp_path: Path) -> None:
    """As one data set; a pair that comes twice is refused, whichever files it is in."""
    line = {
        "image": "1.jpg",
        "category": "HI",
        "B": GOOD[0],
        "C": POOR[0],
        "consensus_label": 0,
        "references": list(REFERENCES[0]),
        "pair": 1,
    }
    write_lines(tmp_path / "a.jsonl", [line, {**line, "pair": 2, "category": "HM"}])
    write_lines(tmp_path / "b.jsonl", [{**line, "pair": 3, "category": "MM", "consensus_label": 1}])
    judged = read_judgments(tmp_path)
    assert isinstance(judged, Pairs)
    assert (judged.categories, judged.preferred) == (["HI", "HM", "MM"], [1, 1, -1])
    assert read_judgments(tmp_path / "b.jsonl").in_file == 1
    write_lines(tmp_path / "b.jsonl", [{**line, "pair": 2}])
    refused(tmp_path, "b.jsonl, line 1: pair 2 is in ")
    refused(tmp_path, "a.jsonl, line 2, too; remove one of them")


# Files that are none of these


def test_matlab_files_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.mat"
    scipy.io.savemat(other, {"x": 1})
    refused(other, "not recognised as human judgments")
    refused(other, "no variable 'triplets' in it, it holds x; is this the right file?", dataset="abstract-50s")
    whole = write_triplets_matlab(tmp_path / "t.mat", TRIPLETS).read_bytes()
    (tmp_path / "half.mat").write_bytes(whole[: len(whole) // 2])
    refused(tmp_path / "half.mat", "download it again")
    (tmp_path / "fields.mat").unlink(missing_ok=True)
    scipy.io.savemat(tmp_path / "fields.mat", {"triplets": struct("A B", [("a", "b")])})
    refused(tmp_path / "fields.mat", "triplets must have the fields A, B, C and rating, they have A, B")
    monkeypatch.setitem(__import__("sys").modules, "scipy.io", None)
    refused(tmp_path / "t.mat", "pip install 'sacrecap[study]'", MissingDependencyError)


def test_what_is_no_judgment(tmp_path: Path) -> None:
    refused(tmp_path / "nothing.jsonl", "no such file")
    refused(tmp_path, "no file in this folder is recognised as human judgments; name the file itself")
    (tmp_path / "a.jsonl").write_text("")
    refused(tmp_path / "a.jsonl", "not recognised as human judgments; name what it is with dataset")
    for dataset in ("pairs", "ratings", "thumb"):
        refused(tmp_path / "a.jsonl", "no judgment in it" if dataset != "thumb" else "in its folder", dataset=dataset)
    (tmp_path / "a.json").write_text("[]")
    (tmp_path / "a.csv").write_text("caption,references,rating\n")
    for name in ("a.json", "a.csv"):
        refused(tmp_path / name, f"{name}: no judgment in it", dataset="ratings")
    (tmp_path / "a.jsonl").write_text("[1]\n")
    refused(tmp_path / "a.jsonl", "row 1: expected a JSON object, got the number 1", dataset="pairs")
    (tmp_path / "a.jsonl").write_text("{\n")
    refused(tmp_path / "a.jsonl", "line 1: not a row of JSON", dataset="pairs")
    (tmp_path / "a.jsonl").write_bytes(b'{"b": 1}\n\xff\n')
    refused(tmp_path / "a.jsonl", "line 2, column 1: byte 9 (0xff) is not UTF-8; save", dataset="pairs")


def test_a_folder_of_two_files_of_a_format_needs_a_name(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", pair_lines())
    write_lines(tmp_path / "b.jsonl", pair_lines())
    refused(tmp_path, "holds several files of pairs (a.jsonl, b.jsonl); name one of them", UsageError)
    refused(tmp_path, "no file in this folder is recognised as thumb; it has pairs", dataset="thumb")


def test_compressed_files(tmp_path: Path) -> None:
    path = Path(write_lines(tmp_path / "pairs.jsonl", pair_lines()))
    compressed = tmp_path / "pairs.jsonl.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    assert len(read_judgments(compressed).rows) == 6
    compressed.write_bytes(b"\x1f\x8bnot gzip")
    refused(compressed, "not recognised as human judgments")


def test_every_dataset_is_tested_above() -> None:
    assert {form.dataset for form in FORMS} == set(DATASETS)
    assert {form.dataset for form in FORMS if form not in RELEASES} == {  # the others are in test_released
        "pascal-50s",
        "abstract-50s",
        "flickr8k-expert",
        "flickr8k-cf",
        "thumb",
        "pairs",
        "ratings",
    }
