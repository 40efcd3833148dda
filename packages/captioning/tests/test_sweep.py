"""The sweep: what it refuses, that it goes on where it was, and what it says of its figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capeval.data import read_caption_sets
from capeval.errors import DataError, UsageError
from capeval_captioning.data.images import CaptionedImages
from capeval_captioning.data.scenes import write_scenes
from capeval_captioning.sweep import jobs
from capeval_captioning.sweep.check import check_sweep
from capeval_captioning.sweep.grid import Cell, Sweep, run_sweep
from capeval_captioning.sweep.report import render, write_pictures
from capeval_captioning.sweep.result import FIGURES, Place, SweepResult, _findings

TINY: dict[str, Any] = {
    "weights": "words", "hidden": 16, "embedding": 16, "steps": 4, "batch": 4, "least": 1, "warmup": 0, "device": "cpu",
    "baseline": "others", "encoder_epochs": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 60)
    return folder


def tiny(scenes: Path, **changes: Any) -> Sweep:
    swept = Sweep(
        str(scenes), models=("fc",), lambdas=("0", "5", "only"), seeds=1, set_size=3, reward_steps=3,
        reward_batch=4, training=TINY,
    )  # fmt: skip
    return replace(swept, **changes)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of its own reads PyTorch for longer than such a sweep takes; `cli/test_caption_sweep.py` has them."""
    monkeypatch.setattr(jobs, "ProcessPoolExecutor", Here)


class Here(Executor):
    def __init__(self, *_: object, **__: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*arguments, **options))
        except BaseException as error:  # noqa: BLE001  (whatever it is, it is the future's)
            done.set_exception(error)
        return done


def times(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for part in ("runs", "sets") for path in (folder / part).rglob("*.*")}


