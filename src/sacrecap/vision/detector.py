"""Detectors, how to find one by name, and one over many images, in batches.

What it finds is kept in the user's cache folder, by detector and content of the image's file: an interrupted run goes
on where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from sacrecap.data.cache import Cache
from sacrecap.data.objects import check_threshold
from sacrecap.data.source import PathLike, in_cache
from sacrecap.data.writers import write_list
from sacrecap.errors import (
    DataError,
    DataWarning,
    UsageError,
    accepted_name,
    did_you_mean,
    of_extra,
    option,
    some,
    warn,
)
from sacrecap.vision.image_folder import results_by_content

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap.data.images import ImageFile

NANODET = "nanodet-g"
"""The name of the detector that sacrecap brings."""
OPEN_IMAGES = "open-images"
"""The name of the detector with the classes of Open Images; a checkpoint of one's own comes after a colon."""
ON_CORRUPT = ("error", "skip")
"""How to treat an image that cannot be read: as an error, or by leaving it out."""
_KEPT_FROM = 0.05
"""Detections are kept from this score on, or from a lower one where that is asked for."""
_EDITION = 1
"""Changes where the same weights find other things."""


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

    @property
    def labels(self) -> Sequence[str]:
        """Every label it can give."""

    @property
    def threshold(self) -> float:
        """The least score at which its detections are worth keeping, 0 to 1."""

    def detect(self, images: Sequence[Image]) -> list[list[Detection]]:
        """Detections of each of these RGB images, in their order."""


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
        return OpenImagesDetector(vocabulary or "google/owlv2-base-patch16-ensemble", chosen)
    return TransformersDetector(name, chosen)


class KeptDetections(Cache[bytes, list[Detection]]):
    """Detections by the digest of an image's file, within a scope: the detector."""

    what: ClassVar[str] = "detected objects"
    again: ClassVar[str] = "what is found now will be looked for again next time"
    table: ClassVar[str] = "detections"
    columns: ClassVar[tuple[str, str, str]] = ("scope TEXT", "digest BLOB", "found TEXT")

    def stored(self, value: list[Detection]) -> str:
        return json.dumps(value)

    def loaded(self, stored: Any) -> list[Detection]:
        return [Detection(label, score, tuple(box)) for label, score, box in json.loads(stored)]


def detections(
    detector: Detector, images: Mapping[str, ImageFile], *, lowest: float = _KEPT_FROM, batch: int = 32
) -> Iterator[dict[str, list[Detection] | DataError]]:
    """What a detector finds in images, batch by batch: all detections with at least the score `lowest`, and some below.

    An image that cannot be read has its error. Raises `UsageError` where a batch does not fit into memory.
    """
    least = min(lowest, _KEPT_FROM)
    scope = f"{detector.name} {_EDITION}" if least == _KEPT_FROM else f"{detector.name} {_EDITION} {least}"
    folder = detector.name.removeprefix(f"{OPEN_IMAGES}:")
    if os.path.isdir(folder):  # which may get other weights
        versions = sorted((entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in os.scandir(folder))
        scope += f" {os.path.abspath(folder)} {versions}"

    def detected(pictures: list[Image]) -> list[list[Detection]]:
        try:
            every = detector.detect(pictures) if pictures else []
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            size = len(pictures)
            raise UsageError(f"a batch of {size} images does not fit into memory; use a smaller batch") from None
        return [[detection for detection in of_image if detection.score >= least] for of_image in every]

    cache = KeptDetections(in_cache("objects.sqlite"), scope)
    for results in results_by_content(images, cache, detected, at_once=batch):
        yield {image: result for image, (result, _) in results.items()}


def detect_images(
    detector: Detector,
    images: Mapping[str, ImageFile],
    output: PathLike,
    *,
    threshold: float | None = None,
    batch: int = 8,
    on_corrupt: str = "error",
    progress: Callable[[int], object] | None = None,
) -> int:
    """Write what the detector finds in each image, as a list of ``{"image_id", "detections"}``.

    What is found is kept in the user's cache folder as it comes, so that a run that stops early goes on there.
    ``OUTPUT`` appears when it is complete.

    Args:
        detector: any `Detector`.
        images: images by image id: see `find_images`.
        output: the file to write; ``-`` is standard output.
        threshold: the lowest score to keep; the detector's own by default.
        batch: number of images at a time.
        on_corrupt: one of `ON_CORRUPT`.
        progress: called with the number of images done after each batch.

    Returns:
        The number of images written; corrupt ones are named in a `DataWarning` and left out.

    Raises:
        DataError: a corrupt image, unless they are skipped; the output cannot be written.
        UsageError: the batch does not fit into the GPU.
    """
    accepted_name("what a corrupt image means", on_corrupt, ON_CORRUPT)
    lowest = detector.threshold if threshold is None else threshold
    check_threshold(lowest)
    rows: list[dict[str, Any]] = []
    corrupt: list[str] = []
    for results in detections(detector, images, lowest=lowest, batch=batch):
        for image, detected in results.items():
            if not isinstance(detected, DataError):
                written = [
                    {"label": label, "score": round(score, 6), "box": [round(side, 2) for side in box]}
                    for label, score, box in detected
                    if score >= lowest
                ]
                rows.append({"image_id": image, "detections": written})
            elif on_corrupt == "error":
                raise DataError(f"{detected}; repair or remove it, or give {option('on_corrupt', 'skip')}") from None
            else:
                corrupt.append(image)
        if progress is not None:
            progress(len(rows) + len(corrupt))
    if corrupt:
        warn(f"left out, because they cannot be read: {some(corrupt)}", DataWarning)
    write_list(output, rows)
    return len(rows)
