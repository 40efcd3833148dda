"""Captioned images: folders as people have them, read into one form.

    data = CaptionedImages.read("flickr8k")
    train = data.split("train")
    train[0].references, train.open(train[0])

Three forms are recognised: a Karpathy split file beside its images (Flickr8k, Flickr30k, COCO, and `capeval caption
scenes`); Flickr's token file with the lists of its splits; COCO's `captions_*.json`. Images lie in any folder below, or
in tar files. COCO's `instances_*.json` beside the captions say which objects are in the images.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from capeval.data.captions import read_references
from capeval.data.objects import read_objects
from capeval.data.source import PathLike, read_bytes
from capeval.errors import DataError, UsageError, accepted_name, some
from capeval_captioning.data.pixels import ImageFiles

if TYPE_CHECKING:
    from PIL.Image import Image

ON_MISSING = ("error", "skip")
"""How to treat an image without a file: as an error, or by leaving it out."""
_SPLITS = {"restval": "train", "dev": "val", "valid": "val"}
"""Other names of splits; Karpathy's `restval` are COCO's validation images that everybody trains on."""


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
    """Labels of its objects, where the data set has them."""


class CaptionedImages(Sequence[CaptionedImage]):
    """Captioned images in the order of their data set, and the files of their pixels."""

    def __init__(self, images: Iterable[CaptionedImage], files: ImageFiles) -> None:
        self._images = tuple(images)
        self.files = files

    @classmethod
    def read(cls, path: PathLike, *, on_missing: str = "error") -> CaptionedImages:
        """Reads a data set.

        Args:
            path: its folder, or its Karpathy split file.
            on_missing: one of `ON_MISSING`.

        Raises:
            DataError: no data set is recognised there, it is broken, or images have no file.
            UsageError: no such way to treat missing images.
        """
        accepted_name("what to do about missing images", on_missing, ON_MISSING)
        images = _annotated(Path(path))
        files = ImageFiles(Path(path) if os.path.isdir(path) else Path(path).parent, {image.file for image in images})
        missing = [image for image in images if image.file not in files]
        if missing and (on_missing == "error" or len(missing) == len(images)):
            raise DataError(_missing(path, missing, len(images)))
        return cls((image for image in images if image.file in files), files)

    @overload
    def __getitem__(self, number: int) -> CaptionedImage: ...
    @overload
    def __getitem__(self, number: slice) -> CaptionedImages: ...
    def __getitem__(self, number: int | slice) -> CaptionedImage | CaptionedImages:
        chosen = self._images[number]
        return CaptionedImages(chosen, self.files) if isinstance(chosen, tuple) else chosen

    def __len__(self) -> int:
        return len(self._images)

    def __iter__(self) -> Iterator[CaptionedImage]:
        return iter(self._images)

    @property
    def splits(self) -> dict[str, int]:
        """Number of images of each split."""
        names = [image.split for image in self]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def split(self, name: str) -> CaptionedImages:
        """The images of a split.

        Raises:
            UsageError: none is in it; the message says which splits there are.
        """
        chosen = [image for image in self if image.split == name]
        if not chosen:
            there = ", ".join(f"{split} ({count:,} images)" for split, count in self.splits.items())
            raise UsageError(f"no image is in the split {name!r}; the splits of these images are {there}")
        return CaptionedImages(chosen, self.files)

    def first(self, number: int | None) -> CaptionedImages:
        """So many images of each split at most, in their order; all of them for None."""
        if number is None:
            return self
        left = dict.fromkeys(self.splits, number)
        chosen = []
        for image in self:
            left[image.split] -= 1
            if left[image.split] >= 0:
                chosen.append(image)
        return CaptionedImages(chosen, self.files)

    def open(self, image: CaptionedImage) -> Image:
        """The whole image in RGB.

        Raises:
            DataError: its file cannot be read.
            MissingDependencyError: Pillow is not installed.
        """
        return self.files.open(image.file)

    def references(self) -> dict[str, list[str]]:
        """The captions by image id, as `capeval.score` takes them."""
        return {image.id: list(image.references) for image in self}

    @property
    def checksum(self) -> str:
        """The same for the same images, splits and captions in the same order."""
        rows = [[image.id, image.split, *image.references] for image in self]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def _annotated(path: Path) -> list[CaptionedImage]:
    """The description of a data set's images, with or without files."""
    if not path.is_dir():
        return _with_objects(_karpathy(path), path.parent)
    karpathy = sorted(path.glob("dataset*.json"))
    if len(karpathy) > 1:
        raise DataError(f"{path}: holds several split files ({', '.join(p.name for p in karpathy)}); name one of them")
    if karpathy:
        return _with_objects(_karpathy(karpathy[0]), path)
    tokens = sorted(p for p in path.iterdir() if re.search(r"\.token(\.txt)?$", p.name))
    if tokens:
        return _flickr(tokens[0], path)
    coco = sorted([*path.glob("captions_*.json"), *path.glob("annotations/captions_*.json")])
    if coco:
        return _with_objects([image for file in coco for image in _coco(file)], path)
    raise DataError(
        f"{path}: holds no captioned images; a folder has dataset*.json (Karpathy's splits), Flickr's token file with "
        "the lists of its splits, or COCO's annotations/captions_*.json"
    )


def _karpathy(path: Path) -> list[CaptionedImage]:
    """The images of a Karpathy split file; the id is the same that `capeval score` takes."""
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
    captions = read_references(tokens, format="flickr").to_dict()
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
            f"{folder}: there are no lists of splits beside {tokens.name}, such as Flickr_8k.trainImages.txt; "
            "put them there, or Karpathy's dataset_flickr30k.json"
        )
    return images


def _coco(path: Path) -> list[CaptionedImage]:
    """COCO's captions; the split is in the file's name: captions_train2017.json."""
    split = re.sub(r"[0-9]+$", "", path.stem.removeprefix("captions_"))
    captions = read_references(path, format="coco").to_dict()
    rows = _parsed(path).get("images", [])
    try:
        named = [(str(row["id"]), str(row["file_name"])) for row in rows]
    except (KeyError, TypeError):
        raise DataError(f'{path}: each of "images" must have "id" and "file_name"') from None
    return [
        CaptionedImage(number, file, _SPLITS.get(split, split), tuple(captions.get(number, ())))
        for number, file in named
    ]


def _with_objects(images: list[CaptionedImage], folder: Path) -> list[CaptionedImage]:
    """The same with the labels of COCO's instances_*.json, where these lie in the folder, one per object."""
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
    try:
        parsed = json.loads(read_bytes(path))
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: is not JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise DataError(f'{path}: a data set is one object with "images", not a {type(parsed).__name__}')
    return parsed


def _missing(path: PathLike, missing: Sequence[CaptionedImage], images: int) -> str:
    splits = dict.fromkeys(image.split for image in missing)
    counts = ", ".join(f"{sum(image.split == split for image in missing):,} of {split}" for split in splits)
    remedy = (
        "put their folder or tar file there"
        if len(missing) == images
        else "put them there, or leave these images out (--on-missing skip)"
    )
    return (
        f"{os.fspath(path)}: no file for {some([image.file for image in missing])} of {images:,} ({counts}); {remedy}"
    )
