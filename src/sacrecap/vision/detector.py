"""Detectors, and how to find one by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sacrecap.errors import UsageError, did_you_mean, of_extra

if TYPE_CHECKING:
    from PIL.Image import Image

NANODET = "nanodet-g"
"""The name of the detector that sacrecap brings."""
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

    @property
    def threshold(self) -> float:
        """The least score at which its detections are worth keeping, 0 to 1."""
        ...

    def detect(self, images: Sequence[Image]) -> list[list[Detection]]:
        """Detections of each of these RGB images, in their order."""
        ...


def load_detector(name: str = NANODET, *, device: str = "auto", threads: int = 0) -> Detector:
    """A detector by its name.

    Args:
        name: `nanodet-g`, which sacrecap brings and runs on the processor; or a checkpoint of transformers: a folder,
            or a name on the hub, such as `facebook/detr-resnet-50`. `open-images` is OWLv2, told to find the classes of
            Open Images; `open-images:NAME` another such checkpoint.
        device: of a checkpoint: `cpu`, `cuda`, `cuda:1`, `mps`; `auto` is the GPU when there is one.
        threads: of `nanodet-g`: the number of images at the same time; 0 means one per core.

    Raises:
        MissingDependencyError: the extra `detect` is not installed, or `learned` for a checkpoint.
        UsageError: no such detector or device.
        DataError: the checkpoint cannot be fetched or read; the message says which files to put where.
    """
    if name == NANODET:
        from sacrecap.vision.nanodet import NanoDet

        return NanoDet(threads)
    kind, _, vocabulary = name.partition(":")
    if kind != OPEN_IMAGES and not os.path.isdir(name) and "/" not in name:
        raise UsageError(
            f"the detector must be {NANODET}, {OPEN_IMAGES}, or a transformers checkpoint (its folder, or owner/name), "
            f"got {name!r}{did_you_mean(name, (NANODET, OPEN_IMAGES))}"
        )
    with of_extra("learned", "a detector of transformers"):
        from sacrecap.vision.devices import choose_device
        from sacrecap.vision.transformers_detector import OpenImagesDetector, TransformersDetector

        chosen = choose_device(device)
    if kind == OPEN_IMAGES:
        return OpenImagesDetector(vocabulary or _OPEN_VOCABULARY, chosen)
    return TransformersDetector(name, chosen)
