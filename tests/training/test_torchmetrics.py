"""`sacrecap.torchmetrics`: in one process, and in two that share the captions as distributed training does."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
torchmetrics = pytest.importorskip("torchmetrics", exc_type=ImportError)
import sacrecap
from processes import import_ahead, in_processes
from sacrecap import example
from sacrecap.errors import DataError, SacrecapWarning, UsageError
from sacrecap.metrics import Wmd
from sacrecap.torchmetrics import CaptionScore, CaptionScores

pytestmark = pytest.mark.torch
import_ahead("torchmetrics")

METRICS = "bleu-4, rouge-l, cider-d, cider-d(sigma=5)"
REFERENCES = dict(sorted(example.references().items())[:31])
"""An odd number, so that two processes have to repeat an image; in the order of a result of batches."""
CANDIDATES = {image: next(iter(example.systems().values()))[image] for image in REFERENCES}


def expected(percent: bool = False) -> dict[str, float]:
    return sacrecap.score(REFERENCES, CANDIDATES, METRICS, interval=None).flat("val/", percent=percent)


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
    score = sacrecap.score([["a dog"], ["a red bus"], ["a dog"]], ["a dog", "a bus", "a cat"], "rouge-l", interval=None)
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


def warned_of(metric: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metric.compute()
    return [str(one.message) for one in caught if issubclass(one.category, SacrecapWarning)]


def test_images_without_a_caption_are_told_unless_it_was_chosen() -> None:
    metric = CaptionScore(REFERENCES, "rouge-l")
    fill(metric, [*CANDIDATES][:4], False)
    [said] = warned_of(metric)
    assert said.startswith("CaptionScore: 4 of the 31 images had a caption, and the score is of those alone: right in")
    seen = {image: REFERENCES[image] for image in [*REFERENCES][:4]}
    expected_of_those = sacrecap.score(seen, {image: CANDIDATES[image] for image in seen}, "rouge-l", interval=None)
    assert metric.result is not None
    assert metric.result["rouge-l"].value == expected_of_those["rouge-l"].value
    metric.reset()
    fill(metric, [*CANDIDATES], False)
    assert warned_of(metric) == []  # every image was seen
    for chosen, images in (("skip", 4), ("zero", 31)):
        by_choice = CaptionScore(REFERENCES, "rouge-l", on_missing=chosen)
        fill(by_choice, [*CANDIDATES][:4], False)
        assert warned_of(by_choice) == []
        assert by_choice.result is not None
        assert by_choice.result.images == images
    strict = CaptionScore(REFERENCES, "rouge-l", on_missing="error")
    fill(strict, [*CANDIDATES][:4], False)
    with pytest.raises(DataError, match="no candidate for 27 images"):
        strict.compute()


def test_the_value_of_a_batch_is_of_its_images_and_needs_no_warning() -> None:
    metric = CaptionScore(REFERENCES, "rouge-l")
    image = next(iter(CANDIDATES))
    value = metric({image: CANDIDATES[image]})  # a warning would be an error here
    alone = sacrecap.score({image: REFERENCES[image]}, {image: CANDIDATES[image]}, "rouge-l", interval=None)
    assert value.item() == alone["rouge-l"].value
    assert len(warned_of(metric)) == 1


def test_nothing_seen_is_an_error() -> None:
    metric = CaptionScore(REFERENCES, "rouge-l")
    # TorchMetrics itself warns of a value before any update.
    with pytest.warns(UserWarning, match="before"), pytest.raises(DataError, match="candidates: no image to score"):
        metric.compute()


def test_lightning_logs_it_as_any_metric_through_the_sanity_check() -> None:
    lightning = pytest.importorskip("lightning", exc_type=ImportError)
    images = [*CANDIDATES]

    class Captioner(lightning.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.cider = CaptionScore(REFERENCES, "cider-d")

        def training_step(self, batch: Any) -> Any:
            return self.layer(batch[:, None].float()).square().mean()

        def validation_step(self, batch: Any) -> None:
            self.cider.update({images[place]: CANDIDATES[images[place]] for place in batch.tolist()})
            self.log("val/cider", self.cider)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.01)

    def fitted(**options: Any) -> tuple[float, list[str]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trainer = lightning.Trainer(
                accelerator="cpu",
                devices=1,
                max_epochs=2,
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                **options,
            )
            data = torch.utils.data.DataLoader(torch.arange(31), batch_size=4)
            trainer.fit(Captioner(), data, data)
        said = [str(one.message) for one in caught if issubclass(one.category, SacrecapWarning)]
        return trainer.callback_metrics["val/cider"].item(), [text.partition(" images")[0] for text in said]

    whole = sacrecap.score(REFERENCES, CANDIDATES, "cider-d", interval=None)["cider-d"].value
    value, said = fitted()
    assert (value, said) == (pytest.approx(whole, abs=1e-9), ["CaptionScore: 8 of the 31"])  # two batches, once
    value, said = fitted(limit_val_batches=3)
    assert value != pytest.approx(whole, abs=1e-3)
    assert said == ["CaptionScore: 8 of the 31", *["CaptionScore: 12 of the 31"] * 2]  # no epoch goes unnoticed


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
    mine = sacrecap.Accumulator(metrics=METRICS, interval=None)
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
