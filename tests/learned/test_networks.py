"""Checkpoints: which can be used, what is said of others, and that results depend on nothing but text and image."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

import sacrecap
from learned.captions import CANDIDATES, LONG, REFERENCES
from sacrecap.errors import DataError, MissingDependencyError, SacrecapWarning, UsageError
from sacrecap.metrics import Metric
from sacrecap.metrics.registry import groups, parse_metrics
from sacrecap.resources import networks

pytestmark = pytest.mark.torch

LEARNED = ("clipscore", "refclipscore", "bertscore", "sentence")


@pytest.fixture(scope="module")
def metrics(clip: str, bert: str) -> tuple[Metric, ...]:
    """All of them, with tiny checkpoints."""
    return parse_metrics(
        f"clipscore(model={clip}), refclipscore(model={clip}), bertscore(model={bert}, layer=3), sentence(model={bert})"
    )


def score(metrics: Any, images: Path, candidates: Any = CANDIDATES, **options: Any) -> dict[str, list[float]]:
    references = {image: REFERENCES[image] for image in candidates}
    result = sacrecap.score(references, candidates, metrics, images=images, interval=None, **options)
    return {key: own.per_image.tolist() for key, own in result.items()}


def test_the_group_has_them_all() -> None:
    assert groups()["learned"] == LEARNED


def test_scores_depend_on_nothing_else(metrics: Any, images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on the order, the other captions or the size of batches: to the bit."""
    whole = score(metrics, images)
    for own in (["6", "4", "2"], ["1"], list(CANDIDATES)[::-1]):
        part = score(metrics, images, {image: CANDIDATES[image] for image in own})
        places = [list(CANDIDATES).index(image) for image in own]
        assert part == {key: [scores[place] for place in places] for key, scores in whole.items()}
    monkeypatch.setattr("sacrecap.resources.networks.WORTH_KEEPING", 3)
    monkeypatch.setattr("sacrecap.data.cache.WORTH_KEEPING", 3)
    monkeypatch.setattr("sacrecap.metrics.bertscore._PAIRS_AT_ONCE", 2)
    for _ in range(2):  # the second time from the cache
        assert score(metrics, images) == whole


