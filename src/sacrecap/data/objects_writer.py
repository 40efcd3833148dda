"""Writing the objects of images, and merging several such files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sacrecap.data.source import PathLike
from sacrecap.data.writers import write_list
from sacrecap.errors import DataWarning, some, warn


def write_objects(path: PathLike, objects: Mapping[str, Mapping[str, int] | Sequence[str]]) -> None:
    """Write a list of ``{"image_id", "objects"}``, one row per line: labels with counts, or only labels.

    Args:
        path: the file to write; ``-`` is standard output. The file appears when it is complete.
        objects: by image id, counts by label, or labels.

    Raises:
        DataError: the file cannot be written.
    """
    write_list(path, ({"image_id": image, "objects": _plain(of)} for image, of in objects.items()))


def _plain(objects: Mapping[str, int] | Sequence[str]) -> Any:
    return dict(objects) if isinstance(objects, Mapping) else list(objects)


def unite(sources: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, list[str]]:
    """The unique labels of each image in any of the sources: counts of several sources cannot be added.

    Warns:
        DataWarning: an image is missing in a source; it counts as having no objects there.
    """
    given = list(sources)
    images = dict.fromkeys(image for objects in given for image in objects)
    partly = [image for image in images if any(image not in objects for objects in given)]
    if partly:
        warn(f"not in every file, and counted as without objects there: {some(partly)}", DataWarning)
    return {
        image: list(dict.fromkeys(label for objects in given for label in objects.get(image, ()))) for image in images
    }
