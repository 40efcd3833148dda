"""One rule for missing captions: the same rows in any format, by any engine, give the same bits."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

import sacrecap
from sacrecap.errors import DataError, DataWarning, SacrecapWarning

Rows = list[dict[str, Any]]
METRICS = "bleu-4, rouge-l, cider-d"


def json_list(rows: Rows, path: Path) -> None:
    path.write_text(json.dumps(rows), encoding="utf-8")


def json_lines(rows: Rows, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def parquet(rows: Rows, path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def arrow(rows: Rows, path: Path) -> None:
    pyarrow.feather.write_feather(pyarrow.Table.from_pylist(rows), str(path), compression="uncompressed")


FORMATS: dict[str, Callable[[Rows, Path], None]] = {
    "json": json_list,
    "jsonl": json_lines,
    "parquet": parquet,
    "arrow": arrow,
}
CAPTIONS = {"1": "a dog runs on the beach", "2": "none", "3": "", "4": "null"}
REFERENCES = {
    "1": ["", "a brown dog runs on the beach", "   "],
    "2": ["none of the buses is red", "nan"],
    "3": ["a cat", "a cat on a mat"],
    "4": ["a mat", "\u3000", "one mat"],
}


def bits(result: sacrecap.Result) -> object:
    return [(score.value.hex(), score.signature) for score in result.values()], result.to_dict()["findings"]


@pytest.fixture
def expected() -> object:
    with pytest.warns(DataWarning, match=r"3 references are empty or missing \(images 1, 1, 4\); left out"):
        found = sacrecap.score(REFERENCES, CAPTIONS, METRICS, interval=None)
    without = {image: [text for text in texts if text.strip()] for image, texts in REFERENCES.items()}
    assert bits(sacrecap.score(without, CAPTIONS, METRICS, interval=None)) == bits(found)
    return bits(found)


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.filterwarnings("always::sacrecap.errors.SacrecapWarning")
def test_the_same_rows_give_the_same_bits(format_: str, engine: Any, tmp_path: Path, expected: object) -> None:
    references: Rows = [{"image_id": image, "captions": texts} for image, texts in REFERENCES.items()]
    candidates: Rows = [{"image_id": image, "caption": text} for image, text in CAPTIONS.items()]
    files = tmp_path / f"references.{format_}", tmp_path / f"captions.{format_}"
    for rows, file in zip((references, candidates), files, strict=True):
        FORMATS[format_](rows, file)
    with pytest.warns(DataWarning, match="empty or missing"):
        found = sacrecap.score(str(files[0]), str(files[1]), METRICS, interval=None, engine=engine)
    assert bits(found) == expected


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("format_", ["jsonl", "parquet", "arrow"])
@pytest.mark.filterwarnings("always::sacrecap.errors.SacrecapWarning")
def test_joined_rows_give_the_same_bits(format_: str, engine: Any, tmp_path: Path, expected: object) -> None:
    rows = [{"image_id": image, "references": REFERENCES[image], "caption": CAPTIONS[image]} for image in CAPTIONS]
    file = tmp_path / f"rows.{format_}"
    FORMATS[format_](rows, file)
    with pytest.warns(SacrecapWarning, match="empty or missing"):
        found = sacrecap.score(str(file), None, METRICS, interval=None, engine=engine)
    assert bits(found) == expected


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_a_text_table_has_words_for_missing_captions(engine: Any, tmp_path: Path) -> None:
    rows = [("1", "a dog", "A dog."), ("2", "NaN", "a bus"), ("3", " none ", "a cat"), ("4", "", "a mat")]
    files = tmp_path / "references.csv", tmp_path / "captions.csv"
    for place, file in ((2, files[0]), (1, files[1])):
        with file.open("w", encoding="utf-8", newline="") as written:
            csv.writer(written).writerows([("image_id", "caption"), *((row[0], row[place]) for row in rows)])
    with pytest.warns(DataWarning) if engine == "local" else pytest.MonkeyPatch.context():
        found = sacrecap.score(str(files[0]), str(files[1]), METRICS, interval=None, engine=engine)
    [finding] = found.findings
    assert (finding.kind, finding.count, finding.example["image_id"]) == ("empty", 3, "2")
    captions = {row[0]: row[1] if row[0] == "1" else "" for row in rows}
    same = sacrecap.score({row[0]: [row[2]] for row in rows}, captions, METRICS, interval=None)
    assert [score.value for score in found.values()] == [score.value for score in same.values()]


def test_captions_that_are_all_empty_are_told_in_every_shape(tmp_path: Path) -> None:
    (tmp_path / "captions.json").write_text(json.dumps(dict.fromkeys(CAPTIONS, "")))
    references = {image: ["a dog"] for image in CAPTIONS}
    for captions in (dict.fromkeys(CAPTIONS, ""), str(tmp_path / "captions.json")):
        [finding] = sacrecap.score(references, captions, "rouge-l", interval=None).findings
        assert (finding.kind, finding.share) == ("empty", 1.0)


def test_an_image_whose_references_are_all_empty_has_none() -> None:
    with pytest.warns(DataWarning), pytest.raises(DataError, match="no reference for 1 image"):
        sacrecap.score({"1": [""], "2": ["a dog"]}, {"1": "a dog", "2": "a dog"}, "rouge-l")
