"""The images of a folder: their files, ids and pixels."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sacrecap.data.image_ids import key
from sacrecap.data.images import SUFFIXES
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError, MissingDependencyError, accepted_name

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE_IDS = ("name", "stem", "number")
"""How image ids come from file names: dog_007.jpg is ``dog_007.jpg``, ``dog_007`` or ``7``."""


def find_images(place: PathLike, ids: str = "name") -> dict[str, Path]:
    """Image files by image id, in the order of their names: those of a folder, or one file.

    Args:
        place: the folder, without its subfolders, or an image.
        ids: one of `IMAGE_IDS`.

    Raises:
        DataError: the place does not exist, has no image, or two images with the same id.
        UsageError: no such way to form ids.
    """
    accepted_name("the way to form image ids", ids, IMAGE_IDS)
    folder = Path(place)
    with reading(place):
        names = sorted(os.listdir(folder)) if not folder.is_file() else []
    files = [folder] if folder.is_file() else [folder / name for name in names if name.lower().endswith(SUFFIXES)]
    if not files:
        raise DataError(f"{folder}: holds no image; image files end in {', '.join(SUFFIXES)}")
    images: dict[str, Path] = {}
    for file in files:
        image = _id(file, ids)
        if image in images:
            raise DataError(
                f"{folder}: {images[image].name} and {file.name} both have the image id {image!r}; "
                "rename one, or form the ids from the whole name"
            )
        images[image] = file
    return images


def _id(file: Path, ids: str) -> str:
    image = key(file.name, "text" if ids == "name" else ids)
    if image is None:
        raise DataError(f"{file}: has no number in its name; form the ids from the name or stem")
    return image


def open_image(file: PathLike | IO[bytes], name: str | None = None) -> Image:
    """The whole image in RGB, rotated as its camera noted.

    Pillow warns about unusual files; these warnings are switched off, which is not safe in threads: use `decoded`
    there.

    Args:
        file: a path, or an open file.
        name: its name in messages; the path by default.

    Raises:
        DataError: it is corrupt, not an image, or too large.
        MissingDependencyError: Pillow is not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return decoded(file, name)


def decoded(file: PathLike | IO[bytes], name: str | None = None) -> Image:
    """Like `open_image`, with Pillow's warnings."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise MissingDependencyError("reading images", extra="detect") from None
    shown = str(file) if name is None else name
    try:
        with reading(shown), Image.open(file) as image:
            return ImageOps.exif_transpose(image).convert("RGB")
    except DataError:
        raise
    except (Image.DecompressionBombError, SyntaxError, EOFError, MemoryError, TypeError) as error:
        raise DataError(f"{shown}: cannot be read: {error}") from None
