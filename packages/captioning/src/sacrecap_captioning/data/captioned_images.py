"""Captioned images: the usual folders, read into one form.

    data = CaptionedImages.read("flickr8k")
    train = data.split("train")
    train[0].references, train.open(train[0])

The forms are those of `sacrecap.data.captioned`. Files of images lie in any folder below, or in tar files. Images
without captions are found wherever `CaptionedImages.found` looks.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from sacrecap.data.captioned import CaptionedImage, of_split, read_captioned
from sacrecap.data.source import PathLike
from sacrecap.errors import DataError, accepted_name, some
from sacrecap_captioning.data.pictures import NamedImages, files_below, places_of

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap_captioning.data.feature_file import FeatureFile
    from sacrecap_captioning.settings import Settings


class CaptionedImages(Sequence[CaptionedImage]):
    """Captioned images in the order of their data set, and the files of their pixels."""

    def __init__(self, images: Iterable[CaptionedImage], files: NamedImages | None) -> None:
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
            on_missing: how to treat an image without a file: `error`, or `skip`.
            features: features that replace the image files, which are then not needed.
            listed: the result of `read_captioned` for the path, if it was called before.

        Raises:
            DataError: no data set is recognised there, it is broken, or images have no file, or no features.
            UsageError: no such way to treat missing images.
        """
        accepted_name("what to do about missing images", on_missing, ("error", "skip"))
        images = read_captioned(path) if listed is None else listed
        if features is not None:
            there, files = {image.id for image in images if image.id in features}, None
        else:
            folder = Path(path) if os.path.isdir(path) else Path(path).parent
            files = files_below(folder, {image.file for image in images})
            there = {image.id for image in images if image.file in files}
        missing = [image for image in images if image.id not in there]
        if missing and (on_missing == "error" or len(missing) == len(images)):
            raise DataError(_missing(path, missing, len(images), features))
        return cls((image for image in images if image.id in there), files)

    @classmethod
    def found(cls, what: PathLike, split: str = "test") -> CaptionedImages:
        """The images of a folder and its subfolders, of names with `*`, of tar files, or of a Parquet file.

        The id of an image is the name of its file without suffix, or what a Parquet file's column of ids says. Where
        two have the same name, the ids are the names with their folders.

        Raises:
            DataError: there is no image, a file is broken, or two images have one id.
            MissingDependencyError: a Parquet file needs pyarrow.
        """
        places = places_of(os.fspath(what))
        if not places:
            raise DataError(
                f"{os.fspath(what)}: no images are there; images are a folder, names such as 'photos/*.jpg', tar files "
                "of webdataset, or Parquet files"
            )
        stems = Counter(place.stem for place in places)
        ids = [place.stem if stems[place.stem] == 1 else os.path.splitext(place.name)[0] for place in places]
        twice = [image for image, count in Counter(ids).items() if count > 1]
        if twice:
            raise DataError(f"{os.fspath(what)}: several images are called {some(twice)}; give them names of their own")
        return cls(
            (CaptionedImage(image, image, split, ()) for image in ids), NamedImages(dict(zip(ids, places, strict=True)))
        )

    @overload
    def __getitem__(self, number: int) -> CaptionedImage: ...
    @overload
    def __getitem__(self, number: slice) -> CaptionedImages: ...
    def __getitem__(self, number: int | slice) -> CaptionedImage | CaptionedImages:
        chosen = self._images[number]
        return CaptionedImages(chosen, self.files) if isinstance(chosen, tuple) else chosen

    def __len__(self) -> int:
        return len(self._images)

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
        chosen: dict[str, list[CaptionedImage]] = {}
        for image in self:
            chosen.setdefault(image.split, []).append(image)
        kept = {image.id for images in chosen.values() for image in images[:number]}
        return CaptionedImages((image for image in self if image.id in kept), self.files)

    def open(self, image: CaptionedImage) -> Image:
        """The whole image in RGB.

        Raises:
            DataError: its file cannot be read, or only its features are known.
            MissingDependencyError: Pillow is not installed.
        """
        if self.files is None:
            raise DataError("the features of these images were given, and their files not looked for")
        return self.files.open(image.file)

    def stamp(self, image: CaptionedImage) -> str:
        """Changes when the image's file does; empty where only its features are known."""
        return "" if self.files is None else self.files.stamp(image.file)

    def references(self) -> dict[str, list[str]]:
        """The captions by image id, as `sacrecap.score` takes them."""
        return {image.id: list(image.references) for image in self}

    @property
    def checksum(self) -> str:
        """The same for the same images, splits and captions in the same order."""
        rows = [[image.id, image.split, *image.references] for image in self]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def read_images(settings: Settings) -> CaptionedImages:
    """The images that a run uses, of all splits."""
    features = given_features(settings)
    images = CaptionedImages.read(settings.data, on_missing=settings.on_missing, features=features)
    return images.first(settings.images)


def given_features(settings: Settings) -> FeatureFile | None:
    """The file of features of a run, where it has one instead of an encoder."""
    from sacrecap_captioning.data.feature_file import FeatureFile

    return None if settings.features is None else FeatureFile(settings.features)


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
