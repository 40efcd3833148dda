"""Detection models of torchvision, by name."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torchvision import models
from torchvision.transforms import functional

from capeval.data.source import reading
from capeval.errors import DataError, UsageError, accepted_name
from capeval.vision.detector import Detection

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
    """The model with weights of torchvision, of a file, or random ones."""
    if weights in known.__members__ or weights == "DEFAULT":
        return _published(name, known[weights] if weights != "DEFAULT" else known.DEFAULT)
    if weights != "random" and not os.path.exists(weights):
        accepted = ", ".join(dict.fromkeys(["DEFAULT", *known.__members__, "random"]))
        raise UsageError(f"the weights {weights!r} of {name} are neither a file nor one of {accepted}")
    model: torch.nn.Module = models.get_model(
        name, weights=None, weights_backbone=None, num_classes=len(known.DEFAULT.meta["categories"])
    )
    if weights != "random":
        _load(model, weights, name)
    return model


def _published(name: str, weights: Any) -> torch.nn.Module:
    """The model with weights that torchvision keeps in its cache, or fetches."""
    try:
        model: torch.nn.Module = models.get_model(
            name, weights=weights, weights_backbone=None, progress=sys.stderr.isatty()
        )
    except (OSError, RuntimeError) as error:
        folder = os.path.join(torch.hub.get_dir(), "checkpoints")
        raise DataError(
            f"the weights {weights.name} of {name} cannot be fetched ({error}); "
            f"download {weights.url} and put it into {folder}"
        ) from None
    return model


def _load(model: torch.nn.Module, path: str, name: str) -> None:
    """Loads a state dict without executing what the file may hold."""
    try:
        with reading(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state = torch.load(path, map_location="cpu", weights_only=True)
        model.load_state_dict(state)
    except DataError:
        raise
    except (RuntimeError, pickle.UnpicklingError, EOFError, TypeError, AttributeError, KeyError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(
            f"{path}: is no state dict of {name} ({reason}); save it with torch.save(model.state_dict())"
        ) from None
