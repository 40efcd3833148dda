"""Detection models of torchvision, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torchvision import models
from torchvision.transforms import functional

from sacrecap.errors import UsageError, accepted_name
from sacrecap.vision.detector import Detection
from sacrecap.vision.torchvision_weights import check_weights, load_weights, published

if TYPE_CHECKING:
    from PIL.Image import Image

_NO_LABEL = ("__background__", "N/A")


class TorchvisionDetector:
    """A model of `torchvision.models.detection`, trained on COCO's 80 labels."""

    def __init__(self, name: str, weights: str, device: torch.device) -> None:
        """Builds the model and loads its weights. Arguments and errors: `load_detector`."""
        names = models.list_models(module=models.detection)
        if name not in names:
            try:
                accepted_name("the detector", name, names)
            except UsageError as error:
                raise UsageError(f"{error}; or give a transformers checkpoint: its folder, or owner/name") from None
        self.name = f"{name}({weights})"
        self.device = device
        known = models.get_model_weights(name)
        self._categories: list[str] = known.DEFAULT.meta["categories"]
        self.labels: Sequence[str] = [label for label in self._categories if label not in _NO_LABEL]
        self._model = _model(name, weights, known).to(device).eval()

    def detect(self, images: Sequence[Image]) -> list[list[Detection]]:
        """See `Detector.detect`."""
        batch = [functional.convert_image_dtype(functional.pil_to_tensor(image)).to(self.device) for image in images]
        with torch.inference_mode():
            found = self._model(batch)
        return [self._detections(one) for one in found]

    def _detections(self, found: dict[str, torch.Tensor]) -> list[Detection]:
        rows = zip(found["labels"].tolist(), found["scores"].tolist(), found["boxes"].tolist(), strict=True)
        named = ((self._categories[label], score, box) for label, score, box in rows)
        return [Detection(label, score, tuple(box)) for label, score, box in named if label not in _NO_LABEL]


def _model(name: str, weights: str, known: Any) -> torch.nn.Module:
    """The model with weights from torchvision or a file, or random ones."""
    chosen = check_weights(name, weights)
    if chosen is not None:
        return published(name, chosen, weights_backbone=None)
    model: torch.nn.Module = models.get_model(
        name, weights=None, weights_backbone=None, num_classes=len(known.DEFAULT.meta["categories"])
    )
    if weights != "random":
        load_weights(model, weights, name)
    return model
