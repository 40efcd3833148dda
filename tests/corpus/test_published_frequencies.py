"""Document frequencies that everybody has by name, from files in the folder of test sets: no network is asked."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import sacrecap
from command_line import run
from runner import Runner
from sacrecap import DocumentFrequency
from sacrecap.corpus import named_frequencies, published_frequencies
from sacrecap.corpus.published_frequencies import PUBLISHED
from sacrecap.data import download, testsets
from sacrecap.data.testsets import Source
from sacrecap.errors import DataError

__all__ = ["run"]

TRAINING = {"0": ["A dog runs.", "dogs"], "1": ["A running cat."], "2": ["two dogs"]}
"""Of the splits train and restval."""
COUNTS = {("a",): 3.0, ("dog",): 1.0, ("a", "dog"): 1.0}


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of test sets, with a COCO of three training images and a pickle."""
    folder = tmp_path / "sets"
    folder.mkdir()
    monkeypatch.setenv(testsets.FOLDER, str(folder))
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / "data" / name))
    monkeypatch.chdir(tmp_path)
    small = {name: replace(one, images=len(TRAINING)) for name, one in published_frequencies.SPLITS.items()}
    monkeypatch.setattr(named_frequencies, "SPLITS", small)
    parts = zip((*TRAINING.items(), ("3", ["not a cat"])), ("train", "restval", "train", "test"), strict=True)
    images = [
        {"split": split, "cocoid": int(image), "sentences": [{"raw": caption} for caption in captions]}
        for (image, captions), split in parts
    ]
    (folder / "dataset_coco.json").write_text(json.dumps({"images": images}))
    (folder / "coco-val-df.p").write_bytes(pickle.dumps(COUNTS))
    return folder


def test_a_training_split_is_counted_once(sets: Path) -> None:
    for name, stem in (("coco-train", False), ("coco-train-stems", True)):
        own = DocumentFrequency.build(TRAINING, stem=stem)
        assert DocumentFrequency.named(name) == own
        assert DocumentFrequency.named(name).source == f"{name}@{own.checksum}"
    (sets / "dataset_coco.json").unlink()
    assert DocumentFrequency.named("coco-train").documents == 3, "it is kept"
    assert named_frequencies.describe("coco-train").source == "COCO, Karpathy's split, training"


def test_a_score_takes_them_by_name_and_signs_them(sets: Path) -> None:
    for names, metrics in (("coco-train", "cider-d"), (["coco-train", "coco-train-stems"], "cider-d, cider-paper")):
        result = sacrecap.score(TRAINING, {"0": "a dog", "1": "cat", "2": "dogs"}, metrics, document_frequency=names)
        own = sacrecap.score(TRAINING, {"0": "a dog", "1": "cat", "2": "dogs"}, metrics)
        for metric, score in own.items():
            assert result[metric].value == score.value
            assert "|df:coco-train" in result[metric].signature
            assert "(3)|" in result[metric].signature


def test_released_pickles(sets: Path) -> None:
    found = DocumentFrequency.named("coco-val-df")
    assert (found.documents, found.count(["a", "dog"]), found.tokenizer) == (40_504, 1, "unknown")
    assert named_frequencies.describe("coco-val-df").source.endswith("/data/coco-val-df.p")


def test_what_cannot_be_made_says_where_it_is_looked_for_and_what_to_do(
    sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ATTEMPTS", "PAUSE"):
        monkeypatch.setattr(download, f"_{name}", 0.0 if name == "PAUSE" else 1)
    nowhere = Source("http://127.0.0.1:9/x.zip", 5, "")
    changed = {name: replace(one, source=nowhere) for name, one in published_frequencies.SPLITS.items()}
    monkeypatch.setattr(named_frequencies, "SPLITS", changed)
    with pytest.raises(DataError) as error:
        DocumentFrequency.named("flickr30k-train")
    for part in (named_frequencies.folder(), "cannot be fetched", nowhere.url, "give its folder by SACRECAP_TEST_SETS"):
        assert part in str(error.value)
    (sets / "dataset_flickr30k.json").write_text(json.dumps({"images": []}))
    with pytest.raises(DataError, match=r"dataset_flickr30k.json: "):
        DocumentFrequency.named("flickr30k-train")
    assert named_frequencies.names() == []


def test_one_that_was_damaged_is_made_again_when_it_is_removed(sets: Path) -> None:
    DocumentFrequency.named("coco-train")
    counts, description = (Path(named_frequencies.folder()) / f"coco-train.{end}" for end in ("df", "json"))
    description.write_text("")
    with pytest.raises(DataError, match="remove both; then they are made again$"):
        DocumentFrequency.named("coco-train")
    counts.unlink()
    description.unlink()
    assert DocumentFrequency.named("coco-train").documents == 3


def test_the_list_has_them_before_they_are_made(run: Runner) -> None:
    listed = run.ok("df", "list")
    assert [line.split()[0] for line in listed.splitlines() if line.endswith("made on first use")] == sorted(PUBLISHED)
    assert json.loads(run.ok("df", "list", "--format", "json")) == []
