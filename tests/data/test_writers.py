"""Candidates written come back the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sacrecap.data import WRITTEN_FORMATS, read_candidates, write_candidates
from sacrecap.errors import DataError, UsageError

CANDIDATES = {391895: 'a "dog", é\nruns', 7: "", 8: "\t x "}


@pytest.mark.parametrize("format", WRITTEN_FORMATS)
def test_every_written_format_is_read_back(tmp_path: Path, format: str) -> None:
    path = tmp_path / "out"
    write_candidates(path, CANDIDATES, format)
    assert read_candidates(path).to_dict() == {str(image): [text] for image, text in CANDIDATES.items()}
    write_candidates(path.with_suffix("." + format), CANDIDATES)
    assert path.with_suffix("." + format).read_text() == path.read_text()


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_caption_whose_lines_look_like_rows_is_read_back_as_one(tmp_path: Path, format: str, delimiter: str) -> None:
    path = tmp_path / "out"
    write_candidates(path, {7: f"a dog\n8{delimiter}a cat", 8: "a bus,\nred", 9: "a\nb"}, format)
    assert read_candidates(path).to_dict() == {"7": [f"a dog 8{delimiter}a cat"], "8": ["a bus,\nred"], "9": ["a\nb"]}


def test_coco_results_keep_number_and_text_ids(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_candidates(path, {np.int64(1): "a"})  # type: ignore[arg-type]
    assert json.loads(path.read_text()) == [{"image_id": 1, "caption": "a"}]
    write_candidates(path, {"1": "é"})
    assert path.read_text() == '[\n{"image_id": "1", "caption": "é"}\n]\n'
    write_candidates(path, {})
    assert json.loads(path.read_text()) == []


def test_what_cannot_be_written_is_told_before_the_file_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    for candidates, sentence in [
        ({1: ["a"]}, r"the candidate of image 1 is not a string \(1 such in all\)"),
        ({1: "\ud800"}, "the caption of image 1 is not text: it holds half a surrogate pair"),
        ({1.5: "a"}, "the image id of an image is the number 1.5"),
    ]:
        with pytest.raises(DataError, match=sentence):
            write_candidates(path, candidates)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not written as 'coco'; choose from list, jsonl, csv, tsv$"):
        write_candidates(path, {}, "coco")
    assert path.read_text() == "old"
