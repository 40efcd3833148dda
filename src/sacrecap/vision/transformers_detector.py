"""Object-detection checkpoints of transformers, from a folder or the hub: with labels of their own, or with ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import torch
import transformers

from sacrecap.vision.checkpoint_parts import load_part
from sacrecap.vision.detector import OPEN_IMAGES, Detection

if TYPE_CHECKING:
    from PIL.Image import Image


class TransformersDetector:
    """A checkpoint that `AutoModelForObjectDetection` can load, with its image processor."""

    threshold = 0.6
    """That of Madhyastha et al. (2019) for a detector of COCO's 80 labels."""

    def __init__(self, name: str, device: torch.device) -> None:
        self.name, self.device = name, device
        parts = "config.json, preprocessor_config.json and model.safetensors"
        load = partial(load_part, name=name, what="object-detection checkpoint", files=parts)
        self._processor: Any = load(transformers.AutoImageProcessor)
        self._model: Any = load(transformers.AutoModelForObjectDetection).to(device).eval()
        self._names: dict[int, str] = self._model.config.id2label
        self.labels: Sequence[str] = [label for label in self._names.values() if label != "N/A"]

    def detect(self, images: Sequence[Image]) -> list[list[Detection]]:
        """See `Detector.detect`."""
        inputs = self._processor(images=list(images), return_tensors="pt").to(self.device)
        with torch.inference_mode():
            outputs = self._model(**inputs)
        sizes = [(image.height, image.width) for image in images]
        of_images = self._processor.post_process_object_detection(outputs, threshold=0.0, target_sizes=sizes)
        return [_detections(output, self._names) for output in of_images]


class OpenImagesDetector:
    """A checkpoint that finds what it is told to, such as OWLv2, told to find the classes of Open Images."""

    threshold = 0.4
    """That of the same paper for a detector of 545 labels."""

    def __init__(self, checkpoint: str, device: torch.device) -> None:
        self.name, self.device = f"{OPEN_IMAGES}:{checkpoint}", device
        parts = "config.json, preprocessor_config.json, model.safetensors and the tokenizer's files"
        load = partial(load_part, name=checkpoint, what="open-vocabulary detector", files=parts)
        self._processor: Any = load(transformers.AutoProcessor)
        self._model: Any = load(transformers.AutoModelForZeroShotObjectDetection).to(device).eval()
        self.labels: Sequence[str] = files(__package__).joinpath("open-images.txt").read_text("utf-8").splitlines()

    def detect(self, images: Sequence[Image]) -> list[list[Detection]]:
        """One image after the other: each is asked for every label, which is a batch of its own."""
        questions = [f"a photo of a {label.lower()}" for label in self.labels]
        detections = []
        for image in images:
            inputs = self._processor(text=[questions], images=image, return_tensors="pt", truncation=True)
            with torch.inference_mode():
                outputs = self._model(**inputs.to(self.device))
            [output] = self._processor.post_process_grounded_object_detection(
                outputs, threshold=0.0, target_sizes=[(image.height, image.width)]
            )
            detections.append(_detections(output, dict(enumerate(self.labels))))
        return detections


def _detections(output: dict[str, torch.Tensor], names: Mapping[int, str]) -> list[Detection]:
    rows = zip(output["labels"].tolist(), output["scores"].tolist(), output["boxes"].tolist(), strict=True)
    named = ((names[label], score, box) for label, score, box in rows)
    return [Detection(label, score, tuple(box)) for label, score, box in named if label != "N/A"]
