"""Ratings as people have them: five layouts of the same ratings are one table, for agreement and for calibrate."""

from __future__ import annotations

import csv
import itertools
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sacrecap.errors import DataError
from sacrecap.judgments import Ratings, agreement, calibrate, read_judgments
from sacrecap.judgments.agreement_statistics import alpha, icc

RATERS = ("Ann", "Bob", "Cem")
CHANCE = random.Random(3)
CAPTIONS = [(f"i{image}", system, f"{system} dog number {image}") for image in range(30) for system in ("one", "two")]
SAID = {key: [CHANCE.choice([1, 2, 3, 4, 5, None]) for _ in RATERS] for key in CAPTIONS}
"""The ratings of each caption; None is a blank."""
for key in CAPTIONS:
    SAID[key][0] = SAID[key][0] or 3
REFERENCES = {image: [f"one dog number {image[1:]}", "a dog"] for image, _, _ in CAPTIONS}


def table(path: Path, head: list[str], rows: list[list[Any]], **how: Any) -> Path:
    with path.open("w", newline="", encoding=how.pop("encoding", "utf-8")) as file:
        csv.writer(file, **how).writerows([head, *rows])
    return path


def lists(folder: Path) -> Path:
    lines = [
        {"image_id": i, "system": s, "caption": c, "rating": [one for one in own if one is not None]}
        for (i, s, c), own in SAID.items()
    ]
    path = folder / "lists.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def mturk(folder: Path) -> Path:
    """A row per rater, in the order in which workers answered, with Amazon's names of columns."""
    rows = [
        [f"A{rater}", i, s, c, own[place]]
        for (place, rater), ((i, s, c), own) in itertools.product(enumerate(RATERS), SAID.items())
    ]
    head = ["WorkerId", "Input.image_id", "Input.system", "Input.caption", "Answer.rating"]
    return table(folder / "mturk.csv", head, [["" if one is None else one for one in row] for row in rows])


def label_studio(folder: Path) -> Path:
    rows = [
        {"image_id": i, "system": s, "caption": c, "annotator": rater, "rating": None if one is None else str(one)}
        for (i, s, c), own in SAID.items()
        for rater, one in zip(RATERS, own, strict=True)
    ]
    path = folder / "label-studio.json"
    path.write_text(json.dumps(rows))
    return path


def spreadsheet(folder: Path) -> Path:
    """A column per rater, as a spreadsheet of another country writes it."""
    rows = [[i, s, c, *("" if one is None else one for one in own)] for (i, s, c), own in SAID.items()]
    head = ["Image ID", "System", "Caption", "R1", "R2", "R3"]
    return table(folder / "wide.csv", head, rows, delimiter=";", encoding="utf-8-sig")


def named(folder: Path) -> Path:
    """A column per rater, with the raters' names; `n/a` where somebody did not rate."""
    rows = [[i, s, c, *("n/a" if one is None else one for one in own)] for (i, s, c), own in SAID.items()]
    head = ["image_id", "system", "caption", *(f"by {r}" for r in RATERS)]
    return table(folder / "named.tsv", head, rows, delimiter="\t")


