"""Object-detection checkpoints of transformers, from a folder or the hub."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import transformers
from safetensors import SafetensorError
from transformers import AutoImageProcessor, AutoModelForObjectDetection

from capeval.errors import DataError
from capeval.vision.detector import Detection

if TYPE_CHECKING:
    from PIL.Image import Image


class TransformersDetector:
    """A checkpoint that `AutoModelForObjectDetection` can load, with its image processor."""

    def __init__(self, name: str, device: torch.device) -> None:
        """Loads the checkpoint; what the hub was asked for before is taken from the cache, without asking again."""
        self.name = name
        self.device = device
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call, unused-ignore]
        self._processor: Any = _load(AutoImageProcessor, name)
        self._model: Any = _load(AutoModelForObjectDetection, name).to(device).eval()
        self._names: dict[int, str] = self._model.config.id2label
        self.labels: Sequence[str] = [label for label in self._names.values() if label != "N/A"]

    def detect(self, images: Sequence[Image]) -> list[list[Detection]]:
        """See `Detector.detect`."""
        inputs = self._processor(images=list(images), return_tensors="pt").to(self.device)
        with torch.inference_mode():
            outputs = self._model(**inputs)
        sizes = [(image.height, image.width) for image in images]
        found = self._processor.post_process_object_detection(outputs, threshold=0.0, target_sizes=sizes)
        return [self._detections(one) for one in found]

    def _detections(self, found: dict[str, torch.Tensor]) -> list[Detection]:
        rows = zip(found["labels"].tolist(), found["scores"].tolist(), found["boxes"].tolist(), strict=True)
        named = ((self._names[label], score, box) for label, score, box in rows)
        return [Detection(label, score, tuple(box)) for label, score, box in named if label != "N/A"]


def _load(factory: Any, name: str) -> Any:
    """Part of the checkpoint: from the folder or the cache, else from the hub. Code in it is never run."""
    if os.path.isdir(name):
        return _attempt(factory, name, local=True)
    try:
        return _attempt(factory, name, local=True)
    except DataError:
        return _attempt(factory, name, local=False)


def _attempt(factory: Any, name: str, *, local: bool) -> Any:
    try:
        return factory.from_pretrained(name, local_files_only=local)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:300]
        if os.path.isdir(name):
            remedy = "it needs config.json, preprocessor_config.json and the weights, as save_pretrained writes them"
        else:
            remedy = (
                f"download the files of https://huggingface.co/{name} into a folder (config.json, "
                "preprocessor_config.json, model.safetensors) and give the folder"
            )
        raise DataError(f"{name}: no object-detection checkpoint could be loaded ({reason}); {remedy}") from None
