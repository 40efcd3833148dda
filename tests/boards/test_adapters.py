"""The adapters in `examples/boards`, run as the platforms run them."""

from __future__ import annotations

import html
import importlib
import json
import os
import runpy
import shutil
import subprocess
import sys
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sacrecap import example
from sacrecap.boards import board

ADAPTERS = Path(__file__).parents[2] / "examples" / "boards"
METRICS = "cider-d, bleu-4, meteor, rouge-l"
PLAIN = example.systems()["plain"]


FEWER = {image: texts[:2] for image, texts in list(example.references().items())[:40]}
SETS = {"c5": example.references(), "c2": FEWER}


def expected(name: str = "c5") -> dict[str, float | None]:
    """What the adapters tell of the plain system, by a set of references."""
    described = SETS[name]
    made = board(described, {"plain": {"plain": {image: PLAIN[image] for image in described}}}, METRICS)
    return {key: score.value for key, score in made.rows[0].scores.items()}


@pytest.fixture
def references(tmp_path: Path) -> Path:
    path = tmp_path / "references.json"
    path.write_text(json.dumps(example.references()))
    return path


@pytest.fixture
def codabench(tmp_path: Path) -> Path:
    """The folders that Codabench's worker makes, with one set of references, and the scoring program."""
    for folder in ("input/ref", "input/res", "output"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "input/ref/references.json").write_text(json.dumps(example.references()))
    shutil.copytree(ADAPTERS / "codabench", tmp_path / "program")
    return tmp_path


def scored(place: Path) -> subprocess.CompletedProcess[str]:
    """Runs `command` of `metadata.yaml` in the folder of the program."""
    command = (place / "program/metadata.yaml").read_text().removeprefix("command: ").split()
    assert command == ["python3", "score.py", "/app/input", "/app/output"]
    run = [sys.executable, command[1], *(str(place / Path(folder).name) for folder in command[2:])]
    return subprocess.run(run, cwd=place / "program", capture_output=True, text=True, check=False)


@pytest.mark.parametrize("inside", ["", "my submission/", "my submission/deeper/"])
def test_codabench_scores_the_one_file_of_a_zip_wherever_it_is(codabench: Path, inside: str) -> None:
    """What a worker unpacks from zips that people make: with their folder, and with what their systems add."""
    with zipfile.ZipFile(codabench / "sent.zip", "w") as packed:
        packed.writestr(f"{inside}captions.JSON", json.dumps(PLAIN))
        for name in ("README.txt", ".DS_Store", "metadata", f"__MACOSX/{inside}._captions.json", "notes.md"):
            packed.writestr(name, "x")
    with zipfile.ZipFile(codabench / "sent.zip") as packed:
        packed.extractall(codabench / "input/res")
    done = scored(codabench)
    assert done.returncode == 0, done.stderr
    assert json.loads((codabench / "output/scores.json").read_text()) == expected()
    assert "Scores of the submission" in (codabench / "output/detailed_results.html").read_text()
    # The next submission finds the references alone, as the first did.
    assert scored(codabench).returncode == 0
    assert os.listdir(codabench / "input/ref") == ["references.json"]


def test_codabench_scores_two_sets_of_references(codabench: Path) -> None:
    program = codabench / "program/score.py"
    text = program.read_text()
    program.write_text(text.replace("REFERENCES: list[str] = []", 'REFERENCES = ["c5.json", "c2.json"]'))
    for name, described in SETS.items():
        (codabench / f"input/ref/{name}.json").write_text(json.dumps(described))
    (codabench / "input/res/captions.json").write_text(json.dumps(PLAIN))
    done = scored(codabench)
    assert done.returncode == 0, done.stderr
    scores = json.loads((codabench / "output/scores.json").read_text())
    assert scores == expected() | {f"c2-{key}": score for key, score in expected("c2").items()}
    assert (codabench / "output/detailed_results.html").read_text().count('type="radio"') == 2


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "this one has none"),
        ({"a.json": PLAIN, "b/c.csv": PLAIN}, "this one has a.json, b/c.csv"),
        ({"a.json": dict.fromkeys(PLAIN, "a man")}, "60 of 60 captions are degenerate"),
        ({"a.json": {"elsewhere": "a dog"}}, "Image 'elsewhere' is not part of this contest."),
    ],
)
def test_codabench_says_what_a_submission_lacks(codabench: Path, files: dict[str, object], told: str) -> None:
    for name, captions in files.items():
        path = codabench / "input/res" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(captions))
    done = scored(codabench)
    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert list((codabench / "output").iterdir()) == []


