"""The adapters in `examples/boards`, run as the platforms run them."""

from __future__ import annotations

import html
import json
import runpy
import subprocess
import sys
import types
from pathlib import Path

import pytest

from sacrecap import example
from sacrecap.boards import board
from sacrecap.errors import DataError

ADAPTERS = Path(__file__).parents[2] / "examples" / "boards"
METRICS = "cider-d, bleu-4, meteor, rouge-l"
PLAIN = example.systems()["plain"]


@pytest.fixture
def expected() -> dict[str, float | None]:
    made = board(example.references(), {"plain": {"plain": PLAIN}}, METRICS)
    return {key: score.value for key, score in made.rows[0].scores.items()}


@pytest.fixture
def references(tmp_path: Path) -> Path:
    path = tmp_path / "references.json"
    path.write_text(json.dumps(example.references()))
    return path


def test_codabench_scores_a_submission(tmp_path: Path, expected: dict[str, float | None]) -> None:
    """`command` of `metadata.yaml`, in the folders that Codabench makes."""
    for folder in ("input/ref", "input/res", "output"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "input/ref/references.json").write_text(json.dumps(example.references()))
    (tmp_path / "input/res/captions.json").write_text(json.dumps(PLAIN))
    command = (ADAPTERS / "codabench/metadata.yaml").read_text().removeprefix("command: ").split()
    assert command == ["python3", "score.py", "/app/input", "/app/output"]
    folders = [str(tmp_path / Path(folder).name) for folder in command[2:]]
    subprocess.run([sys.executable, command[1], *folders], cwd=ADAPTERS / "codabench", check=True)
    assert json.loads((tmp_path / "output/scores.json").read_text()) == expected
    assert "Scores of the submission" in (tmp_path / "output/detailed_results.html").read_text()


def test_codabench_says_what_a_submission_lacks(tmp_path: Path) -> None:
    for folder in ("input/ref", "input/res", "output"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "input/ref/references.json").write_text(json.dumps(example.references()))
    run = [sys.executable, "score.py", str(tmp_path / "input"), str(tmp_path / "output")]
    done = subprocess.run(run, cwd=ADAPTERS / "codabench", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "a submission is a zip with one file of captions; this one has 0\n")
    assert list((tmp_path / "output").iterdir()) == []


def test_evalai_gets_what_its_workers_take(tmp_path: Path, references: Path, expected: dict[str, float | None]) -> None:
    submitted = tmp_path / "captions.json"
    submitted.write_text(json.dumps(PLAIN))
    evaluate = runpy.run_path(str(ADAPTERS / "evalai/main.py"))["evaluate"]
    answer = evaluate(str(references), str(submitted), "test", submission_metadata={"status": "running"})
    [split] = answer["result"]
    labels = {"CIDEr-D": "cider-d", "BLEU-4": "bleu-4", "METEOR": "meteor", "ROUGE-L": "rouge-l"}
    assert split == {"test": {label: expected[key] for label, key in labels.items()}}
    json.dumps(answer, allow_nan=False)
    submitted.write_text(json.dumps(dict.fromkeys(PLAIN, "a man")))
    with pytest.raises(DataError, match="60 of 60 captions are degenerate"):
        evaluate(str(references), str(submitted), "test")


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
        local_dir.mkdir()
        references.rename(local_dir / "references.json")
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
    assert "plain" in html.unescape(frame)


def test_adapters_are_short() -> None:
    sizes = [len(path.read_text().splitlines()) for path in ADAPTERS.rglob("*.py")]
    assert len(sizes) == 3
    assert max(sizes) <= 150
