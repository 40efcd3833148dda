"""`sacrecap caption scenes` and `sweep`: what they write and what they refuse."""

from __future__ import annotations

import json
from statistics import fmean
from typing import Any

import pytest
import torch
from in_this_process import Here
from papers_order import COOL, PLAIN, by_weight, check_order

from runner import Ended, Runner
from sacrecap_captioning import sweep as sweep_module

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


LITTLE = """--images 80 --encoder-epochs 3 --hidden 32 --embedding 32 --attention 16 --steps 80 --batch 16
    --reward-steps 40 --reward-batch 8 --captions 3""".split()


def test_quick_has_the_papers_order(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also much smaller: more weight of CIDEr-D is less diverse, a lower temperature is that and more accurate."""
    threads: list[int] = []
    learn = sweep_module.first_encoder

    def first_encoder(*how: Any) -> Any:
        threads.append(torch.get_num_threads())
        return learn(*how)

    monkeypatch.setattr(sweep_module, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(sweep_module, "first_encoder", first_encoder)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    torch.set_num_threads(2)
    run.here("caption", "scenes", "scenes", "--images", 250)
    sweep = ("caption", "sweep", "scenes", "-o", "quick", "--quick", "--device", "cpu", "--format", "json", "--quiet")
    printed = json.loads(run.ok(*sweep, "--loss", "xe + {0,only}*cider-d", *LITTLE))
    ends = ("0", "only")
    places = {(place["model"], place["weight"], place["method"]) for place in printed["places"]}
    assert places == {("att2in", weight, method) for weight in ends for method in (PLAIN, COOL)}
    diversity = {method: by_weight(printed, "self-cider", method, ends)[0] for method in (PLAIN, COOL)}
    assert all(reward_only < imitation for imitation, reward_only in diversity.values()), diversity
    assert all(cool < plain for cool, plain in zip(diversity[COOL], diversity[PLAIN], strict=True)), diversity
    accuracy = {method: fmean(by_weight(printed, "accuracy", method, ends)[0]) for method in (PLAIN, COOL)}
    assert accuracy[PLAIN] < accuracy[COOL] < printed["people"]["accuracy"] / 2, accuracy
    assert threads == [1]  # more only wait for each other
    kept = json.loads((run.folder / "quick" / "sweep.json").read_text())
    assert (kept["rate"], kept["reward_rate"], kept["batch"]) == (8e-3, 4e-3, 16)
    assert (kept["hidden"], kept["set_size"], kept["steps"]) == (32, 3, 80)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_quick_at_full_size_has_the_papers_order(run: Runner) -> None:
    run.here("caption", "scenes", "scenes")
    quick = ("caption", "sweep", "scenes", "-o", "quick", "--quick", "--device", "cpu", "--format", "json", "--quiet")
    check_order(json.loads(run.ok(*quick)))


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
