"""`sacrecap agreement` and `sacrecap score --rank`, as users run them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner import Runner

REFERENCES = {
    "1": ["a dog runs on the beach", "a brown dog runs along the sea"],
    "2": ["two men play chess", "two old men sit at a board"],
    "3": ["a red bus in the street", "a bus stops in a busy street"],
}
GOOD = {"1": "a dog runs along the beach", "2": "two men sit at a board", "3": "a bus in a street"}

Write = Callable[[str, object], str]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def pairs(write: Write) -> str:
    rows = [
        {"image_id": i, "references": own, "b": GOOD[i], "c": "a cat", "winner": "b", "category": "HM"}
        for i, own in REFERENCES.items()
    ]
    return write("pairs.jsonl", lines(rows))


@pytest.fixture
def ratings(write: Write) -> str:
    rows = [
        {"image_id": i, "references": own, "caption": caption, "rating": rating}
        for i, own in REFERENCES.items()
        for caption, rating in ((GOOD[i], [4, 5]), ("a cat", [1, 2]))
    ]
    return write("ratings.jsonl", lines(rows))


def test_json_of_pairs(run: Runner, pairs: str) -> None:
    document = json.loads(run.ok("agreement", pairs, "--format", "json", "--metrics", "rouge-l,cider-d"))
    assert document["dataset"] == "pairs"
    assert document["judgments"] == {"in_file": 3, "rows": 3, "images": 3, "notes": []}
    assert list(document["metrics"]) == ["rouge-l", "cider-d"]
    entry = document["metrics"]["rouge-l"]
    assert entry["accuracy"] == {"HM": 1.0, "all": 1.0}
    least = 0.025 ** (1 / 3)  # of three images, all right
    assert entry["interval"] == {name: pytest.approx([least, 1.0]) for name in ("HM", "all")}
    assert (entry["n"], entry["ties"]) == (3, {"HM": 0, "all": 0})
    [compared] = [one for one in document["comparisons"] if one["statistic"] == "all"]
    assert (compared["a"], compared["b"], compared["delta"], compared["p"]) == ("rouge-l", "cider-d", 0, 1)


def test_json_of_ratings(run: Runner, ratings: str) -> None:
    document = json.loads(run.ok("agreement", ratings, "--format", "json"))
    entry = document["metrics"]["meteor"]
    assert set(entry) == {"kendall_b", "kendall_c", "spearman", "pearson", "in_image", "n", "interval", "signature"}
    assert (entry["n"], entry["in_image"]) == (12, {"kendall_b": 1.0, "spearman": 1.0})
    assert document["people"]["split"] == "each rater predicts the others"


@pytest.mark.usefixtures("undrawn")
def test_several_numbers_of_references_make_a_list(run: Runner, ratings: str) -> None:
    options = ["--references", "1,2", "--draws", 2, "--plot", "curve.svg"]
    document = json.loads(run.ok("agreement", ratings, "--metrics", "rouge-l", "--format", "json", *options))
    assert [entry["references"] for entry in document["metrics"]["rouge-l"]] == [1, 2]
    assert "draws" in document["metrics"]["rouge-l"][0]
    assert "curve.svg" in run.files()


def test_ties_may_count_half(run: Runner, write: Write) -> None:
    row = {"image_id": "1", "references": REFERENCES["1"], "b": "a dog", "c": "a dog", "winner": "b"}
    path = write("tied.jsonl", lines([row, {**row, "c": "birds"}]))
    for ties, accuracy in (("wrong", 0.5), ("half", 0.75)):
        document = json.loads(run.ok("agreement", path, "--ties", ties, "--metrics", "rouge-1", "--format", "json"))
        assert document["metrics"]["rouge-1"]["accuracy"] == {"all": accuracy}
        assert document["judgments"]["notes"] == ["pairs that hold one caption twice, on which every metric ties: 1"]


def test_outsiders_scores(run: Runner, pairs: str, write: Write) -> None:
    scores = write("mine.csv", "mine.b,mine.c\n1,0\n0,1\n1,0\n")
    document = json.loads(run.ok("agreement", pairs, "--scores", scores, "--metrics", "rouge-l", "--format", "json"))
    assert document["metrics"]["mine"]["accuracy"]["all"] == pytest.approx(2 / 3)


def test_own_references_are_dropped(run: Runner, write: Write) -> None:
    row = {"image_id": "1", "references": ["A dog runs .", "dogs run"], "caption": "a dog runs", "rating": 1}
    path = write("own.jsonl", lines([row, {**row, "caption": "dogs", "rating": 2}]))
    command = ["agreement", path, "--metrics", "rouge-1", "--interval", "none", "--format", "json"]
    notes = json.loads(run.ok(*command, "--drop-own-reference"))["judgments"]["notes"]
    assert notes == ["rows in which a reference was removed because it is the candidate: 1"]


def test_standard_input_needs_a_name(run: Runner, pairs: str) -> None:
    data = (run.folder / pairs).read_bytes()
    assert "name what it is with --dataset" in run.refused("agreement", "-", stdin=data)
    shown = run.ok("agreement", "-", "--dataset", "pairs", "--metrics", "rouge-l", stdin=data)
    assert "ROUGE-L" in shown


def test_the_table_says_what_it_is_about(run: Runner, ratings: str) -> None:
    shown = run.ok("agreement", ratings, "--metrics", "rouge-l")
    assert "ROUGE-L" in shown
    assert "people" in shown
    assert "ratings: 12 ratings of 3 images; words are weighed by the judged rows that have them" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--references", "-1"], "'-1' is not a list of whole numbers, such as 1,5,48"),
        (["--references", "1,x"], "is not a list of whole numbers"),
        (["--references", "refs.json"], "such as 1,5,48; a file of references is given by --captions"),
        (["--references", "5"], "references must be from 0 to 2, as many as the judgments have, got 5"),
        (["--draws", "2"], "draws are of a number of references"),
        (["--halves", "2"], "pairs.jsonl has no vote on each of several references"),
        (["--rating-range", "5,1"], "'5,1' is not a smaller and a larger number"),
        (["--rating-range", "1,5"], "the range of ratings is for the format ratings"),
        (["--rating", "recall"], "pairs has one kind of rating"),
        (["--categories", "HC"], "no judgment of the categories HC; its categories: HM"),
        (["--captions", "none.json"], "none.json: no such file"),
        (["--dataset", "thumb"], "in its folder"),
        (["--plot", "curve.svg"], "a curve needs at least two numbers of references"),
        (["--plot", "curve.gif"], "end the name in .svg, .png, .pdf"),
        (["--plot", "x.svg", "--output", "x.svg", "--format", "csv", "--references", "1,2"], "both write x.svg"),
        (["--plot", "x.svg", "--report", "x.svg", "--references", "1,2"], "both write x.svg"),
        (["--metrics", "rouge-9"], "unknown metric 'rouge-9'"),
        (["--scores", "none.csv"], "none.csv: no such file"),
    ],
)
def test_what_is_refused(run: Runner, pairs: str, options: list[str], message: str) -> None:
    assert message in run.refused("agreement", pairs, *options)


def test_ratings_out_of_range(run: Runner, ratings: str) -> None:
    assert run.refused("agreement", ratings, "--rating-range", "1,4") == (
        "ratings.jsonl, line 1: rating must be a number from 1 to 4, got 5"
    )


# sacrecap score --rank


@pytest.fixture
def file(write: Write) -> str:
    return write("three.json", {**REFERENCES, "4": ["birds", "two birds", "two birds fly"]})


def test_references_are_ranked(run: Runner, file: str) -> None:
    command = ["score", file, "--rank", "4", "--metrics", "rouge-1,cider-d"]
    document = json.loads(run.ok(*command, "--format", "json"))
    assert list(document["images"]) == ["4"]
    assert [one["caption"] for one in document["images"]["4"]] == ["birds", "two birds", "two birds fly"]
    assert document["images"]["4"][1]["ranks"]["rouge-1"] == 2
    assert "two birds fly" in run.ok(*command)
    assert run.ok(*command, "--format", "markdown").startswith("**4**\n\n| ROUGE-1 | CIDEr-D | reference |")
    assert r"\begin{tabular}{rrl}" in run.ok(*command, "--format", "latex")
    assert len(run.ok("score", file, "--rank", "all", "--format", "csv").splitlines()) == 10


def test_ranking_by_given_document_frequencies(run: Runner, file: str) -> None:
    run.ok("df", "build", file, "-o", "own.df")
    own, given = (
        json.loads(run.ok("score", file, "--rank", "4", "--metrics", "cider-d", "--format", "json", *df))
        for df in ([], ["--df", "own.df"])
    )
    assert own == given


def test_ranking_that_is_refused(run: Runner, file: str, write: Write) -> None:
    assert "--rank all ranks every image" in run.refused("score", file, "--rank", "all", "--rank", "4")
    assert "no references of 1 image (9)" in run.refused("score", file, "--rank", "9")
    alone = write("alone.json", {"1": ["a dog"], "2": ["a", "b"]})
    assert "1 image (1) with fewer than two references" in run.refused("score", alone, "--rank", "all")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["captions.json"], "CANDIDATES"),
        (["--on-missing", "skip"], "--on-missing"),
        (["--report", "r.html"], "--report"),
        (["--explain", "4"], "--explain"),
        (["--engine", "stream"], "--engine"),
        (["--percent"], "--percent"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_for_candidates_is_refused_with_rank(run: Runner, file: str, given: list[str], named: str) -> None:
    refused = run.refused("score", file, *given, "--rank", "4")
    assert refused.startswith(f"--rank ranks references; leave {named} out")


def test_nothing_is_left_of_what_fails(run: Runner, tmp_path: Path, pairs: str) -> None:
    run.refused("agreement", pairs, "--output", "out.json", "--halves", "3")
    assert not (tmp_path / "out.json").exists()
