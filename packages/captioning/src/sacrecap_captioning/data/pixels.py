"""Files of images: in folders at any depth, or in tar files, found by name."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sacrecap.data.source import reading
from sacrecap.errors import DataError
from sacrecap.vision.image_folder import open_image

if TYPE_CHECKING:
    from PIL.Image import Image


class _Place(NamedTuple):
    """The place of an image's bytes: a whole file, or a part of a tar file."""

    path: str
    offset: int
    size: int
    modified: int
    """Nanoseconds, of the file or of the tar file."""


class ImageFiles:
    """The files below a folder that have wanted names. Safe to use in several threads and forked workers."""

    def __init__(self, folder: Path, wanted: Collection[str]) -> None:
        """Looks for files of these names.

        Raises:
            DataError: a tar file is broken, or two files have the same wanted name.
        """
        self._places: dict[str, _Place] = {}
        for parent, _, names in os.walk(folder):
            for name in names:
                if name in wanted:
                    path = os.path.join(parent, name)
                    info = os.stat(path)
                    self._add(name, _Place(path, 0, info.st_size, info.st_mtime_ns))
                elif name.endswith(".tar"):
                    self._add_tar(os.path.join(parent, name), wanted)

    def _add(self, name: str, place: _Place) -> None:
        other = self._places.setdefault(name, place)
        if other != place:
            raise DataError(f"two files are called {name}: {other.path} and {place.path}; remove one")

    def _add_tar(self, path: str, wanted: Collection[str]) -> None:
        try:
            with reading(path), tarfile.open(path) as tar:
                modified = os.stat(path).st_mtime_ns
                for member in tar:
                    name = os.path.basename(member.name)
                    if name in wanted:
                        self._add(name, _Place(path, member.offset_data, member.size, modified))
        except tarfile.TarError as error:
            raise DataError(f"{path}: broken tar file ({error}); copy or download it again") from None

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def open(self, name: str) -> Image:
        """The image in RGB.

        Raises:
            DataError: it cannot be read.
            MissingDependencyError: Pillow is not installed.
        """
        place = self._places[name]
        if not place.path.endswith(".tar"):
            return open_image(place.path)
        with reading(place.path), open(place.path, "rb") as file:
            file.seek(place.offset)
            data = file.read(place.size)
        return open_image(io.BytesIO(data), name=f"{place.path}: {name}")

    def stamp(self, name: str) -> str:
        """Changes when the file does: its size and the time of its last change."""
        place = self._places[name]
        return f"{place.size}:{place.modified}"
