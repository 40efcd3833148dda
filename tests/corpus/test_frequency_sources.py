"""Document frequencies that everybody has by name, from files in the folder of test sets: no network is asked."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import sacrecap
from command_line import candidates, references, run
from runner import Runner
from sacrecap import DocumentFrequency, example
from sacrecap.compat.pyciderevalcap.ciderD.ciderD_scorer import OfFile
from sacrecap.corpus.document_frequency import find_frequencies, frequency_names
from sacrecap.data import testsets
from sacrecap.data.testsets import FOLDER, PublishedFile
from sacrecap.errors import DataError, UsageError

__all__ = ["candidates", "references", "run"]

TRAINING = {"0": ["A dog runs.", "dogs"], "1": ["A running cat."], "2": ["two dogs"]}
"""Of the splits train and restval."""
COUNTS = {("a",): 3.0, ("dog",): 1.0, ("a", "dog"): 1.0}


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of test sets, with a COCO of three training images and a pickle."""
    folder = tmp_path / "sets"
    folder.mkdir()
    monkeypatch.setenv(FOLDER, str(folder))
    monkeypatch.chdir(tmp_path)
    changed(monkeypatch, images=len(TRAINING))
    parts = zip((*TRAINING.items(), ("3", ["not a cat"])), ("train", "restval", "train", "test"), strict=True)
    images = [
        {"split": split, "cocoid": int(image), "sentences": [{"raw": caption} for caption in captions]}
        for (image, captions), split in parts
    ]
    (folder / "dataset_coco.json").write_text(json.dumps({"images": images}))
    (folder / "coco-val-df.p").write_bytes(pickle.dumps(COUNTS))
    return folder


def changed(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Changes the entries that count a training split."""
    every = testsets.TEST_SETS.items()
    known = {name: replace(one, **fields) if one.split == "train" else one for name, one in every}  # type: ignore[arg-type]
    monkeypatch.setattr(testsets, "TEST_SETS", known)


def test_a_training_split_is_counted_once(sets: Path) -> None:
    for name, stem in (("coco-train", False), ("coco-train-stems", True)):
        own = DocumentFrequency.build(TRAINING, stem=stem)
        assert find_frequencies(name) == own
        assert (find_frequencies(name).source, find_frequencies(name).checksum) == (name, own.checksum)
    (sets / "dataset_coco.json").unlink()
    assert find_frequencies("coco-train").documents == 3, "it is kept"
    assert {path.name for path in sets.iterdir()} == {"coco-train.df", "coco-train-stems.df", "coco-val-df.p"}


def test_a_score_takes_them_by_name_and_signs_them(sets: Path) -> None:
    for given, metrics in (("coco-train", "cider-d"), (["coco-train", "coco-train-stems"], "cider-d, cider-paper")):
        result = sacrecap.score(TRAINING, {"0": "a dog", "1": "cat", "2": "dogs"}, metrics, document_frequency=given)
        own = sacrecap.score(TRAINING, {"0": "a dog", "1": "cat", "2": "dogs"}, metrics)
        for metric, score in own.items():
            assert result[metric].value == score.value
            name = "coco-train-stems" if metric == "cider-paper" else "coco-train"
            assert f"|df:{find_frequencies(name).checksum}(3)|" in result[metric].signature


def test_a_released_pickle(sets: Path) -> None:
    found = find_frequencies("coco-val-df")
    assert (found.documents, found.count(["a", "dog"]), found.tokenizer) == (40_504, 1, "unknown")
    (sets / "coco-val-df.p").unlink()
    assert find_frequencies("coco-val-df") == found
    assert OfFile("coco-val-df")["a", "dog"] == 1.0


def test_every_command_takes_a_name(sets: Path, run: Runner, references: str, candidates: str) -> None:
    find_frequencies("coco-train")
    for command in (
        ["score", references, candidates, "--metrics", "cider-d", "--format", "csv"],
        ["compare", references, candidates, str(example.system_path("plain")), "--metrics", "cider-d"],
        ["diversity", str(example.caption_set_path("varied")), "--metrics", "self-cider", "--interval", "none"],
        ["score", references, "--rank", "all", "--metrics", "cider-d"],
        ["df", "merge", "-o", "x.df"],
        ["df", "info"],
    ):
        df = () if command[0] == "df" else ("--df",)
        assert run.here(*command, *df, "coco-train").status == 0, command
        assert "no document frequencies of this name" in run.refused(*command, *df, "yours"), command


def test_what_cannot_be_made_says_what_to_do(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (sets / "dataset_coco.json").unlink()
    nowhere = PublishedFile("http://127.0.0.1:9/x.zip", "")
    changed(monkeypatch, source=nowhere)
    with pytest.raises(DataError) as error:
        find_frequencies("coco-train")
    for part in ("cannot be fetched", nowhere.url, "give its folder by SACRECAP_TEST_SETS"):
        assert part in str(error.value)
    (sets / "dataset_coco.json").write_text(json.dumps({"images": []}))
    with pytest.raises(DataError, match=r"dataset_coco.json: "):
        find_frequencies("coco-train")
    assert not (sets / "coco-train.df").exists()


def test_counts_that_were_damaged_are_made_again_when_they_are_removed(sets: Path) -> None:
    find_frequencies("coco-train")
    counts = sets / "coco-train.df"
    counts.write_bytes(counts.read_bytes()[:-1])
    with pytest.raises(DataError, match="coco-train.df: .*; remove it; then it is made again$"):
        find_frequencies("coco-train")
    counts.unlink()
    assert find_frequencies("coco-train").documents == 3


def test_what_is_no_name_and_no_file(sets: Path) -> None:
    with pytest.raises(DataError) as error:
        find_frequencies("coco-trian")
    assert str(error.value) == (
        "coco-trian: no such file, and no document frequencies of this name (did you mean 'coco-train'?); names: "
        "coco-train, coco-train-stems, coco-val-df; make a file with "
        "sacrecap.DocumentFrequency.build(references).save(FILE)"
    )


def test_a_file_and_a_name_do_not_hide_each_other(sets: Path) -> None:
    DocumentFrequency.build(TRAINING, n=2).save("coco-train")
    with pytest.raises(UsageError, match="^coco-train is a file here and the name of document frequencies; write ./co"):
        find_frequencies("coco-train")
    assert find_frequencies("./coco-train").n == 2


def test_they_are_listed_and_made_with_the_test_sets(sets: Path, run: Runner) -> None:
    listed = {one["name"]: one for one in json.loads(run.here("testsets", "--format", "json").stdout)}
    assert {*frequency_names()} == {"coco-train", "coco-train-stems", "coco-val-df"} <= listed.keys()
    assert run.here("testsets", *frequency_names()).status == 0
    assert {f"{name}.df" for name in frequency_names()} <= {path.name for path in sets.iterdir()}
    assert "no such file" in run.refused("inspect", "coco-train")
