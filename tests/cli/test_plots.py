"""`sacrecap diversity --plots` and `--report`."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

import sacrecap
from runner import Runner
from sacrecap import example

Write = Callable[[str, object], str]

SETS = [str(example.caption_set_path(name)) for name in ("varied", "safe")]
REFERENCES = str(example.references_path())


@pytest.mark.usefixtures("undrawn")
def test_pictures_and_report_of_one_run(run: Runner, tmp_path: Path) -> None:
    options = ["--plots", "pictures", "--report", "report.html", "--draw", "hill-kites", "--samples", "50"]
    run.ok("diversity", *SETS, "--references", REFERENCES, *options)
    names = {path.name for path in (tmp_path / "pictures").iterdir()}
    planes, others = ("plane", "plane-lsa", "scaling"), ("f", "vocabulary", "words", "captions", "measures", "ranking")
    pictures = (*planes, *others, "topics-1")
    assert names == {f"{name}.{suffix}" for name in pictures for suffix in ("png", "svg", "csv")}
    with (tmp_path / "pictures" / "plane.csv").open(encoding="utf-8", newline="") as file:
        written = {row["system"]: float(row["self-cider"]) for row in csv.DictReader(file)}
    sets = {name: example.caption_sets()[name] for name in ("varied", "safe")}
    result = sacrecap.diversity(sets, example.references(), interval=None)
    assert written == {system.name: system["self-cider"].value for system in result.everybody()}
    assert "Diversity of caption sets" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
def test_pictures_left_out_are_named_on_stderr(run: Runner, write: Write, tmp_path: Path) -> None:
    sets = write("sets.json", {"1": ["a dog", "a cat"], "2": ["ships"]})
    options = ["--plots", "pictures", "--interval", "none", "--draw", "1"]
    ended = run.here("diversity", sets, *options)
    assert ended.status == 0
    assert "plane is left out: accuracy is scored against references; give --references" in ended.stderr
    assert run.here("diversity", sets, *options, "--quiet").stderr == ""
    assert not (tmp_path / "pictures" / "plane.png").exists()


def test_bad_options_end_before_the_scoring(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for options, message in (
        (["--plots", "file"], "file: it is a file; pictures go into a folder"),
        (["--draw", "hill-kites"], "--draw chooses what --plots and --report show; give one of them"),
        (["--report", "nowhere/report.html"], "there is no folder 'nowhere'"),
        (["--report", "same.txt", "--output", "same.txt"], "both write same.txt"),
    ):
        ended = run.here("diversity", SETS[0], *options)
        assert ended.status == 2
        assert message in ended.stderr
        assert ended.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_an_unknown_image_is_named(run: Runner, tmp_path: Path) -> None:
    ended = run.here("diversity", SETS[0], "--plots", "pictures", "--draw", "hill-kites,nowhere", "--interval", "none")
    assert ended.status == 2
    assert "--draw names 1 image (nowhere) without caption sets" in ended.stderr
    assert list((tmp_path / "pictures").iterdir()) == []
