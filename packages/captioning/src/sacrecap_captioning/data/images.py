"""Captioned images: the usual folders, read into one form.

    data = CaptionedImages.read("flickr8k")
    train = data.split("train")
    train[0].references, train.open(train[0])

The forms are those of `sacrecap.data.captioned`. Files of images lie in any folder below, or in tar files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from sacrecap.data.captioned import CaptionedImage, of_split, read_captioned
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, accepted_name, some
from sacrecap_captioning.data.feature_file import FeatureFile
from sacrecap_captioning.data.pixels import ImageFiles

if TYPE_CHECKING:
    from PIL.Image import Image

ON_MISSING = ("error", "skip")
"""How to treat an image without a file: as an error, or by leaving it out."""


class CaptionedImages(Sequence[CaptionedImage]):
    """Captioned images in the order of their data set, and the files of their pixels."""

    def __init__(self, images: Iterable[CaptionedImage], files: ImageFiles | None) -> None:
        """Without `files` the images cannot be opened."""
        self._images = tuple(images)
        self.files = files

    @classmethod
    def read(
        cls,
        path: PathLike,
        *,
        on_missing: str = "error",
        features: FeatureFile | None = None,
        listed: Sequence[CaptionedImage] | None = None,
    ) -> CaptionedImages:
        """Reads a data set.

        Args:
            path: its folder, or its Karpathy split file.
            on_missing: one of `ON_MISSING`.
            features: features that replace the image files, which are then not needed.
            listed: the result of `read_captioned` for the path, if it was called before.

        Raises:
            DataError: no data set is recognised there, it is broken, or images have no file, or no features.
            UsageError: no such way to treat missing images.
        """
        accepted_name("what to do about missing images", on_missing, ON_MISSING)
        images = read_captioned(path) if listed is None else listed
        if features is not None:
            there, files = {image.id for image in images if image.id in features}, None
        else:
            folder = Path(path) if os.path.isdir(path) else Path(path).parent
            files = ImageFiles(folder, {image.file for image in images})
            there = {image.id for image in images if image.file in files}
        missing = [image for image in images if image.id not in there]
        if missing and (on_missing == "error" or len(missing) == len(images)):
            raise DataError(_missing(path, missing, len(images), features))
        return cls((image for image in images if image.id in there), files)

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
        return CaptionedImages(of_split(self, name), self.files)

    def first(self, number: int | None) -> CaptionedImages:
        """At most this many images of each split, in their order; all of them for None."""
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
            DataError: its file cannot be read, or only its features are known.
            MissingDependencyError: Pillow is not installed.
        """
        return self._files.open(image.file)

    def stamp(self, image: CaptionedImage) -> str:
        """Changes when the image's file does."""
        return self._files.stamp(image.file)

    @property
    def _files(self) -> ImageFiles:
        if self.files is None:
            raise DataError("the features of these images were given, and their files not looked for")
        return self.files

    def references(self) -> dict[str, list[str]]:
        """The captions by image id, as `sacrecap.score` takes them."""
        return {image.id: list(image.references) for image in self}

    @property
    def checksum(self) -> str:
        """The same for the same images, splits and captions in the same order."""
        rows = [[image.id, image.split, *image.references] for image in self]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def _missing(path: PathLike, missing: Sequence[CaptionedImage], images: int, features: FeatureFile | None) -> str:
    """The message about images without a file, or without features."""
    splits = dict.fromkeys(image.split for image in missing)
    counts = ", ".join(f"{sum(image.split == split for image in missing):,} of {split}" for split in splits)
    if features is not None:
        return (
            f"{features.path}: no features of {some([image.id for image in missing])} of {images:,} in "
            f"{os.fspath(path)} ({counts}); features there are of {some(features.ids)}; compute those that are "
            "missing, or leave these images out (--on-missing skip)"
        )
    remedy = (
        "put their folder or tar file there"
        if len(missing) == images
        else "put them there, or leave these images out (--on-missing skip)"
    )
    return (
        f"{os.fspath(path)}: no file for {some([image.file for image in missing])} of {images:,} ({counts}); {remedy}"
    )
