"""Training: resumed runs, logs, early stopping, run folders of another kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from capeval.captioning.run_log import read_log
from capeval.captioning.scenes import write_scenes
from capeval.captioning.settings import Settings
from capeval.captioning.training import Progress, resume, train


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small made-up data set."""
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 60, seed=1)
    return folder


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def small(scenes: Path, **changes: Any) -> Settings:
    values: dict[str, Any] = {
        "data": str(scenes), "hidden": 16, "embedding": 8, "attention": 8, "latent": 4, "batch": 8, "captions": 2,
        "steps": 6, "validate_every": 2, "log_every": 3, "rate": 0.01, "side": 32, "device": "cpu",
    }  # fmt: skip
    return Settings(**{**values, **changes})


class CutOffError(Exception):
    """Where a run is cut off."""


def cut_after(step: int) -> Any:
    def progress(at: Progress) -> None:
        if at.step == step:
            raise CutOffError

    return progress


def without_seconds(folder: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in read_log(folder)]


@pytest.mark.parametrize("train_encoder", [False, True])
def test_a_resumed_run_equals_an_unbroken_one(scenes: Path, tmp_path: Path, train_encoder: bool) -> None:
    settings = small(scenes, train_encoder=train_encoder, dropout=0.2)
    places: dict[str, Any] = {"cache": tmp_path / "features", "tensorboard": False}
    whole = train(settings, tmp_path / "whole", **places)
    with pytest.raises(CutOffError):  # a step after the checkpoint of step 4, whose work is lost
        train(settings, tmp_path / "cut", progress=cut_after(5), **places)
    resumed = resume(tmp_path / "cut", **places)
    assert (resumed.step, resumed.cider_d, resumed.best_step) == (whole.step, whole.cider_d, whole.best_step)
    assert without_seconds(tmp_path / "cut") == without_seconds(tmp_path / "whole")
    for name in ("last.pt", "best.pt"):
        one, other = (torch.load(tmp_path / run / name, weights_only=True) for run in ("whole", "cut"))
        assert equal({**one, "position": None}, {**other, "position": None}), name


def equal(one: Any, other: Any) -> bool:
    """Whether two checkpoints are the same bits."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)
