"""The objects of images, for the metrics that compare captions with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TypeAlias

from capeval.data.source import PathLike as Path
from capeval.errors import DataError, UsageError, some, warn
from capeval.resources.needs import Needs

Labels: TypeAlias = "Mapping[str, float] | Iterable[str]"
ObjectSource: TypeAlias = "Mapping[str, Labels] | Mapping[int, Labels] | Path"

LACKS_OBJECTS = "needs the objects of each image: give --objects FILE (objects=… in Python)"
"""After a metric's name, where a call gives none."""


def objects_of_images(needs: Needs, image_ids: Sequence[str]) -> list[dict[str, float]] | None:
    """The objects of each of the images, in their order; None where the call gives none.

    Warns where some images have none. Raises `DataError` where all lack them or an image's are unusable, `UsageError`
    for a threshold without a file.
    """
    source: ObjectSource | None = needs.get("objects")
    if source is None:
        if "threshold" in needs:
            raise UsageError("--threshold is for the detections of --objects FILE, which was not given")
        return None
    named = needs.once("objects", lambda: objects_by_image(source, needs.get("threshold")))
    images = list(dict.fromkeys(image_ids))
    absent = [image for image in images if image not in named]
    if absent and len(absent) == len(images):
        name = str(source) if isinstance(source, (str, PathLike)) else "the objects"
        raise DataError(
            f"{name}: it has objects of {some(list(named))}, of none of the {some(images)} that are scored; "
            "are these files of the same data set?"
        )
    if absent:
        warn(f"no objects for {some(absent)}: nothing in the caption is in such an image")
    return [named.get(image, {}) for image in image_ids]


def objects_by_image(source: ObjectSource, threshold: float | None) -> dict[str, dict[str, float]]:
    """Labels with counts, by image id: of a file, or checked. Raises `DataError` where they are unusable."""
    if isinstance(source, (str, PathLike)):
        from capeval.data import read_objects

        return {image: dict(labels) for image, labels in read_objects(source, threshold=threshold).items()}
    if threshold is not None:
        raise UsageError("a threshold is for a file of detections with scores; the objects given here are a mapping")
    return {str(image): counted(labels, f"image {str(image)!r}") for image, labels in source.items()}


def counted(labels: Labels, where: str) -> dict[str, float]:
    """Labels with counts. Raises `DataError` for a label that is no text, or a count that is no positive number."""
    if isinstance(labels, str):
        raise DataError(f"{where}: the objects are one text, {labels!r}; give a list of labels, or labels with counts")
    counts: dict[str, float] = {}
    pairs = labels.items() if isinstance(labels, Mapping) else ((label, 1) for label in labels)
    for label, count in pairs:
        if not isinstance(label, str) or not label.strip():
            raise DataError(f"{where}: the label {label!r} is not a text; labels are words, such as 'dog'")
        number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if not number or not math.isfinite(count) or count < 0:
            raise DataError(f"{where}: the count of {label!r} is {count!r}; it must be a number of at least 0")
        if count > 0:
            counts[label] = counts.get(label, 0) + count
    return counts
