"""A detector over many images, in batches.

What it finds is kept in the user's cache folder, by detector and content of the image's file: an interrupted run goes
on where it stopped.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap.data.cache import Cache, digest
from sacrecap.data.objects import check_threshold
from sacrecap.data.source import PathLike, in_cache
from sacrecap.data.writers import write_list
from sacrecap.errors import DataError, DataWarning, UsageError, accepted_name, option, some, warn
from sacrecap.vision.detector import OPEN_IMAGES, Detection, Detector
from sacrecap.vision.image_folder import open_image

if TYPE_CHECKING:
    from sacrecap.data.images import ImageFile

ON_CORRUPT = ("error", "skip")
"""How to treat an image that cannot be read: as an error, or by leaving it out."""
_KEPT_FROM = 0.05
"""Detections are kept from this score on, or from a lower one where that is asked for."""
_EDITION = 1
"""Changes where the same weights find other things."""


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
    cache = KeptDetections(in_cache("objects.sqlite"), scope)
    image_ids = iter(images)
    while chosen := list(islice(image_ids, batch)):
        results: dict[str, list[Detection] | DataError] = {}
        digests: dict[str, bytes] = {}
        files: dict[bytes, tuple[bytes, str]] = {}
        for image in chosen:
            try:
                content = images[image].read()
                digests[image] = digest(content)
                files[digests[image]] = content, images[image].name
            except DataError as error:
                results[image] = error
        known: dict[bytes, list[Detection] | DataError] = {**cache.find(list(files))}
        new, broken = _detected(
            detector, {file_digest: files[file_digest] for file_digest in files if file_digest not in known}, least
        )
        cache.keep(new)
        known |= {**new, **broken}
        results |= {image: known[file_digest] for image, file_digest in digests.items()}
        yield {image: results[image] for image in chosen}


def _detected(
    detector: Detector, files: Mapping[bytes, tuple[bytes, str]], least: float
) -> tuple[dict[bytes, list[Detection]], dict[bytes, DataError]]:
    """Detections in those files that can be read, and the errors of the others."""
    pictures, broken = {}, {}
    for file_digest, (content, name) in files.items():
        try:
            pictures[file_digest] = open_image(io.BytesIO(content), name)
        except DataError as error:
            broken[file_digest] = error
    try:
        every = detector.detect(list(pictures.values())) if pictures else []
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        raise UsageError(f"a batch of {len(pictures)} images does not fit into memory; use a smaller batch") from None
    detections_by_file = {
        file_digest: [detection for detection in detected if detection.score >= least]
        for file_digest, detected in zip(pictures, every, strict=True)
    }
    return detections_by_file, broken


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
