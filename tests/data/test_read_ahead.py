"""Files named by their place on the command line are read while it loads: a guess that must never show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capeval.data import captions, read_candidates, read_references
from capeval.data.captions import read_ahead
from capeval.errors import DataError


@pytest.fixture
def references(tmp_path: Path) -> str:
    path = tmp_path / "references.json"
    path.write_text(json.dumps({"1": ["a dog", "the dog"], "2": ["a cat", "one cat"]}))
    return str(path)


def test_what_was_begun_is_used_once(references: str) -> None:
    read_ahead([references])
    captions._begun[references].result()
    Path(references).write_text(json.dumps({"3": ["a cow", "cows"]}))
    assert read_references(references).image_ids == ["1", "2"]
    assert read_references(references).image_ids == ["3"]


def test_a_broken_file_is_heard_of_only_where_it_is_read(tmp_path: Path, references: str) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('[{"image_id": 1, "capt')
    read_ahead([str(broken), references])
    assert read_references(references).caption_count == 4
    with pytest.raises(DataError, match="broken.json"):
        read_candidates(str(broken))


def test_a_named_format_or_split_reads_anew(tmp_path: Path) -> None:
    split = {"images": [{"cocoid": n, "split": part, "sentences": [{"raw": "a dog"}, {"raw": "dogs"}]}
                        for n, part in enumerate(["train", "test", "test"])]}  # fmt: skip
    path = tmp_path / "karpathy.json"
    path.write_text(json.dumps(split))
    read_ahead([str(path)])
    assert read_references(str(path), split="test").image_ids == ["1", "2"]
