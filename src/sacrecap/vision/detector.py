"""Detectors, and how to find one by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sacrecap.errors import MissingDependencyError, UsageError
from sacrecap.vision.devices import choose_device

if TYPE_CHECKING:
    from PIL.Image import Image


OPEN_IMAGES = "open-images"
"""The name of the detector with the classes of Open Images; a checkpoint of one's own comes after a colon."""
_OPEN_VOCABULARY = "google/owlv2-base-patch16-ensemble"


class Detection(NamedTuple):
    """A detected thing: its label, its score (0 to 1), and its box (left, top, right, bottom in pixels)."""

    label: str
    score: float
    box: tuple[float, float, float, float]


class Detector(Protocol):
    """Finds labelled things in images. Implement this to use your own detector with `detect_images`."""

    @property
    def name(self) -> str:
        """Identifies the detector, including its weights."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """Every label it can give."""
        ...

    def detect(self, images: Sequence[Image]) -> list[list[Detection]]:
        """Detections of each of these RGB images, in their order."""
        ...


def default_threshold(labels: Sequence[str]) -> float:
    """The least score of a detection in Madhyastha et al. (2019): 0.6 with 80 labels, 0.4 with 500 and more."""
    return 0.4 if len(labels) >= 500 else 0.6


def load_detector(name: str, *, weights: str | None = None, device: str = "auto") -> Detector:
    """A detector of torchvision or transformers.

    Args:
        name: a detection model of torchvision, such as ``fasterrcnn_resnet50_fpn_v2``, or a checkpoint of
            transformers: a folder, or a name on the hub, such as ``facebook/detr-resnet-50``. ``open-images`` is
            OWLv2, told to find the classes of Open Images; ``open-images:NAME`` another such checkpoint.
        weights: for torchvision only: one of its names for weights (``DEFAULT``, ``COCO_V1``), the file of a state
            dict, or ``random``. ``DEFAULT`` when not given.
        device: ``cpu``, ``cuda``, ``cuda:1``, ``mps``; ``auto`` is the GPU when there is one.

    Raises:
        MissingDependencyError: the extra ``detect`` is not installed.
        UsageError: no such model, weights or device.
        DataError: the weights cannot be fetched or read; the message says which file to put where.
    """
    kind, _, vocabulary = name.partition(":")
    of_open_images = kind == OPEN_IMAGES
    checkpoint = of_open_images or os.path.isdir(name) or "/" in name
    if checkpoint and weights is not None:
        raise UsageError(f"{name!r} is a transformers checkpoint, which has its own weights; leave the weights out")
    try:
        if checkpoint:
            from sacrecap.vision.transformers_detector import OpenImagesDetector, TransformersDetector
        else:
            from sacrecap.vision.torchvision_detector import TorchvisionDetector
    except ImportError:
        raise MissingDependencyError("detecting objects", extra="detect") from None
    if of_open_images:
        return OpenImagesDetector(vocabulary or _OPEN_VOCABULARY, choose_device(device))
    if checkpoint:
        return TransformersDetector(name, choose_device(device))
    return TorchvisionDetector(name, weights or "DEFAULT", choose_device(device))