def test_a_sweep_runs_and_goes_on_to_the_same_sets(scenes: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    result = run_sweep(tiny(scenes), tmp_path, progress=lambda *what: told.append(what))
    assert told[-1] == ("trained, sampled and scored: captioner", 3, 3)
    assert [place.weight for place in result.places] == ["0", "5", "only"]
    assert 0 < result.people["self-cider"] < 1
    assert json.loads((tmp_path / "results.json").read_text()) == result.to_dict()
    sets = read_caption_sets(tmp_path / "sets" / "fc-lambda-5-seed-0.json")
    assert (sets.image_count, sets.caption_count) == (6, 18)

    before = times(tmp_path)
    assert run_sweep(tiny(scenes), tmp_path).to_dict() == result.to_dict()
    assert times(tmp_path) == before

    lost = "fc-lambda-5-seed-0"
    content = (tmp_path / "sets" / f"{lost}.json").read_bytes()
    (tmp_path / "scores" / f"{lost}.json").unlink()
    (tmp_path / "sets" / f"{lost}.json").unlink()
    (tmp_path / "runs" / lost / "last.pt").unlink()
    assert run_sweep(tiny(scenes), tmp_path).to_dict() == result.to_dict()
    assert (tmp_path / "sets" / f"{lost}.json").read_bytes() == content

    with pytest.raises(UsageError, match=r"of another sweep \(reward_steps: 3 there, 4 now\); choose another folder"):
        run_sweep(tiny(scenes, reward_steps=4), tmp_path)


def test_several_methods_and_a_part_of_the_images(scenes: Path, tmp_path: Path) -> None:
    result = run_sweep(tiny(scenes, lambdas=("0",), methods=("rs", "gnc"), training={**TINY, "images": 4}), tmp_path)
    assert [place.method for place in result.places] == ["rs", "gnc"]
    assert read_caption_sets(tmp_path / "sets" / "fc-lambda-0-seed-0-gnc.json").image_count == 4
    assert result.findings == ()


def test_a_folder_that_is_no_sweep_and_a_split_that_is_not_there(scenes: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text("[]")
    with pytest.raises(DataError, match="is not what a sweep writes"):
        run_sweep(tiny(scenes), tmp_path)
    with pytest.raises(UsageError, match="no image is in the split 'minival'"):
        run_sweep(tiny(scenes, split="minival"), tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lambdas": ("0", "many")}, "number of at least 0, or only, got 'many'"),
        ({"lambdas": ("-1",)}, "number of at least 0"),
        ({"lambdas": ("5", "1")}, "rise, each once, only last; got 5, 1"),
        ({"lambdas": ("0", "only", "5")}, "rise, each once, only last"),
        ({"models": ()}, "at least one model"),
        ({"seeds": 0}, "at least one model"),
        ({"reward": "cidre-d"}, "cider-d"),
    ],
)
def test_what_is_no_sweep(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Sweep("scenes", **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": ("fc", "cvae"), "methods": ("rs", "drv")}, "drv draws latent vectors, which fc does not have"),
        ({"reward": "retrieval"}, "needs a trained retrieval model: capeval caption retrieval trains one, --retrieval"),
        ({"reward": "fluency"}, "fluency learns from the references of all images"),
        ({"reward_batch": 10_000}, "a batch of 10,000 images out of .*; choose a smaller --reward-batch"),
        ({"methods": ("beam(width=3)",), "set_size": 5}, "beam"),
    ],
)
def test_what_cannot_be_trained_or_sampled_is_said_before_anything_is(
    scenes: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run_sweep(tiny(scenes, **change), tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [({"models": ("gmm-cvae",)}, "these images have no object labels"), ({"reward": "vifidel"}, "vifidel: ")],
)
def test_what_needs_objects_is_refused_without_them(scenes: Path, change: dict[str, Any], message: str) -> None:
    sweep = tiny(scenes, **change)
    images = sweep.read_images()
    check_sweep(sweep, images)
    bare = CaptionedImages([replace(image, objects=()) for image in images], images.files)
    with pytest.raises(UsageError, match=message):
        check_sweep(sweep, bare)


def test_mixtures_and_names() -> None:
    sweep = Sweep("scenes", reward="rouge-l")
    assert [sweep.loss(weight) for weight in sweep.lambdas] == [
        "xe", "xe + 1*rouge-l", "xe + 5*rouge-l", "xe + 20*rouge-l", "rouge-l",
    ]  # fmt: skip
    assert len(sweep.captioners()) == 30
    assert Cell("fc", 2, "only").name == "fc-lambda-only-seed-2"
    assert Cell("fc", 2).name == "fc-xe-seed-2"


def result_of(figure: Callable[[str, int], float]) -> SweepResult:
    """A sweep whose figures of each name rise or fall with the number of their λ."""
    sweep = Sweep("scenes", models=("fc",), lambdas=("0", "5", "only"), seeds=2)
    places = tuple(
        Place("fc", weight, "rs", {name: (figure(name, rank), figure(name, rank) + 0.01) for name in FIGURES})
        for rank, weight in enumerate(sweep.lambdas)
    )
    people = dict.fromkeys(FIGURES, 0.9)
    return SweepResult(sweep, places, people, tuple(_findings(sweep, places)))


def test_figures_that_do_not_change_have_no_correlation() -> None:
    [finding] = result_of(lambda name, rank: 0.5).findings
    assert (finding.accuracy, finding.diversity) == (0, 0)


def test_findings_and_tables(tmp_path: Path) -> None:
    result = result_of(lambda name, rank: 0.2 + 0.1 * rank if name == "accuracy" else 0.8 - 0.1 * rank)
    [finding] = result.findings
    assert (finding.accuracy, finding.diversity, finding.smallest_vocabulary) == (1, -1, "only")
    lines = render(result, "markdown").splitlines()
    assert lines[0].startswith("| captioner | CIDEr-D | Self-CIDEr | F |")
    assert lines[3].startswith("| fc, λ 5 | 0.305 | 0.705 |")
    assert lines[5].startswith("| people | 0.900 |")
    assert "Spearman of λ with accuracy 1.00, with Self-CIDEr -1.00; smallest vocabulary: λ = only" in lines[-1]
    assert "mean of 2 seeds" in render(result, "table")
    write_pictures(result, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{name}.{suffix}" for name in ("plane", "f", "vocabulary") for suffix in ("png", "svg", "csv")
    )
    [row] = [line.split(",") for line in (tmp_path / "plane.csv").read_text().splitlines() if line.startswith("fc,5")]
    assert list(map(float, row[2:])) == pytest.approx([0.705, 0.7, 0.71, 0.305, 0.3, 0.31])
