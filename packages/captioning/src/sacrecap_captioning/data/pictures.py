"""Where images lie: in a folder, under names with `*`, in tar files of webdataset, or in Parquet.

Nothing is unpacked: an image is read where it is.
"""

from __future__ import annotations

import glob
import io
import os
import tarfile
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap.data.images import SUFFIXES
from sacrecap.data.source import reading
from sacrecap.errors import DataError, of_extra
from sacrecap.vision.image_folder import open_image

if TYPE_CHECKING:
    from PIL.Image import Image

_IDS = ("image_id", "id", "key", "__key__", "filename", "file_name", "path")
"""Columns of Parquet files that name an image, the first that is there."""
_IMAGES = ("image", "jpg", "jpeg", "png", "webp", "bytes", "img", "image_path", "path", "file_name", "filename")
"""Columns that hold an image, or where it lies."""
_SUFFIXES = (*SUFFIXES, ".tar", ".parquet")


class _Place(NamedTuple):
    """The place of an image: in a file, at an offset of a tar file, or in a row of a Parquet file."""

    name: str
    """The path of its file, or its id."""
    file: str
    offset: int = 0
    size: int = -1
    rows: _ParquetImages | None = None

    @property
    def stem(self) -> str:
        """The name of its file without folder and suffix, or its id."""
        return self.name if self.rows is not None else os.path.splitext(os.path.basename(self.name))[0]

    @property
    def is_file(self) -> bool:
        """Whether it is a file of its own."""
        return self.size < 0 and self.rows is None

    def read(self) -> bytes:
        """The bytes of the image's file."""
        if self.rows is not None:
            return self.rows.read(self.offset)
        with reading(self.file), open(self.file, "rb") as file:
            file.seek(self.offset)
            return file.read(self.size)


@dataclass(frozen=True)
class NamedImages:
    """Images by name."""

    places: dict[str, _Place]

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def read(self, name: str) -> bytes:
        """The bytes of the image's file. Raises `DataError` if it cannot be read."""
        return self.places[name].read()

    def open(self, name: str) -> Image:
        """The image in RGB."""
        place = self.places[name]
        inside = "" if place.is_file else f": {name}"
        return open_image(io.BytesIO(place.read()), name=place.file + inside)

    def stamp(self, name: str) -> str:
        """Changes when the file does: the image's size, or its row, and the time of the file's last change."""
        place = self.places[name]
        info = os.stat(place.file)
        size = info.st_size if place.is_file else place.offset if place.rows is not None else place.size
        return f"{size}:{info.st_mtime_ns}"


class _ParquetImages:
    """The images of a Parquet file, of which the last group of rows that was read stays in memory."""

    def __init__(self, path: str) -> None:
        with of_extra("parquet", f"reading {path}"):
            from pyarrow import parquet
        self.path = path
        with reading(path):
            try:
                self._file = parquet.ParquetFile(path)
            except (ValueError, OSError) as error:
                raise DataError(f"{path}: is not a Parquet file, or broken ({error})") from None
        names = self._file.schema_arrow.names
        column = next((name for name in _IMAGES if name in names), None)
        if column is None:
            raise DataError(f"{path}: has no column of images ({', '.join(_IMAGES)}); it has {', '.join(names)}")
        self.column = column
        self.ids = next((name for name in _IDS if name in names), None)
        self._starts = [0]
        for group in range(self._file.num_row_groups):
            self._starts.append(self._starts[-1] + self._file.metadata.row_group(group).num_rows)
        self._kept: tuple[int, list[Any]] = (-1, [])
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Of its images: the column of ids, or the numbers of rows."""
        if self.ids is None:
            return [f"{row:08}" for row in range(self._starts[-1])]
        return list(map(str, self._file.read(columns=[self.ids]).column(0).to_pylist()))

    def read(self, row: int) -> bytes:
        """The bytes of the image in a row."""
        with self._lock:
            group = next(number for number, start in enumerate(self._starts[1:]) if row < start)
            if self._kept[0] != group:
                self._kept = (group, self._file.read_row_group(group, columns=[self.column]).column(0).to_pylist())
            value = self._kept[1][row - self._starts[group]]
        content, path = (value.get("bytes"), value.get("path")) if isinstance(value, dict) else (value, value)
        if isinstance(content, bytes):
            return content
        if not isinstance(path, str):
            raise DataError(f"{self.path}: row {row} has no image in {self.column}: neither bytes nor a path")
        place = os.path.join(os.path.dirname(self.path), path)
        with reading(place), open(place, "rb") as file:
            return file.read()


def files_below(folder: Path, wanted: Collection[str]) -> NamedImages:
    """The files below a folder that have wanted names: in folders at any depth, or in tar files.

    Raises:
        DataError: a tar file is broken, or two files have the same wanted name.
    """
    found: dict[str, _Place] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            if name in wanted or name.endswith(".tar"):
                for place in _inside(os.path.join(parent, name), parent):
                    own = os.path.basename(place.name)
                    if own in wanted and found.setdefault(own, place) != place:
                        raise DataError(f"two files are called {own}: {found[own].file} and {place.file}; remove one")
    return NamedImages(found)


def places_of(what: str) -> list[_Place]:
    """The images, in the order of their names."""
    if os.path.isdir(what):
        found = [os.path.join(folder, name) for folder, _, names in os.walk(what) for name in names]
        files, base = sorted(path for path in found if _is_one(path)), what
    elif os.path.exists(what) or not glob.has_magic(what):
        files, base = [what], os.path.dirname(what)
        if not _is_one(what):
            raise DataError(
                f"{what}: is neither a folder nor a file of {', '.join(_SUFFIXES)}, and no data set with captions"
            )
    else:
        files, base = sorted(path for path in glob.glob(what, recursive=True) if _is_one(path)), ""
    return [place for file in files for place in _inside(file, base)]


def _inside(file: str, base: str) -> Iterator[_Place]:
    """The images of a file, which is one, or a tar file or a Parquet file of several."""
    with reading(file):
        os.stat(file)
    if file.lower().endswith(".parquet"):
        rows = _ParquetImages(file)
        yield from (_Place(name, file, row, rows=rows) for row, name in enumerate(rows.names()))
    elif file.lower().endswith(".tar"):
        try:
            with reading(file), tarfile.open(file) as tar:
                for member in tar:
                    if member.isreg() and _is_one(member.name):
                        yield _Place(member.name, file, member.offset_data, member.size)
        except tarfile.TarError as error:
            raise DataError(f"{file}: broken tar file ({error}); copy or download it again") from None
    else:
        yield _Place(os.path.relpath(file, base or "."), file)


def _is_one(name: str) -> bool:
    return name.lower().endswith(_SUFFIXES) and not os.path.basename(name).startswith(".")