LAYOUTS: dict[Callable[[Path], Path], dict[str, Any]] = {
    lists: {},
    mturk: {},
    label_studio: {},
    spreadsheet: {},
    named: {"raters": "by *"},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_five_layouts_are_one_table(layout: Callable[[Path], Path], tmp_path: Path) -> None:
    references = tmp_path / "references.json"
    references.write_text(json.dumps(REFERENCES))
    found = read_judgments(layout(tmp_path), captions=references, **LAYOUTS[layout])
    expected = read_judgments(lists(tmp_path), captions=references)
    assert isinstance(found, Ratings)
    assert isinstance(expected, Ratings)
    told = [(row.image_id, own, set_) for row, own, set_ in zip(found.rows, found.captions, found.ratings, strict=True)]
    assert told == [(i, c, tuple(one for one in own if one is not None)) for (i, _, c), own in SAID.items()]
    assert found.system == expected.system
    shown, usual = (agreement(one, "rouge-l", interval=None, raters="mean") for one in (found, expected))
    assert shown.to_dict()["metrics"] == usual.to_dict()["metrics"]
    assert shown.to_dict()["among_raters"] == usual.to_dict()["among_raters"]
    blanks = sum(one is None for own in SAID.values() for one in own)
    assert (f"blank ratings, left out: {blanks}" in found.notes) == (layout is not lists)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_five_layouts_are_calibrated_alike(layout: Callable[[Path], Path], tmp_path: Path) -> None:
    scores = {
        "image_id": [f"i{n}" for n in range(60) for _ in "ab"],
        "system": ["one", "two"] * 60,
        "judge": [random.Random(n).random() for n in range(120)],
    }
    found = calibrate(scores, layout(tmp_path), **LAYOUTS[layout])
    expected = calibrate(scores, lists(tmp_path))
    assert (found.overall, found.systems, found.answers) == (expected.overall, expected.systems, expected.answers)


def test_words_of_other_tools_have_a_mapping(tmp_path: Path) -> None:
    lines = [
        {"image_id": str(n), "references": ["a dog"], "b": "a dog", "c": "a cat", "winner": word}
        for n, word in enumerate(["model_a", "model_b", "unsure", "b"])
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DataError, match="winner must be one of b, c, tie, got 'model_a'"):
        read_judgments(path)
    found = read_judgments(path, words={"model_a": "b", "Model_B": "c", "unsure": "tie"})
    assert found.preferred == [1, -1, 0, 1]  # type: ignore[union-attr]
    numbers = [{**line, "winner": own} for line, own in zip(lines, [1, 2, "tie", "b"], strict=True)]
    path.write_text("".join(json.dumps(line) + "\n" for line in numbers))
    assert read_judgments(path, words={"1": "b", "2": "c"}).preferred == [1, -1, 0, 1]  # type: ignore[union-attr]
    rated = table(tmp_path / "words.csv", ["image_id", "caption", "rating"], [["1", "x", "good"], ["2", "y", "bad"]])
    assert calibrate(
        {"image_id": ["1", "2", "3"], "judge": [1, 2, 3]}, rated, words={"good": "3", "bad": "1"}
    ).overall.alone == pytest.approx(2)


def test_a_pattern_that_fits_no_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no column fits 'Z\*'; its columns"):
        read_judgments(named(tmp_path), raters="Z*")


def test_captions_that_say_the_same_stay_two(tmp_path: Path) -> None:
    rows = [["1", "['a dog']", "a dog", rater, one] for one in (1, 5) for rater in RATERS]
    found = read_judgments(
        table(tmp_path / "twice.csv", ["image_id", "references", "caption", "rater", "rating"], rows)
    )
    assert found.ratings == [(1, 1, 1), (5, 5, 5)]  # type: ignore[union-attr]


def test_agreement_among_raters_is_that_of_the_books() -> None:
    """Krippendorff's example (2011, intervals: 0.849), and Shrout and Fleiss' (1979, ICC(1): 0.17)."""
    blank = None
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, blank, blank, blank],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, blank, 3],
        [blank, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, blank],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, blank],
    ]
    units = [[float(one) for one in own if one is not None] for own in zip(*rows, strict=True)]
    assert alpha(units) == pytest.approx(0.849, abs=5e-4)
    judged = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]
    assert icc(judged) == pytest.approx(0.166, abs=5e-4)
    assert math.isnan(alpha([(1,), (2,)]))
    assert math.isnan(alpha([(2, 2), (2, 2)]))
    assert math.isnan(icc([(1,), (2,)]))


@pytest.mark.parametrize("stray", [-1, -999, 1_000_000])
def test_ratings_that_stand_for_none_are_told(stray: int, tmp_path: Path) -> None:
    """A code for *not answered* beside a scale of 1 to 5."""
    chance = random.Random(4)
    rows = [[f"i{n}", "ab"[n % 2], f"a dog {n}", stray if n in (7, 30) else chance.randint(1, 5)] for n in range(80)]
    rows += [[f"i{n}", "ab"[n % 2], f"a dog {n}", blank] for n, blank in enumerate(("", "nan", "NA"), 80)]
    path = table(tmp_path / "ratings.csv", ["image_id", "system", "caption", "rating"], rows)
    references = tmp_path / "references.json"
    references.write_text(json.dumps({f"i{n}": ["a dog"] for n in range(83)}))
    told = f"ratings: 2 of 80 are {stray:g}, the others 1 to 5; where it stands for no score, leave the cell empty."
    judgments = read_judgments(path, captions=references)
    assert told in judgments.notes
    scores = {name: [row[place] for row in rows] for place, name in enumerate(("image_id", "system"))}
    found = calibrate({**scores, "judge": [chance.random() for _ in rows]}, path)
    assert told in found.notes
    with pytest.raises(DataError):
        calibrate({**scores, "judge": [chance.random() for _ in rows]}, path, rating_range=(1, 5))


def test_a_scale_with_numbers_below_zero_is_one(tmp_path: Path) -> None:
    rows = [[f"i{n}", f"a dog {n}", n % 7 - 3] for n in range(70)]
    references = tmp_path / "references.json"
    references.write_text(json.dumps({f"i{n}": ["a dog"] for n in range(70)}))
    path = table(tmp_path / "ratings.csv", ["image_id", "caption", "rating"], rows)
    assert not any("stands for no score" in note for note in read_judgments(path, captions=references).notes)


def test_aspects_of_one_rater_beside_a_number_of_another_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    line = {"image_id": "1", "caption": "a dog", "references": ["a dog"], "worker": "a", "rating": {"truth": 3}}
    path.write_text(f"{json.dumps(line)}\n{json.dumps({**line, 'worker': 'b', 'rating': 4})}\n")
    with pytest.raises(DataError, match=r"line 1: one rater's rating has aspects, another's is 4; give all in one"):
        read_judgments(path)
