"""Captioned images as data sets are released: a Karpathy split file, Flickr's token file, COCO's `captions_*.json`.

    images = of_split(read_captioned("flickr8k"), "test")

The image files themselves are not needed. COCO's `instances_*.json`, in the folder of the captions, lists the objects
in the images.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sacrecap.data.captions import CaptionFile
from sacrecap.data.rows import parsed
from sacrecap.data.source import PathLike, Reading, read_bytes
from sacrecap.errors import DataError, UsageError, naming, some

_SPLITS = {"restval": "train", "dev": "val", "valid": "val"}
"""Other names of splits. Karpathy's `restval` are validation images of COCO that are used for training by
convention."""


@dataclass(frozen=True)
class CaptionedImage:
    """An image with what people say of it."""

    id: str
    """The image id, as in caption sets and references."""
    file: str
    """Name of its file."""
    split: str
    """`train`, `val` or `test`."""
    references: tuple[str, ...]
    objects: tuple[str, ...] = ()
    """Labels of its objects, if the data set has them."""


def read_captioned(path: PathLike) -> list[CaptionedImage]:
    """The images of a data set, in its order.

    Args:
        path: its folder, or its Karpathy split file.

    Raises:
        DataError: no data set is recognised there, or it is broken.
    """
    if not os.path.isdir(path):
        return _with_objects(_karpathy(Path(path)), Path(path).parent)
    images = of_folder(path)
    if images is None:
        raise DataError(
            f"{os.fspath(path)}: holds no captioned images; a folder has dataset*.json (Karpathy's splits), Flickr's "
            "token file with the lists of its splits, or COCO's annotations/captions_*.json"
        )
    return _with_objects(images, Path(path))


def is_captioned(place: PathLike) -> bool:
    """Whether these are images with captions of people, as data sets are released, rather than images alone."""
    return os.fspath(place).endswith(".json") or (os.path.isdir(place) and of_folder(place) is not None)


def of_folder(folder: PathLike) -> list[CaptionedImage] | None:
    """The images of a folder, whose objects are not looked for; None if it has none of the forms.

    Errors are those of `read_captioned`.
    """
    path = Path(folder)
    karpathy, tokens, coco = _forms(path)
    if len(karpathy) > 1:
        raise DataError(f"{path}: holds several split files ({', '.join(p.name for p in karpathy)}); name one of them")
    if tokens and not karpathy:
        return _flickr(tokens[0], path)
    if karpathy:
        return _karpathy(karpathy[0])
    return [image for file in coco for image in _coco(file)] if coco else None


def has_form(folder: PathLike) -> bool:
    """Whether a folder has files of one of the forms, which are not read."""
    return any(_forms(Path(folder)))


def _forms(path: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """Karpathy's split files in a folder, Flickr's token files, and COCO's captions."""
    return (
        sorted(path.glob("dataset*.json")),
        sorted(p for p in path.iterdir() if re.search(r"\.token(\.txt)?$", p.name)),
        sorted([*path.glob("captions_*.json"), *path.glob("annotations/captions_*.json")]),
    )


def of_split(images: Collection[CaptionedImage], name: str) -> list[CaptionedImage]:
    """The images of a split.

    Raises:
        UsageError: none is in it; the message says which splits there are.
    """
    counts = Counter(image.split for image in images)
    if name not in counts:
        there = ", ".join(f"{split} ({count:,} images)" for split, count in counts.items())
        raise UsageError(f"no image is in the split {name!r}; the splits of these images are {there}")
    return [image for image in images if image.split == name]


def _karpathy(path: Path) -> list[CaptionedImage]:
    """The images of a Karpathy split file; the id is the same that `sacrecap score` takes."""
    rows = _parsed(path).get("images")
    if not isinstance(rows, list):
        raise DataError(f'{path}: a Karpathy split file has a list "images"; this file has none')
    images = []
    for number, row in enumerate(rows, 1):
        try:
            file = row["filename"]
            references = tuple(sentence["raw"] for sentence in row["sentences"])
            image_id, split = str(row.get("cocoid", file)), str(row["split"])
            if not all(isinstance(text, str) for text in (file, *references, *row.get("objects", ()))):
                raise TypeError
        except (KeyError, TypeError, AttributeError):
            raise DataError(
                f'{path}: row {number} of "images" must have "filename", "split" and "sentences", '
                'a list of objects with "raw"'
            ) from None
        images.append(
            CaptionedImage(image_id, file, _SPLITS.get(split, split), references, tuple(row.get("objects", ())))
        )
    return images


def _flickr(tokens: Path, folder: Path) -> list[CaptionedImage]:
    """Flickr8k and Flickr30k: captions of the token file, of the images that the lists of the splits name."""
    captions = _captions(tokens, "flickr")
    images, lists = [], sorted(folder.glob("*Images.txt"))
    for file in lists:
        found = re.search(r"(train|dev|val|test)Images\.txt$", file.name)
        split = _SPLITS.get(found[1], found[1]) if found else ""
        names = read_bytes(file).decode(errors="replace").split()
        unknown = [name for name in names if name not in captions]
        if unknown:
            raise DataError(f"{file}: {some(unknown)} have no caption in {tokens.name}")
        images += [CaptionedImage(name, name, split, tuple(captions[name])) for name in names if split]
    if not images:
        raise DataError(
            f"{folder}: there are no lists of splits next to {tokens.name}, such as Flickr_8k.trainImages.txt; "
            "put them there, or Karpathy's dataset_flickr30k.json"
        )
    return images


def _coco(path: Path) -> list[CaptionedImage]:
    """COCO's captions; the split is in the file's name: captions_train2017.json."""
    split = re.sub(r"[0-9]+$", "", path.stem.removeprefix("captions_"))
    captions = _captions(path, "coco")
    rows = _parsed(path).get("images", [])
    try:
        named = [(str(row["id"]), str(row["file_name"])) for row in rows]
    except (KeyError, TypeError):
        raise DataError(f'{path}: each of "images" must have "id" and "file_name"') from None
    return [
        CaptionedImage(number, file, _SPLITS.get(split, split), tuple(captions.get(number, ())))
        for number, file in named
    ]


def _captions(path: Path, format: str) -> dict[str, list[str]]:
    """The captions of each image of a file in this format."""
    return CaptionFile(path, Reading(format)).captions("references").to_dict()


def _with_objects(images: list[CaptionedImage], folder: Path) -> list[CaptionedImage]:
    """The same with the labels of COCO's instances_*.json, one per object, if these files are in the folder."""
    from sacrecap.data.objects import read_objects

    found: dict[str, dict[str, int]] = {}
    for file in sorted([*folder.glob("instances_*.json"), *folder.glob("annotations/instances_*.json")]):
        found |= read_objects(file, format="coco")
    if not found:
        return images
    return [
        image if image.objects else replace(image, objects=tuple(Counter(found.get(image.id, {})).elements()))
        for image in images
    ]


def _parsed(path: Path) -> dict[str, Any]:
    data = read_bytes(path)
    with naming(f"{path}: "):
        document = parsed(data)
    if not isinstance(document, dict):
        raise DataError(f'{path}: a data set is one object with "images", not a {type(document).__name__}')
    return document
