"""`sacrecap calibrate`, and `--scores` and `--standard` of other commands."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from runner import Runner
from sacrecap import example

Write = Callable[[str, object], str]

SCORES = "image_id,system,metric\n" + "".join(
    f"{image},{system},{(image * 7 + place * 3) % 11 / 10}\n"
    for image in range(40)
    for place, system in enumerate("ab")
)
RATINGS = "image_id,system,rating\n" + "".join(
    f"{image},{system},{(image * 7 + place * 3) % 11 // 2}\n"
    for image in range(30)
    for place, system in enumerate("ab")
)


def test_json_of_calibrated_ratings(run: Runner, write: Write) -> None:
    command = ["calibrate", write("scores.csv", SCORES), write("ratings.csv", RATINGS), "--format", "json"]
    document = json.loads(run.ok(*command, "--plan"))
    assert {"estimate", "interval", "n", "worth"} < set(document)
    assert (document["n"], document["captions"], document["witnesses"]) == (60, 80, ["metric"])
    assert document["worth"] > 70
    assert set(document["systems"]) == {"a", "b"}
    assert [(pair["a"], pair["b"]) for pair in document["pairs"]] == [("a", "b")]
    assert [row["n"] for row in document["plan"]] == [20, 30, 50, 80]
    wide = json.loads(run.ok(*command, "--interval", "0.99"))["interval"]
    assert wide[0] < document["interval"][0] < document["interval"][1] < wide[1]


def test_the_table_says_what_it_is_about(run: Runner, write: Write) -> None:
    shown = run.ok("calibrate", write("scores.csv", SCORES), write("ratings.csv", RATINGS), "--witness", "metric")
    assert "the mean rating of all captions" in shown
    assert "80 captions, 60 judged, of 30 images; witnesses: metric" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--witness", "rater"], "scores.csv has no column rater; it has metric"),
        (["--interval", "1"], "1.0 is not in the range 0<x<1"),
        (["--rating-range", "5,1"], "'5,1' is not a smaller and a larger number"),
        (["--rating-range", "1,3"], "ratings.csv, line 2: rating must be a number from 1 to 3, got 0.0"),
        (["--output", "ratings.csv"], "--output ratings.csv would overwrite an input"),
    ],
)
def test_what_is_refused(run: Runner, write: Write, options: list[str], message: str) -> None:
    scores, ratings = write("scores.csv", SCORES), write("ratings.csv", RATINGS)
    assert message in run.refused("calibrate", scores, ratings, *options)


def test_all_equal_ratings_name_the_option(run: Runner, write: Write) -> None:
    ratings = "image_id,system,rating\n" + "".join(f"{n},{name},3\n" for n in range(5) for name in "ab")
    shown = run.ok("calibrate", write("scores.csv", SCORES), write("ratings.csv", ratings))
    assert "name the scale, such as --rating-range 1,5" in shown


# Scores of others in other commands


def test_scores_of_the_system_that_the_file_is_called_after(
    run: Runner, references: str, candidates: str, write: Write
) -> None:
    images = list(json.loads((run.folder / candidates).read_text()))
    name = candidates.removesuffix(".json")
    rows = [f"{image},{system},{value}" for image in images for system, value in ((name, 0.25), ("other", 0.75))]
    scores = write("scores.csv", "\n".join(["image_id,system,rater", *rows]))
    command = ["score", references, candidates, "--scores", scores, "--interval", "none", "--format", "json"]
    assert json.loads(run.ok(*command, "--metrics", "rater"))["scores"] == {"rater": 0.25}
    assert set(json.loads(run.ok(*command, "--metrics", "bleu-1"))["scores"]) == {"bleu-1", "rater"}
    unnamed = [*command[:2], write("mine.json", (run.folder / candidates).read_text()), *command[3:]]
    assert "has rows of several systems" in run.refused(*unnamed, "--metrics", "rater")


def test_a_standard_is_needed_by_one_system_and_written_by_several(
    run: Runner, references: str, candidates: str, write: Write
) -> None:
    other = write("other.json", example.system_path("plain").read_bytes())
    alone = ["score", references, candidates, "--metrics", "z(rouge-l)", "--format", "json"]
    assert "z(rouge-l) needs the mean and the deviation of rouge-l: --standard FILE" in run.refused(*alone)
    document = run.ok("compare", references, candidates, other, "--metrics", "z(rouge-l)", "--format", "json")
    found = json.loads(run.ok(*alone, "--standard", write("standard.json", document)))
    system = json.loads(document)["systems"][candidates.removesuffix(".json")]
    assert found["scores"] == system["scores"]


# Every metric on every judgment


def test_meta_names_data_sets_and_keeps_scores(run: Runner, write: Write) -> None:
    rows = [
        {"image_id": str(n), "references": [f"a dog number {n}"], "caption": f"a dog number {n % 3}", "rating": n % 4}
        for n in range(8)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    own, other = write("own.jsonl", lines), write("other.jsonl", lines)
    command = ["meta", own, f"polaris={other}", "--metrics", "rouge-l", "--interval", "none", "--format", "json"]
    document = json.loads(run.ok(*command))
    assert list(document["datasets"]) == ["own", "polaris"]
    assert document["datasets"]["own"]["metrics"] == document["datasets"]["polaris"]["metrics"]
    assert (document["datasets"]["own"]["published"], document["datasets"]["own"]["statistic"]) == ([], "kendall_c")
    assert len(document["datasets"]["polaris"]["published"]) == 4
    assert len([name for name in run.files() if name.startswith("meta-results/")]) == 2
    assert json.loads(run.ok(*command)) == document
    assert "none.jsonl: no such file" in run.refused("meta", "none.jsonl")
    (run.folder / "other.jsonl").write_text("[1]\n")
    assert "name what it is with --dataset, or NAME=FILE in sacrecap meta (" in run.refused("meta", "other.jsonl")
    assert "not recognised as human judgments" in run.refused("meta", "mine=other.jsonl")
    assert "row 1: expected a JSON object" in run.refused("meta", "pairs=other.jsonl")
