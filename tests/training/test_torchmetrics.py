"""`capeval.torchmetrics`: in one process, and in two that share the captions as distributed training does."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
torchmetrics = pytest.importorskip("torchmetrics", exc_type=ImportError)
import capeval
from capeval import example
from capeval.errors import UsageError
from capeval.metrics import Wmd
from capeval.torchmetrics import CaptionScore, CaptionScores
from processes import import_ahead, in_processes

pytestmark = pytest.mark.torch
import_ahead("torchmetrics")

METRICS = "bleu-4, rouge-l, cider-d, cider-d(sigma=5)"
REFERENCES = dict(sorted(example.references().items())[:31])
"""An odd number, so that two processes have to repeat an image; in the order of a result of batches."""
CANDIDATES = {image: next(iter(example.systems().values()))[image] for image in REFERENCES}


def expected(percent: bool = False) -> dict[str, float]:
    return capeval.score(REFERENCES, CANDIDATES, METRICS, interval=None).flat("val/", percent=percent)


def batches(images: list[str], size: int = 4) -> list[list[str]]:
    return [images[start : start + size] for start in range(0, len(images), size)]


def fill(metric: Any, images: list[str], references: bool) -> None:
    for batch in batches(images):
        candidates = {image: CANDIDATES[image] for image in batch}
        metric.update(candidates, {image: REFERENCES[image] for image in batch} if references else None)


@pytest.mark.parametrize("known", [True, False], ids=["references known", "references in batches"])
def test_one_process(known: bool) -> None:
    metric = CaptionScores(REFERENCES if known else None, METRICS, prefix="val/", percent=True)
    for _ in range(2):
        fill(metric, [*CANDIDATES], not known)
        assert {name: score.item() for name, score in metric.compute().items()} == expected(percent=True)
        assert metric.result["rouge-l"].per_image.shape == (31,)
        metric.reset()
        assert metric.result is None


def test_a_single_score() -> None:
    metric = CaptionScore(REFERENCES, "cider-d(sigma=5)")
    fill(metric, [*CANDIDATES], False)
    assert metric.compute().item() == expected()["val/cider-d.sigma_5"]
    assert metric.higher_is_better
    assert not CaptionScore(metric=Wmd(similarity=False)).higher_is_better
    with pytest.raises(UsageError, match="unknown metric"):
        CaptionScore(metric="cinder")


def test_lists_of_captions_without_ids() -> None:
    metric = CaptionScores(metrics="rouge-l")
    metric.update(["a dog", "a bus"], [["a dog"], ["a red bus"]])
    metric.update(["a cat"], [["a dog"]])
    score = capeval.score([["a dog"], ["a red bus"], ["a dog"]], ["a dog", "a bus", "a cat"], "rouge-l", interval=None)
    assert metric.compute()["rouge-l"].item() == score["rouge-l"].value


def test_it_is_a_metric_as_others_are() -> None:
    """The value of a batch, collections, copies, pickles and options of TorchMetrics."""
    metric = CaptionScore(metric="rouge-l", compute_on_cpu=True, sync_on_compute=False)
    assert metric({"1": "a dog"}, {"1": ["a dog"]}).item() == 1
    assert metric({"2": "a cat"}, {"2": ["a dog"]}).item() == 0.5
    assert metric.compute().item() == 0.75
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), metric.clone()):
        assert other.compute().item() == 0.75
        other.update({"3": "a"}, {"3": ["b"]})
        assert other.compute().item() == 0.5
    assert metric.compute().item() == 0.75
    several = {"one": CaptionScore(metric="rouge-l"), "more": CaptionScores(metrics="bleu-1")}
    together = torchmetrics.MetricCollection(several)
    together.update({"1": "a dog"}, {"1": ["a dog"]})
    assert {name: round(score.item(), 6) for name, score in together.compute().items()} == {"one": 1, "bleu-1": 1}


def shares(rank: int, case: str) -> list[str]:
    """What `DistributedSampler` gives a process: every other image, and one again where they are odd."""
    images = [*CANDIDATES]
    if case == "one has nothing":
        return images if rank == 0 else []
    dealt = torch.utils.data.DistributedSampler(images, num_replicas=2, rank=rank, shuffle=False)
    assert len(dealt) == 16
    return [images[number] for number in dealt]


CASES = ("references known", "references in batches", "one has nothing")


def process() -> None:
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    found: dict[str, Any] = {}
    for case in CASES:
        metric = CaptionScores(REFERENCES if case == "references known" else None, METRICS, prefix="val/")
        for epoch in range(2):
            fill(metric, shares(rank, case), case != "references known")
            found[f"{case}, epoch {epoch}"] = {name: score.item() for name, score in metric.compute().items()}
            metric.reset()
    unnamed = CaptionScore(metric="rouge-l")
    unnamed.update(["a dog"] if rank == 0 else ["a cat", "a bus"], [["a dog"]] * (rank + 1))
    found["lists"] = unnamed.compute().item()
    # The same by hand: each process sends what it collected.
    mine = capeval.Accumulator(metrics=METRICS, interval=None)
    fill(mine, shares(rank, "references in batches"), True)
    theirs: list[Any] = [None, None]
    torch.distributed.all_gather_object(theirs, mine)
    for other in theirs:
        mine.merge(other)
    found["accumulator"] = mine.compute().flat("val/")
    print(json.dumps(found))
    torch.distributed.destroy_process_group()


def test_two_processes_have_the_scores_of_all_captions(tmp_path: Path) -> None:
    found = [json.loads(each.splitlines()[-1]) for each in in_processes(process, folder=tmp_path)]
    assert found[0] == found[1]
    for case in CASES:
        for epoch in range(2):
            assert found[0][f"{case}, epoch {epoch}"] == expected(), case
    assert found[0]["lists"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert found[0]["accumulator"] == expected()
