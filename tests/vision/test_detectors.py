"""Real models through the real loading code, with random weights."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
from PIL import Image
from torchvision import models

from sacrecap.errors import DataError, UsageError
from sacrecap.vision import Detector, default_threshold, load_detector
from tiny_checkpoints import write_owl

pytestmark = pytest.mark.torch

SMALL = "ssdlite320_mobilenet_v3_large"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("weights") / "small.pth"
    torch.save(models.get_model(SMALL, weights=None, weights_backbone=None).state_dict(), path)
    return path


def check(detector: Detector, images: Path, *, finds: bool = True) -> None:
    """Detections of two images: their own labels, scores and boxes, whatever else is in the batch."""
    pictures = [Image.open(path).convert("RGB") for path in sorted(images.glob("*.png"))[:2]]
    found = detector.detect(pictures)
    assert len(found) == 2
    for picture, detections in zip(pictures, found, strict=True):
        assert detections or not finds
        for label, score, box in detections:
            assert label in detector.labels
            assert 0 <= score <= 1
            assert len(box) == 4
            assert max(box) < 2 * max(picture.size)
    (alone,) = detector.detect(pictures[:1])
    assert len(alone) == len(found[0])
    assert [one.score for one in alone] == pytest.approx([one.score for one in found[0]], abs=1e-4)


def test_a_torchvision_model_from_a_state_dict(images: Path, state: Path) -> None:
    detector = load_detector(SMALL, weights=str(state), device="cpu")
    assert len(detector.labels) == 80
    assert str(state) in detector.name
    check(detector, images)


def test_a_torchvision_model_with_random_weights(images: Path) -> None:
    check(load_detector("fasterrcnn_mobilenet_v3_large_320_fpn", weights="random", device="cpu"), images, finds=False)


def test_published_weights_come_from_torchvisions_cache(
    tmp_path: Path, state: Path, images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    weights = models.get_model_weights(SMALL).DEFAULT
    monkeypatch.setattr("torch.hub.download_url_to_file", _offline)
    with pytest.raises(DataError, match="cannot be fetched") as raised:
        load_detector(SMALL, device="cpu")
    assert f"download {weights.url} and put it into {tmp_path / 'checkpoints'}" in str(raised.value)
    shutil.copy(state, tmp_path / "checkpoints" / weights.url.rpartition("/")[2])
    detector = load_detector(SMALL, weights="COCO_V1", device="cpu")
    check(detector, images)


def _offline(*_: object, **__: object) -> None:
    raise OSError("no network")


def test_a_transformers_checkpoint(images: Path, checkpoint: Path) -> None:
    detector = load_detector(str(checkpoint), device="cpu")
    assert detector.labels == ["cat", "potted plant"]
    check(detector, images)


def test_the_papers_thresholds() -> None:
    assert default_threshold(["x"] * 80) == 0.6
    assert default_threshold(["x"] * 500) == default_threshold(["x"] * 545) == 0.4


def test_wrong_names() -> None:
    with pytest.raises(UsageError, match="did you mean 'fcos_resnet50_fpn'.*or give a transformers checkpoint"):
        load_detector("fcos_resnet50", device="cpu")
    with pytest.raises(UsageError, match="neither a file nor one of DEFAULT, COCO_V1, random$"):
        load_detector(SMALL, weights="COCO_V9", device="cpu")
    with pytest.raises(UsageError, match="the device 'gpu' cannot be used"):
        load_detector(SMALL, weights="random", device="gpu")


def test_files_that_are_no_weights(tmp_path: Path, state: Path) -> None:
    path = tmp_path / "weights.pth"
    contents = [b"", b"nonsense", state.read_bytes()[:1000], pickle.dumps(_offline), pickle.dumps([1])]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"weights\.pth: is not a state dict of ssdlite320"):
            load_detector(SMALL, weights=str(path), device="cpu")
    with pytest.raises(DataError, match="is not a state dict of fcos_resnet50_fpn"):
        load_detector("fcos_resnet50_fpn", weights=str(state), device="cpu")
    with pytest.raises(DataError, match="is a directory"):
        load_detector(SMALL, weights=str(tmp_path), device="cpu")


def test_folders_that_are_no_checkpoints(tmp_path: Path, checkpoint: Path) -> None:
    with pytest.raises(DataError, match=r"no object-detection checkpoint.*it needs config\.json"):
        load_detector(str(tmp_path), device="cpu")
    shutil.copytree(checkpoint, tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(DataError, match="no object-detection checkpoint"):
        load_detector(str(tmp_path / "broken"), device="cpu")
    (tmp_path / "broken" / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(DataError, match="no object-detection checkpoint"):
        load_detector(str(tmp_path / "broken"), device="cpu")
    with pytest.raises(UsageError, match="has its own weights; leave the weights out"):
        load_detector(str(checkpoint), weights="DEFAULT", device="cpu")


def test_the_hub_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"https://huggingface\.co/nobody/none into a folder \(config\.json"):
        load_detector("nobody/none", device="cpu")


def test_the_classes_of_open_images_by_name(images: Path, tmp_path: Path) -> None:
    detector = load_detector(f"open-images:{write_owl(tmp_path)}", device="cpu")
    assert (len(detector.labels), default_threshold(detector.labels)) == (543, 0.4)
    assert {"Person", "Sports equipment", "Flashlight"} <= set(detector.labels)
    check(detector, images)


def test_the_checkpoint_of_open_images_is_named_where_it_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DataError, match="google/owlv2-base-patch16-ensemble: no open-vocabulary detector could be"):
        load_detector("open-images", device="cpu")