@pytest.fixture
def evalai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """The module that EvalAI's worker imports: the unpacked evaluation script as a package in one of its own."""
    folder = tmp_path / "challenge_data" / "challenge_7"
    shutil.copytree(ADAPTERS / "evalai", folder)
    (folder.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("challenge_data.challenge_7")
    yield module
    for name in [name for name in sys.modules if name.partition(".")[0] == "challenge_data"]:
        del sys.modules[name]


LABELS = {"CIDEr-D": "cider-d", "BLEU-4": "bleu-4", "METEOR": "meteor", "ROUGE-L": "rouge-l"}


def accepted(answer: dict[str, Any], splits: set[str]) -> dict[str, dict[str, float]]:
    """What the worker puts on the leaderboard: of each entry the first key has to be a data-set split of the phase."""
    found = {}
    for entry in answer["result"]:
        codename = next(iter(entry))
        assert codename in splits, "no such relation between challenge phase and data-set split"
        found[codename] = entry[codename]
    json.dumps(answer["submission_result"])
    return found


def test_evalai_gets_scores_by_the_split_of_the_phase(
    tmp_path: Path, references: Path, evalai: types.ModuleType
) -> None:
    submitted = tmp_path / "captions.json"
    submitted.write_text(json.dumps(PLAIN))
    answer = evalai.evaluate(str(references), str(submitted), "dev", submission_metadata={"status": "running"})
    assert accepted(answer, {"val_split"}) == {"val_split": {label: expected()[key] for label, key in LABELS.items()}}
    json.dumps(answer, allow_nan=False)
    submitted.write_text(json.dumps(dict.fromkeys(PLAIN, "a man")))
    with pytest.raises(ValueError, match="60 of 60 captions are degenerate"):
        evalai.evaluate(str(references), str(submitted), "dev")
    with pytest.raises(ValueError, match="SPLITS has no phase 'other'; it has dev, test"):
        evalai.evaluate(str(references), str(submitted), "other")


def test_evalai_gets_scores_of_two_sets_of_references(
    tmp_path: Path, evalai: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker takes an annotation file as it is, also a zip."""
    submitted, annotations = tmp_path / "captions.jsonl", tmp_path / "annotations.zip"
    submitted.write_text("\n".join(json.dumps({"image_id": key, "caption": text}) for key, text in PLAIN.items()))
    with zipfile.ZipFile(annotations, "w") as packed:
        for name, described in SETS.items():
            packed.writestr(f"hidden/{name}.json", json.dumps(described))
    splits = sys.modules["challenge_data.challenge_7.main"].SPLITS
    monkeypatch.setitem(splits, "test", {"c5": "first", "c40": "second"})
    with pytest.raises(ValueError, match="the annotation file lacks c40; it has c"):
        evalai.evaluate(str(annotations), str(submitted), "test")
    with pytest.raises(ValueError, match="has to be a zip of them"):
        evalai.evaluate(str(submitted), str(submitted), "test")
    monkeypatch.setitem(splits, "test", {"c5": "first", "c2": "second"})
    answer = evalai.evaluate(str(annotations), str(submitted), "test")
    assert accepted(answer, {"first", "second"}) == {
        split: {label: expected(name)[key] for label, key in LABELS.items()}
        for split, name in (("first", "c5"), ("second", "c2"))
    }


def test_a_space_shows_the_board(tmp_path: Path, references: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With stand-ins for the two packages that a Space has: what is downloaded, and what is shown."""
    (tmp_path / "contest/submissions/Team").mkdir(parents=True)
    (tmp_path / "contest/submissions/Team/plain.json").write_text(json.dumps(PLAIN))
    (tmp_path / "contest/contest.toml").write_text("references = '../hidden/references.json'\nmetrics = 'cider-d'")
    (tmp_path / "app.py").write_text((ADAPTERS / "space/app.py").read_text())
    shown: list[str] = []

    class Blocks:
        def __init__(self, title: str) -> None:
            assert title == "Captioning benchmark"

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    hub = types.ModuleType("huggingface_hub")

    def snapshot_download(name: str, *, repo_type: str, local_dir: Path) -> str:
        assert (name, repo_type) == ("lab/references", "dataset")
        local_dir.mkdir(exist_ok=True)
        shutil.copy(references, local_dir / "references.json")
        return str(local_dir)

    monkeypatch.setattr(hub, "snapshot_download", snapshot_download, raising=False)
    gradio = types.ModuleType("gradio")
    monkeypatch.setattr(gradio, "Blocks", Blocks, raising=False)
    monkeypatch.setattr(gradio, "HTML", shown.append, raising=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setitem(sys.modules, "gradio", gradio)
    monkeypatch.setenv("REFERENCES", "lab/references")
    runpy.run_path(str(tmp_path / "app.py"))
    [frame] = shown
    assert "Team/plain" in html.unescape(frame)
    # A private part that is not in the data set would be another one after each restart.
    declared = (tmp_path / "contest/contest.toml").read_text()
    (tmp_path / "contest/contest.toml").write_text(f"{declared}\nends = 2099-01-01T00:00:00Z\n[private]\nshare = 50")
    with pytest.raises(FileNotFoundError, match="put it into the data set"):
        runpy.run_path(str(tmp_path / "app.py"))


def test_a_space_has_the_gradio_that_was_tried() -> None:
    """It shows no file of the folder, whose `hidden` has the references."""
    packages = (ADAPTERS / "space/requirements.txt").read_text().split()
    [version] = [line.partition("==")[2] for line in packages if line.startswith("gradio")]
    assert f"sdk_version: {version}\n" in (ADAPTERS / "space/README.md").read_text()
    assert 'blocked_paths=[str(HERE / "hidden")]' in (ADAPTERS / "space/app.py").read_text()


def test_adapters_are_short() -> None:
    sizes = [len(path.read_text().splitlines()) for path in ADAPTERS.rglob("*.py")]
    assert len(sizes) == 4
    assert max(sizes) <= 150
