"""`--features FILE`: a file of features through train, retrieval, generate, evaluate and sweep, without the images."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from test_sweep import Here

from runner import Runner
from sacrecap_captioning import sweep as sweep_module
from sacrecap_captioning.captioned_images import CaptionedImages
from sacrecap_captioning.generation import BLIND

SMALL = ["--hidden", 8, "--embedding", 8, "--attention", 8, "--steps", 2, "--batch", 8, "--least", 1, "--device", "cpu"]


def test_from_features_to_scores(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "ProcessPoolExecutor", Here)
    run.here("caption", "scenes", "scenes", "--images", 40)
    ids = [image.id for image in CaptionedImages.of_data_set(run.folder / "scenes")]
    shutil.rmtree(run.folder / "scenes" / "images")
    np.savez(run.folder / "x.npz", ids=ids, grid=np.random.default_rng(0).normal(size=(40, 2, 5)))
    train = ("caption", "train", "scenes", "-o", "run", "--model", "att2in", "--captions", 2, *SMALL)
    assert "run: 2 steps" in run.ok(*train, "--features", "x.npz")
    (run.folder / "x.npz").rename(run.folder / "y.npz")
    here = ("--features", "y.npz")
    assert "epoch" in run.ok("caption", "retrieval", "run", "--epochs", 1, "--batch", 8, *here)
    run.ok("caption", "generate", "run", "--captions", 2, "--device", "cpu", "-o", "sets.json", *here)
    assert len(json.loads((run.folder / "sets.json").read_text())) == 4
    evaluate = ("caption", "evaluate", "run", "--metrics", "bleu-1", "--interval", "jackknife", "--format", "json")
    scored = json.loads(run.ok(*evaluate, "--device", "cpu", *here))
    assert (scored["images"], *scored["intervals"]) == (4, "bleu-1")
    systems = json.loads(run.ok(*evaluate, "--device", "cpu", *here, "--blind"))["systems"]
    assert list(systems) == ["captioner", *BLIND]
    assert all(own["scores"]["bleu-1"] > 0.1 for name, own in systems.items() if name in BLIND)  # people say it
    assert "no such file" in run.refused(*evaluate)
    assert "3 steps" in run.ok("caption", "train", "--init", "run", "-o", "on", *SMALL, "--steps", 3, *here)
    sweep = (
        "caption",
        "sweep",
        "scenes",
        "-o",
        "sweep",
        "--models",
        "fc",
        "--loss",
        "xe + {0}*cider-d",
        "--seeds",
        1,
        *SMALL,
    )
    more = ("--captions", 2, "--reward-steps", 1, "--reward-batch", 4, "--processes", 1, "--format", "json")
    assert json.loads(run.ok(*sweep, *more, *here))["places"][0]["model"] == "fc"
    assert not (run.folder / "sweep" / "encoder.pt").exists()
    refused = run.refused(*sweep, *more, *here, "--method", "rci", "-o", "other")
    assert "rci changes the images, and the captioner is given features of a file (y.npz)" in refused
    assert "leave --weights out" in run.refused(*sweep, *here, "--weights", "words")
