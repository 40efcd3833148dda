"""`sacrecap caption scenes` and `sweep`: what they write and what they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from in_this_process import Here

from runner import Ended, Runner
from sacrecap_captioning.sweep import jobs

SMALL = (
    "--models",
    "fc",
    "--loss",
    "xe + {0,only}*cider-d",
    "--seeds",
    1,
    "--captions",
    3,
    "--steps",
    3,
    "--reward-steps",
    2,
    "--batch",
    4,
    "--reward-batch",
    4,
    "--hidden",
    8,
    "--embedding",
    8,
    "--least",
    1,
    "--encoder-epochs",
    1,
    "--processes",
    1,
    "--device",
    "cpu",
    "--quiet",
)


def test_from_nothing_to_the_plane(run: Runner) -> None:
    assert run.here("caption", "scenes", "scenes", "--images", 40) == Ended(0, "", "")
    printed = json.loads(run.ok("caption", "sweep", "scenes", "-o", "sweep", *SMALL, "--format", "json"))
    assert [(place["model"], place["loss"]) for place in printed["places"]] == [("fc", "xe"), ("fc", "cider-d")]
    assert {"plane.png", "plane.svg", "plane.csv"} < {path.name for path in run.folder.glob("sweep/pictures/*")}
    sets = run.folder / "sweep" / "sets" / "fc-cider-d-seed-0-rs.json"
    scored = run.here("diversity", sets, "--references", "scenes/dataset.json", "--split", "test", "--interval", "none")
    assert scored.status == 0
    again = run.here("caption", "sweep", "scenes", "-o", "sweep", *SMALL, "--format", "markdown")
    assert again.stdout.startswith("| captioner | CIDEr-D | Self-CIDEr |")
    other = (*SMALL, "--reward-rate", 0.5, "--steps", 5)
    assert "is of another sweep (reward_rate: 0.002 there, 0.5 now; steps: 3 there, 5 now); choose" in run.refused(
        "caption", "sweep", "scenes", "-o", "sweep", *other
    )


def test_quick_is_a_choice_of_settings(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    learn = jobs.first_encoder

    def first_encoder(*how: Any) -> Any:
        threads.append(torch.get_num_threads())
        return learn(*how)

    monkeypatch.setattr(jobs, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(jobs, "first_encoder", first_encoder)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    torch.set_num_threads(2)
    run.here("caption", "scenes", "scenes", "--images", 40)
    own = SMALL[4:]  # without models and losses
    printed = json.loads(run.ok("caption", "sweep", "scenes", "-o", "quick", "--quick", *own, "--format", "json"))
    assert {(place["model"], place["weight"], place["method"]) for place in printed["places"]} == {
        ("att2in", weight, method) for weight in ("0", "5", "20", "only") for method in ("rs", "rs(temperature=0.5)")
    }
    assert threads == [1]  # more only wait for each other
    kept = json.loads((run.folder / "quick" / "sweep.json").read_text())
    assert (kept["rate"], kept["reward_rate"], kept["images"]) == (8e-3, 4e-3, 320)
    assert (kept["hidden"], kept["set_size"], kept["steps"]) == (8, 3, 3)


def test_refused_before_anything_is_made(run: Runner) -> None:
    def refused(*arguments: object) -> str:
        return run.refused("caption", "sweep", "scenes", "-o", "sweep", *arguments)

    assert "did you mean 'att2in'?" in refused("--models", "fc,atin")
    assert "did you mean 'rs'?" in refused("--method", "r")
    assert "given twice" in refused("--method", "rs", "--method", "rs()")
    assert "rise, each once" in refused("--loss", "xe + {5,1}*cider-d")
    assert "did you mean 'cider-d'" in refused("--loss", "xe + {0,5}*cidre-d")
    assert "no such file" in refused()
    (run.folder / "file").write_text("")
    assert "file/x: this folder cannot be made" in run.refused("caption", "scenes", "file/x", "--images", 10)
