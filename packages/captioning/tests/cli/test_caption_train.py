"""`sacrecap caption train` and `evaluate`: what users see of a run, and of what cannot be."""

from __future__ import annotations

import json
import sys
from unittest.mock import patch

from runner import Runner

TRAIN = [
    "--hidden",
    "16",
    "--embedding",
    "8",
    "--steps",
    "4",
    "--batch",
    "8",
    "--captions",
    "2",
    "--side",
    "32",
    "--device",
    "cpu",
    "--features",
    "features",
]


def test_train_go_on_evaluate(run: Runner) -> None:
    run.here("caption", "scenes", "scenes", "--images", "60")
    assert "nic: 4 steps; best CIDEr-D" in run.ok("caption", "train", "scenes", "-o", "nic", "--model", "nic", *TRAIN)
    on = ("caption", "train", "--init", "nic", "-o", "on", "--steps", "2", "--batch", "8")
    assert "on: 2 steps" in run.ok(*on, "--features", "features", "--device", "cpu")
    shown = run.ok(
        "caption",
        "evaluate",
        "nic",
        "--metrics",
        "bleu-4,cider-d",
        "--format",
        "json",
        "--candidates",
        "out.json",
        "--features",
        "features",
        "--device",
        "cpu",
        "--interval",
        "none",
    )
    assert json.loads(shown)["images"] == 6
    rows = json.loads((run.folder / "out.json").read_text())
    assert len(rows) == 6
    assert set(rows[0]) == {"image_id", "caption"}
    assert "go on from it (--init nic)" in run.refused("caption", "train", "scenes", "-o", "nic", *TRAIN)


def test_what_cannot_be_is_said_before_torch_is_loaded(run: Runner) -> None:
    run.here("caption", "scenes", "scenes", "--images", "20")
    with patch.dict(sys.modules):  # which are put back
        for name in [name for name in sys.modules if name.partition(".")[0] in {"torch", "sacrecap_captioning"}]:
            del sys.modules[name]
        sys.modules["torch"] = None  # type: ignore[assignment]  # its import fails now
        for command in ("generate", "evaluate"):
            wrong = run.refused("caption", command, "x/y", "--data", "scenes", "--split", "tset", "-o", "out.json")
            assert "no image is in the split 'tset'; the splits of these images are train (16 images)" in wrong
        train = ("caption", "train", "scenes", "-o", "run")
        assert "published weights are those of checkpoints" in run.refused(*train, "--weights", "DEFAULT")
        assert "a checkpoint, which has its own" in run.refused(*train, "--encoder", "x/y", "--weights", "words")
        assert "no such file" in run.refused("caption", "train", "sceens", "-o", "run")
        assert "no such file" in run.refused(*train, "--features", "none.npz")
        assert "leave --encoder, --side out" in run.refused(
            *train, "--features", "x.npz", "--encoder", "small", "--side", 9
        )


def test_what_cannot_be_is_said_at_once(run: Runner) -> None:
    assert "which images?" in run.refused("caption", "train", "-o", "run")
    assert "did you mean 'att2in'" in run.refused("caption", "train", "scenes", "-o", "run", "--model", "att2n")
    assert "is not a run of sacrecap caption train" in run.refused("caption", "train", "-o", "run", "--init", "no")
    assert "is not a folder" in run.refused("caption", "evaluate", "nothing")
