"""Real models through the real loading code, with random weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
from PIL import Image

from sacrecap.errors import DataError, UsageError
from sacrecap.vision import Detector, load_detector
from tiny_checkpoints import write_owl

pytestmark = pytest.mark.torch


def check(detector: Detector, images: Path) -> None:
    """Detections of two images: their own labels, scores and boxes, whatever else is in the batch."""
    pictures = [Image.open(path).convert("RGB") for path in sorted(images.glob("*.png"))[:2]]
    found = detector.detect(pictures)
    assert len(found) == 2
    for picture, detections in zip(pictures, found, strict=True):
        assert detections
        for label, score, box in detections:
            assert label in detector.labels
            assert 0 <= score <= 1
            assert len(box) == 4
            assert max(box) < 2 * max(picture.size)
    (alone,) = detector.detect(pictures[:1])
    assert len(alone) == len(found[0])
    assert [one.score for one in alone] == pytest.approx([one.score for one in found[0]], abs=1e-4)


def test_a_transformers_checkpoint(images: Path, checkpoint: Path) -> None:
    detector = load_detector(str(checkpoint), device="cpu")
    assert (detector.labels, detector.threshold) == (["cat", "potted plant"], 0.6)
    check(detector, images)


def test_wrong_names(checkpoint: Path) -> None:
    with pytest.raises(UsageError, match=r"its folder, or owner/name\), got 'nanodet' \(did you mean 'nanodet-g'\?\)"):
        load_detector("nanodet")
    with pytest.raises(UsageError, match="the device 'gpu' cannot be used"):
        load_detector(str(checkpoint), device="gpu")


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


def test_the_hub_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"https://huggingface\.co/nobody/none into a folder \(config\.json"):
        load_detector("nobody/none", device="cpu")


def test_the_classes_of_open_images_by_name(images: Path, tmp_path: Path) -> None:
    detector = load_detector(f"open-images:{write_owl(tmp_path)}", device="cpu")
    assert (len(detector.labels), detector.threshold) == (543, 0.4)
    assert {"Person", "Sports equipment", "Flashlight"} <= set(detector.labels)
    check(detector, images)


def test_the_checkpoint_of_open_images_is_named_where_it_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DataError, match="google/owlv2-base-patch16-ensemble: no open-vocabulary detector could be"):
        load_detector("open-images", device="cpu")
