"""Training: resumed runs, logs, early stopping, run folders of another kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from processes import import_ahead, in_processes
from sacrecap.cli.main import main
from sacrecap.errors import DataError, SacrecapError, UsageError
from sacrecap_captioning.data.batches import Losses
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.data.scenes import write_scenes
from sacrecap_captioning.training import loop
from sacrecap_captioning.training.loop import TrainingLoop, TrainingProgress
from sacrecap_captioning.training.run_folder import RunFolder
from sacrecap_captioning.training.run_log import read_log
from sacrecap_captioning.training.settings import Settings
from sacrecap_captioning.training.training import resume, train

import_ahead("torch._dynamo", "torchvision", "sacrecap_captioning.training.training")


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


def test_a_part_of_the_images_is_the_first_of_each_split(scenes: Path, tmp_path: Path) -> None:
    places: dict[str, Any] = {"cache": tmp_path / "features", "tensorboard": False}
    seen: list[tuple[str, int]] = []
    settings = small(scenes, images=9, steps=2)
    part = CaptionedImages.read(scenes).first(9)
    assert part.splits == {"train": 9, "val": 6, "test": 6}
    whole = CaptionedImages.read(scenes).split("train")
    assert list(part.split("train")) == list(whole)[:9]
    train(settings, tmp_path / "run", reading=lambda split, _, of: seen.append((split, of)), **places)
    assert set(seen) == {("train", 9), ("val", 6)}
    assert resume(tmp_path / "run", changes={"steps": 3}, **places).step == 3
    with pytest.raises(UsageError, match="images must be at least 1, got 0"):
        small(scenes, images=0)


class CutOffError(Exception):
    """Where a run is cut off."""


def cut_after(step: int) -> Any:
    def progress(at: TrainingProgress) -> None:
        if at.step == step:
            raise CutOffError

    return progress


def without_seconds(folder: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in read_log(folder)]


@pytest.mark.parametrize("train_encoder", [False, True])
def test_a_resumed_run_equals_an_unbroken_one(scenes: Path, tmp_path: Path, train_encoder: bool) -> None:
    settings = small(scenes, train_encoder=train_encoder, dropout=0.2)
    places: dict[str, Any] = {"cache": scenes / "features", "tensorboard": False}
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


def quick(scenes: Path, tmp_path: Path, **changes: Any) -> Path:
    """The folder of a finished run."""
    train(small(scenes, **changes), tmp_path / "run", cache=scenes / "features", tensorboard=False)
    return tmp_path / "run"


def test_a_resumed_run_with_rewards_equals_an_unbroken_one(scenes: Path, tmp_path: Path) -> None:
    """From the weights of another run; each step draws samples."""
    places: dict[str, Any] = {"cache": scenes / "features", "tensorboard": False}
    begun = quick(scenes, tmp_path, model="cvae", steps=2)
    settings = small(scenes, model="cvae", init=str(begun), loss="xe + 0..5@4*cider-d", baseline="others")
    train(settings, tmp_path / "whole", **places)
    with pytest.raises(CutOffError):
        train(settings, tmp_path / "cut", progress=cut_after(3), **places)
    for file in begun.iterdir():  # a run needs no other one to go on
        file.unlink()
    resume(tmp_path / "cut", **places)
    assert without_seconds(tmp_path / "cut") == without_seconds(tmp_path / "whole")
    one, other = (torch.load(tmp_path / run / "last.pt", weights_only=True)["model"] for run in ("whole", "cut"))
    assert equal(one, other)


def test_more_steps_go_on_from_the_last_checkpoint(scenes: Path, tmp_path: Path) -> None:
    places: dict[str, Any] = {"cache": scenes / "features", "tensorboard": False}
    train(small(scenes, steps=8), tmp_path / "long", **places)
    run = quick(scenes, tmp_path, steps=4)
    assert resume(run, changes={"steps": 8}, **places).step == 8
    assert without_seconds(run) == without_seconds(tmp_path / "long")


def test_training_stops_when_validations_get_no_better(scenes: Path, tmp_path: Path) -> None:
    settings = small(scenes, rate=1e-9, steps=20, patience=2)
    outcome = train(settings, tmp_path / "run", cache=scenes / "features", tensorboard=False)
    assert (outcome.step, outcome.best_step, outcome.stopped_early) == (6, 2, True)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision_learns_too(scenes: Path, tmp_path: Path, precision: str) -> None:
    run = quick(scenes, tmp_path, precision=precision, steps=12)
    losses = [row["loss"] for row in read_log(run) if "loss" in row]
    assert losses[-1] < losses[0]
    saved = torch.load(run / "best.pt", weights_only=True)
    assert all(weight.dtype == torch.float32 for weight in saved["model"].values())


def test_the_rate_rises_and_falls(scenes: Path) -> None:
    for schedule, last in ("linear", 0.0), ("cosine", 0.0), ("constant", 0.01):
        settings = small(scenes, schedule=schedule, warmup=4, steps=10)
        assert [settings.rate_at(step) for step in range(4)] == pytest.approx([0.0025, 0.005, 0.0075, 0.01])
        assert settings.rate_at(10) == pytest.approx(last)


def test_a_run_folder_holds_all_it_takes(scenes: Path, tmp_path: Path) -> None:
    run = RunFolder.open(quick(scenes, tmp_path, train_encoder=True))
    assert run.settings == small(scenes, train_encoder=True)
    assert run.data_checksum == CaptionedImages.read(scenes).checksum
    assert len(run.vocabulary) == run.sizes.vocabulary
    assert run.encoder("encoder.pt").checksum != run.encoder().checksum
    with pytest.raises(DataError, match="holds a run already; continue it"):
        train(run.settings, run.path)


def test_tensorboard_has_the_log(scenes: Path, tmp_path: Path) -> None:
    train(small(scenes), tmp_path / "run", cache=scenes / "features")
    assert list((tmp_path / "run" / "tensorboard").glob("events*"))


def edited(run: Path, **changes: Any) -> Path:
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, **changes}))
    return run


def test_a_run_of_another_version_is_refused(scenes: Path, tmp_path: Path) -> None:
    run = quick(scenes, tmp_path, steps=2)
    with pytest.raises(DataError, match="begun by sacrecap 0.0.9, this is"):
        resume(edited(run, sacrecap="0.0.9"))
    RunFolder.open(run).captioner()  # its captions are what they were
    with pytest.raises(DataError, match=r"has format 99 \(sacrecap 0.0.9\); .* reads format 1"):
        resume(edited(run, format=99))
    with pytest.raises(DataError, match="lacks"):
        resume(edited_without(edited(run, format=1), "sizes"))
    (run / "config.json").write_text("{")
    with pytest.raises(DataError, match="is not a configuration of a training run"):
        resume(run)
    with pytest.raises(DataError, match="is not a run of sacrecap caption train"):
        resume(tmp_path)


def edited_without(run: Path, name: str) -> Path:
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({key: value for key, value in config.items() if key != name}))
    return run


def test_a_run_goes_on_as_it_began_or_not(scenes: Path, tmp_path: Path) -> None:
    run = quick(scenes, tmp_path, steps=2)
    with pytest.raises(UsageError, match=r"may change only .*, but batch \(8 before, 9 now\) changed.*--init"):
        resume(run, changes={"batch": 9})
    write_scenes(tmp_path / "others", 60, seed=2)
    with pytest.raises(DataError, match="are not those that"):
        resume(run, images=CaptionedImages.read(tmp_path / "others"))
    (run / "vocabulary.txt").write_text("<end>\n<unknown>\ncat\n")
    with pytest.raises(DataError, match="is not the vocabulary this run was trained with"):
        resume(run)


def test_damaged_and_foreign_checkpoints_are_refused(scenes: Path, tmp_path: Path) -> None:
    run = quick(scenes, tmp_path, steps=2)
    (run / "best.pt").write_bytes(b"nothing")
    with pytest.raises(DataError, match="is not a checkpoint of sacrecap, or damaged"):
        RunFolder.open(run).captioner()
    torch.save({"model": {}}, run / "best.pt")
    with pytest.raises(DataError, match="does not fit config.json"):
        RunFolder.open(run).captioner()
    (run / "best.pt").unlink()
    with pytest.raises(DataError, match="has no best.pt yet"):
        RunFolder.open(run).captioner()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "fcc"}, "did you mean 'fc'"),
        ({"loss": "xe + cidr-d"}, "cidr-d"),
        ({"batch": 1000}, "choose a smaller --batch"),
        ({"least": 10_000}, "choose a smaller --least"),
        ({"rate": 0.0}, "rate and clip must be above 0"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"baseline": "none"}, "baseline"),
        ({"device": "cuda:99"}, "cannot be used"),
    ],
)
def test_settings_that_cannot_be(scenes: Path, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        quick(scenes, tmp_path, **changes)
    assert not (tmp_path / "run").exists()


def test_weights_of_another_captioner_are_refused(scenes: Path, tmp_path: Path) -> None:
    run = quick(scenes, tmp_path, steps=2)
    with pytest.raises(UsageError, match="hidden is 17, but 16 in"):
        train(small(scenes, init=str(run), hidden=17), tmp_path / "other", cache=scenes / "features")


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_running_out_of_memory_is_said(
    scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(TrainingLoop, "_learn", fail)
    with pytest.raises(DataError, match="memory ran out at step 1 with a batch of 8 images × 2 captions; .*--batch"):
        quick(scenes, tmp_path)


def test_a_loss_that_is_no_number_is_said(scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TrainingLoop, "_learn", lambda *_: Losses(torch.tensor(torch.nan), {}))
    with pytest.raises(SacrecapError, match="the loss of step 1 is nan; try a smaller --rate"):
        quick(scenes, tmp_path)


def command_line(*arguments: str) -> None:
    sys.argv = ["sacrecap", *arguments]
    main()


def test_losses_that_are_read_late_are_the_same(scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: the host asks for them when a line of the log, or a checkpoint, needs them."""
    places: dict[str, Any] = {"cache": tmp_path / "features", "tensorboard": False}
    settings = small(scenes, steps=8, loss="xe + cider-d", baseline="others")
    train(settings, tmp_path / "at-once", **places)
    monkeypatch.setattr(loop, "computes_apart", lambda device: True)
    read: list[int] = []
    late = TrainingLoop._read_losses

    def counted(self: TrainingLoop) -> None:
        read.append(len(self.unread))
        late(self)

    monkeypatch.setattr(TrainingLoop, "_read_losses", counted)
    shown: list[dict[str, float]] = []
    train(settings, tmp_path / "late", progress=lambda at: shown.append(dict(at.losses)), **places)
    assert without_seconds(tmp_path / "late") == without_seconds(tmp_path / "at-once")
    assert read == [2, 1, 1, 2, 0, 2]  # a line each 3 steps, a validation each 2
    assert [bool(losses) for losses in shown] == [False, *[True] * 7]
    one, other = (torch.load(tmp_path / run / "last.pt", weights_only=True) for run in ("at-once", "late"))
    assert equal({**one, "position": None}, {**other, "position": None})

    monkeypatch.setattr(TrainingLoop, "_learn", lambda self, step: Losses(torch.tensor([1.0, torch.nan][step]), {}))
    with pytest.raises(SacrecapError, match="the loss of step 2 is nan; try a smaller --rate"):
        train(small(scenes), tmp_path / "none", **places)


def test_several_processes_share_the_batches(scenes: Path, tmp_path: Path) -> None:
    """Two, started as torchrun starts them, take the steps that one takes alone, and one of them speaks."""
    printed = in_processes(
        command_line,
        "caption",
        "train",
        str(scenes),
        "-o",
        "two",
        "--features",
        "features",
        "--device",
        "cpu",
        "--hidden",
        "16",
        "--embedding",
        "8",
        "--batch",
        "8",
        "--captions",
        "2",
        "--steps",
        "4",
        "--validate-every",
        "2",
        "--log-every",
        "2",
        "--rate",
        "0.01",
        "--side",
        "32",
        "--no-tensorboard",
        folder=tmp_path,
    )
    assert "".join(printed).count("4 steps") == 1
    alone = quick(scenes, tmp_path, steps=4, log_every=2, attention=512, latent=64)
    one, other = (torch.load(run / "last.pt", weights_only=True)["model"] for run in (alone, tmp_path / "two"))
    assert one.keys() == other.keys()
    assert len(read_log(tmp_path / "two")) == len(read_log(alone))