def test_other_sizes_of_batches_change_last_digits_at_most(
    metrics: Any, images: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    whole = score(metrics, images)
    shutil.rmtree(cache)
    monkeypatch.setattr(networks, "_networks", {})
    monkeypatch.setattr(networks.Network, "batch", 1)
    for key, own in score(metrics, images).items():
        np.testing.assert_allclose(own, whole[key], atol=1e-6)


def test_what_does_not_fit_is_tried_with_half_as_many(clip: str) -> None:
    network = networks.Network(networks.Checkpoint(clip), torch.device("cpu"))
    sizes: list[int] = []

    def run(chosen: list[int], most: int) -> list[int]:
        sizes.append(len(chosen))
        if len(chosen) > most:
            raise RuntimeError("CUDA out of memory")
        return [number * 10 for number in chosen]

    assert network.in_batches([7] * 5, lambda chosen: run(chosen, 2)) == [0, 10, 20, 30, 40]
    assert sizes == [8, 4, 2, 2, 2]
    with pytest.raises(UsageError, match="does not fit into the memory of cpu; choose another device, or precision"):
        network.in_batches([7], lambda chosen: run(chosen, 0))
    with pytest.raises(RuntimeError, match="a mistake"):
        network.in_batches([7], fail)


def fail(chosen: list[int]) -> Any:
    raise RuntimeError("a mistake")


def test_a_model_is_loaded_once(metrics: Any, images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "_networks", {})
    loaded: list[str] = []
    original = networks.parts
    monkeypatch.setattr(
        networks,
        "parts",
        lambda one, *, what: loaded.append(what) or original(one, what=what),  # type: ignore[func-returns-value]
    )
    for _ in range(2):
        score(metrics, images)
    # One of images and texts, one of texts that is cut at three layers, one that is whole.
    assert sorted(loaded) == ["model of images and texts", "model of texts", "model of texts"]


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_half_precision_is_near(clip: str, bert: str, images: Path, precision: str) -> None:
    models = {"clipscore": clip, "sentence": bert}
    names = [f"{name}(model={model})" for name, model in models.items()]
    halves = [f"{name}(model={model}, precision={precision})" for name, model in models.items()]
    for whole, half in zip(score(names, images).values(), score(halves, images).values(), strict=True):
        assert half != whole
        np.testing.assert_allclose(half, whole, atol=0.1)


@pytest.mark.parametrize(
    ("name", "limit", "model"),
    [
        ("clipscore", 77, "clip"),
        ("refclipscore", 77, "long_clip"),
        ("bertscore", 16, "bert"),
        ("sentence", 20, "roberta"),
    ],
)
def test_captions_that_are_cut_are_counted(
    name: str, limit: int, model: str, images: Path, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(model)
    [metric] = parse_metrics(f"{name}(model={folder}{', layer=1' if name == 'bertscore' else ''})")
    message = rf"2 captions have more than the {limit} tokens that the model reads.*2 images \(1, 4\)"
    with pytest.warns(SacrecapWarning, match=message) as caught:
        cut = score([metric], images, CANDIDATES | {"1": LONG, "4": LONG + " the beach"})
    assert str(caught[0].message).endswith("; refclipscore(long=yes) reads 100") == (model == "long_clip")
    with pytest.warns(SacrecapWarning, match="1 caption has more than"):
        more = score([metric], images, CANDIDATES | {"1": LONG + " two birds"})
    assert next(iter(more.values()))[0] == next(iter(cut.values()))[0], "the rest is not read"


def test_captions_that_are_cut_are_counted_by_engines_too(bert: str) -> None:
    with pytest.warns(SacrecapWarning, match="2 captions have more than the 16 tokens that the model reads"):
        sacrecap.score(
            REFERENCES, CANDIDATES | {"1": LONG, "4": LONG}, f"sentence(model={bert})", interval=None, engine="stream"
        )


def test_long_reads_on(long_clip: str, clip: str, images: Path) -> None:
    metric = parse_metrics(f"clipscore(model={long_clip}, long=yes)")
    words = "the dog runs and runs " * 17  # 85: what is behind them is behind CLIP's 77 too
    first, second = (
        score(metric, images, dict.fromkeys(CANDIDATES, words + end)) for end in ("yellow bus", "red birds")
    )
    assert first != second
    with pytest.warns(SacrecapWarning, match="reads 77 tokens at most, so long=yes changes nothing"):
        assert list(score(f"clipscore(model={clip}, long=yes)", images).values()) == list(
            score(f"clipscore(model={clip})", images).values()
        )


# What cannot be used


def test_without_the_extra(bert: str, images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original: Callable[..., Any] = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *rest: None if name == "transformers" else original(name, *rest)
    )
    for name in (*LEARNED[:-1], f"sentence(model={bert})"):
        with pytest.raises(MissingDependencyError, match=r" needs the extra 'learned': pip install .sacrecap\[lear"):
            score(name, images)
    with pytest.warns(SacrecapWarning) as caught:
        sacrecap.score(REFERENCES, CANDIDATES, "bleu-1, learned", interval=None)
    assert [str(one.message) for one in caught] == [
        f"{label} is left out of group learned: it needs the extra 'learned': pip install 'sacrecap[learned]'"
        for label in ("CLIPScore", "RefCLIPScore", "BERTScore")
    ]


def test_a_group_does_not_ask_the_hub(images: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.warns(SacrecapWarning) as caught:
        sacrecap.score(REFERENCES, CANDIDATES, "bleu-1, learned", interval=None)
    lines = [str(one.message) for one in caught]
    assert len(lines) == 3
    assert lines[0].startswith("CLIPScore is left out of group learned: it needs the images: give images=DIR")
    assert lines[2] == (
        "BERTScore is left out of group learned: it needs the model roberta-large, which is not on this machine: name "
        "the metric itself, not its group, to fetch the model from the hub, or give a folder (model=DIR)"
    )


@pytest.mark.parametrize("name", LEARNED)
def test_the_hub_out_of_reach(name: str, images: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    message = (
        r"nobody/none: no model of (images and )?texts could be loaded neither in the hub's cache nor by the network "
        r".*; download the files of https://huggingface\.co/nobody/none into a folder .* and give the folder"
    )
    with pytest.raises(DataError, match=message) as caught:
        score(f"{name}(model=nobody/none{', layer=1' if name == 'bertscore' else ''})", images)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match=r"^/no/such/folder: "):
        score(f"{name}(model=/no/such/folder)", images)


def test_models_of_another_kind(clip: str, bert: str, images: Path) -> None:
    with pytest.raises(DataError, match="is a BertModel, which does not map images and texts into one space; accepted"):
        score(f"clipscore(model={bert})", images)
    for name in ("bertscore(layer=1, ", "sentence("):
        with pytest.raises(DataError, match="is a CLIPModel, which does not encode texts; accepted are models"):
            score(f"{name}model={clip})", images)


def test_folders_that_are_no_checkpoints(bert: str, images: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no model of texts could be loaded \(.*; it needs config\.json, the token"):
        score(f"sentence(model={tmp_path})", images)
    folder = tmp_path / "copy"
    shutil.copytree(bert, folder)
    (folder / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(DataError, match="no model of texts could be loaded"):
        score(f"sentence(model={folder})", images)
    shutil.copy(Path(bert) / "model.safetensors", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 6}))
    with pytest.raises(DataError, match=r"its weights lack encoder\.layer\..* more of a BertModel; give"):
        score(f"sentence(model={folder})", images)
    with pytest.raises(UsageError, match="is a folder, which has no revisions; leave revision=v2 out"):
        score(f"sentence(model={bert}, revision=v2)", images)
    with pytest.raises(UsageError, match="the device 'gpu' cannot be used"):
        score(f"sentence(model={bert})", images, device="gpu")


def test_a_checkpoint_that_changes_is_another(bert: str, images: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(bert, folder)
    metric = f"sentence(model={folder})"
    signature = sacrecap.score(REFERENCES, CANDIDATES, metric, interval=None)[metric].signature
    [checksum] = [part for part in signature.split("|") if part.startswith("model:copy(")]
    assert len(checksum) == len("model:copy()") + 12
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    words = tokenizer["model"]["vocab"]
    words["dog"], words["bus"] = words["bus"], words["dog"]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    again = sacrecap.score(REFERENCES, CANDIDATES, metric, interval=None)[metric].signature
    assert checksum not in again
