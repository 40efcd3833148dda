"""Training: logs, early stopping, run folders of another kind."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from sacrecap.errors import DataError, SacrecapError, UsageError
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.objective import Losses, Objective
from sacrecap_captioning.scenes import write_scenes
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training import Position, train
from sacrecap_captioning.training_run import RunFolder


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small made-up data set."""
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 60, seed=1)
    return folder


def small(scenes: Path, **changes: Any) -> Settings:
    values: dict[str, Any] = {
        "data": str(scenes),
        "hidden": 16,
        "embedding": 8,
        "attention": 8,
        "latent": 4,
        "batch": 8,
        "captions": 2,
        "steps": 6,
        "validate_every": 2,
        "log_every": 3,
        "rate": 0.01,
        "side": 32,
        "device": "cpu",
    }
    return Settings(**{**values, **changes})


def quick(scenes: Path, tmp_path: Path, **changes: Any) -> Path:
    """The folder of a finished run."""
    train(small(scenes, **changes), tmp_path / "run", cache=scenes / "features")
    return tmp_path / "run"


def test_a_part_of_the_images_is_the_first_of_each_split(scenes: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []
    part = CaptionedImages.of_data_set(scenes).first(9)
    assert Counter(image.split for image in part) == {"train": 9, "val": 6, "test": 6}
    whole = CaptionedImages.of_data_set(scenes).split("train")
    assert list(part.split("train")) == list(whole)[:9]
    train(
        small(scenes, images=9, steps=2),
        tmp_path / "run",
        cache=tmp_path / "features",
        reading=lambda split, _, of: seen.append((split, of)),
    )
    assert set(seen) == {("train", 9), ("val", 6)}
    with pytest.raises(UsageError, match="images must be a whole number of at least 1, got 0"):
        small(scenes, images=0)


def log_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def test_the_log_is_that_of_the_run(scenes: Path, tmp_path: Path) -> None:
    """Also where a run in the same folder was cut off before it had a checkpoint."""

    def cut(at: Position) -> None:
        if at.step == 3:
            raise KeyboardInterrupt

    begun = quick(scenes, tmp_path, model="cvae", steps=2)
    settings = small(
        scenes, model="cvae", init=str(begun), loss="xe + 0..5@4*cider-d", baseline="others", validate_every=4, steps=8
    )
    with pytest.raises(KeyboardInterrupt):
        train(settings, tmp_path / "rewarded", cache=scenes / "features", progress=cut)
    assert [row["step"] for row in log_of(tmp_path / "rewarded")] == [3]
    assert train(settings, tmp_path / "rewarded", cache=scenes / "features").step == 8
    rows = log_of(tmp_path / "rewarded")
    assert [row["step"] for row in rows] == [3, 4, 6, 8]
    assert [row["step"] for row in rows if "best" in row] == [4, 8]
    assert {"xe", "reward/cider-d", "seconds", "rate"} < set().union(*rows)


def test_training_stops_when_validations_get_no_better(scenes: Path, tmp_path: Path) -> None:
    settings = small(scenes, rate=1e-9, steps=20, patience=2)
    outcome = train(settings, tmp_path / "run", cache=scenes / "features")
    assert (outcome.step, outcome.best_step, outcome.steps) == (6, 2, 20)


def test_the_rate_rises_and_falls(scenes: Path) -> None:
    for schedule, last in ("linear", 0.0), ("cosine", 0.0), ("constant", 0.01):
        settings = small(scenes, schedule=schedule, warmup=4, steps=10)
        assert [settings.rate_at(step) for step in range(4)] == pytest.approx([0.0025, 0.005, 0.0075, 0.01])
        assert settings.rate_at(10) == pytest.approx(last)


def test_a_run_folder_holds_all_it_takes(scenes: Path, tmp_path: Path) -> None:
    run = RunFolder.open(quick(scenes, tmp_path, train_encoder=True, steps=2))
    assert run.settings == small(scenes, train_encoder=True, steps=2)
    assert run.data_checksum == CaptionedImages.of_data_set(scenes).checksum
    assert len(run.vocabulary) == run.sizes.vocabulary
    with pytest.raises(DataError, match="holds a run already; go on from it"):
        train(run.settings, run.path)


def edited(run: Path, **changes: Any) -> Path:
    config = json.loads((run / "config.json").read_text())
    kept = {name: value for name, value in {**config, **changes}.items() if value is not None}
    (run / "config.json").write_text(json.dumps(kept))
    return run


def test_what_is_no_run_to_begin_from(scenes: Path, tmp_path: Path) -> None:
    run = quick(scenes, tmp_path, steps=2)
    with pytest.raises(UsageError, match="hidden is 17, but 16 in"):
        train(small(scenes, init=str(run), hidden=17), tmp_path / "other", cache=scenes / "features")
    with pytest.raises(DataError, match="has each word once, got .'a'. twice"):
        RunFolder.open(edited(run, words=["<end>", "<unknown>", "a", "a"]))
    with pytest.raises(DataError, match=r"has format 99 \(sacrecap .*\); .* reads format"):
        RunFolder.open(edited(run, format=99))
    with pytest.raises(DataError, match="lacks sizes"):
        RunFolder.open(edited(run, format=2, sizes=None))
    (run / "config.json").write_text("{")
    with pytest.raises(DataError, match="is not a configuration of a training run"):
        RunFolder.open(run)
    with pytest.raises(DataError, match="is not a run of sacrecap caption train"):
        RunFolder.open(tmp_path)


def test_damaged_and_foreign_checkpoints_are_refused(scenes: Path, tmp_path: Path) -> None:
    run = quick(scenes, tmp_path, steps=2)
    (run / "best.pt").write_bytes(b"nothing")
    with pytest.raises(DataError, match="is not a checkpoint of sacrecap, or damaged"):
        RunFolder.open(run).captioner()
    torch.save({"model": {}}, run / "best.pt")
    with pytest.raises(DataError, match="does not fit config.json"):
        RunFolder.open(run).captioner()
    (run / "best.pt").unlink()
    with pytest.raises(DataError, match="no such file"):
        RunFolder.open(run).captioner()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "fcc"}, "did you mean 'fc'"),
        ({"loss": "xe + cidr-d"}, "cidr-d"),
        ({"batch": 1000}, "choose a smaller --batch"),
        ({"least": 10_000}, "choose a smaller --least"),
        ({"rate": 0.0}, "rate must be a number above 0, got 0.0"),
        ({"steps": 0}, "steps must be a whole number of at least 1"),
        ({"dropout": 1.0}, "dropout must be a number of at least 0 and below 1"),
        ({"baseline": "none"}, "baseline"),
        ({"device": "cuda:99"}, "cannot be used"),
    ],
)
def test_settings_that_cannot_be(scenes: Path, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        quick(scenes, tmp_path, **changes)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_running_out_of_memory_is_said(
    scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Objective, "__call__", fail)
    with pytest.raises(DataError, match="memory ran out with a batch of 8 images × 2 captions; .*--batch"):
        quick(scenes, tmp_path)


def test_a_loss_that_is_no_number_is_said(scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nan = torch.tensor(torch.nan, requires_grad=True)
    monkeypatch.setattr(Objective, "__call__", lambda *_: Losses(nan, {}))
    with pytest.raises(SacrecapError, match="the loss of step 1 is nan; try a smaller --rate"):
        quick(scenes, tmp_path)
