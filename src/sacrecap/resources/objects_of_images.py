"""The objects of images, for the metrics that compare captions with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

from sacrecap._core import image_ids
from sacrecap.data.source import PathLike as Path
from sacrecap.errors import DataError, UsageError, option, some, warn
from sacrecap.resources.needs import Needs

Labels: TypeAlias = "Mapping[str, int] | Iterable[str]"
ObjectSource: TypeAlias = "Mapping[Any, Labels] | Iterable[Mapping[str, Any]] | Path"


def lacks_objects() -> str:
    """Ending of the message, after the metric's name, if a call gives no objects."""
    found = f"the images, in which they are found ({option('images', 'DIR')}, extra detect)"
    return f"needs the objects of each image: give {option('objects', 'FILE')}, or {found}"


def objects_for_threshold() -> UsageError:
    """The error of a call with a threshold, but without detections."""
    detections = option("objects", "FILE")
    return UsageError(f"{option('threshold')} is for the detections of {detections}, which was not given")


def objects_of_images(needs: Needs, image_ids: Sequence[str]) -> list[dict[str, int]] | None:
    """The objects of each of the images, in their order; None if the call gives none.

    Warns if some images have none. Raises `DataError` if all lack them or an image's are unusable, `UsageError`
    for a threshold without a file.
    """
    named = known_objects(needs)
    if named is None:
        return None
    source: ObjectSource = needs.get("objects")
    images = list(dict.fromkeys(image_ids))
    absent = [image for image in images if image not in named]
    if absent and len(absent) == len(images):
        name = str(source) if isinstance(source, (str, PathLike)) else "the objects"
        raise DataError(
            f"{name}: it has objects of {some(list(named))}, but not of any of the {some(images)} that are scored; "
            "are these files of the same data set?"
        )
    if absent:
        warn(f"no objects for {some(absent)}: they count as images without any")
    return [named.get(image, {}) for image in image_ids]


def known_objects(needs: Needs) -> dict[str, dict[str, int]] | None:
    """All objects that a call gives, by image id; None if it gives none. Raises as `objects_of_images`."""
    source: ObjectSource | None = needs.get("objects")
    if source is None:
        if "threshold" in needs and "images" not in needs:
            raise objects_for_threshold()
        return None
    return needs.once("objects", lambda: objects_by_image(source, needs.get("threshold")))


def objects_by_image(source: ObjectSource, threshold: float | None) -> dict[str, dict[str, int]]:
    """Labels with counts, by image id: read from a file, or checked. Raises `DataError` if they are unusable."""
    from sacrecap.data.objects import count_labels, read_objects

    if isinstance(source, (str, PathLike)):
        return read_objects(source, threshold=threshold)
    if threshold is not None:
        raise UsageError("a threshold is for a file of detections with scores; the objects given here are a mapping")
    rows: Iterable[tuple[object, Labels]] = source.items() if isinstance(source, Mapping) else _rows(source)
    ids, every = zip(*rows, strict=True) if (rows := list(rows)) else ((), ())
    return {image: count_labels(labels, f"image {image}") for image, labels in zip(image_ids(ids), every, strict=True)}


def _rows(source: object) -> Iterator[tuple[object, Labels]]:
    if not isinstance(source, Iterable):
        raise DataError(
            f"the objects are of type {type(source).__name__}; accepted are {{image id: {{label: count}}}}, {{image "
            "id: [label, …]}, rows like {'image_id': …, 'objects': …}, and the path of a file"
        )
    for number, row in enumerate(source):
        if not isinstance(row, Mapping) or not {"image_id", "objects"} <= row.keys():
            raise DataError(f"the objects: item {number} has no 'image_id' and 'objects'; each row needs both")
        yield row["image_id"], row["objects"]
