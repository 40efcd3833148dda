"""Image files by image id: in a folder, in a tar file, by a pattern of names or addresses, or given one by one."""

from __future__ import annotations

import io
import os
import re
import tarfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

from sacrecap._core import image_ids
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError, UsageError

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")
"""Suffixes of image files, in lower or upper case."""
MOST_BYTES = 64 * 2**20
"""Larger files are not read."""
_PLACE = re.compile(r"\{image_id(?::0([0-9]{1,2}))?\}")


@dataclass(frozen=True)
class ImageFile:
    """The place of one image."""

    name: str
    """Its name in messages: a path, a member of a tar file, or an address."""
    address: str | None = None
    """The address for browsers; None for a file, which `read` reads."""
    order: int = 0
    """Reading files in ascending order of this number is fastest."""
    _open: Callable[[], bytes] = field(default=bytes, repr=False, compare=False)

    def read(self) -> bytes:
        """The file's content. Raises `DataError` if it cannot be read or is too large, `UsageError` for an address."""
        if self.address is not None:
            raise UsageError(f"{self.name}: sacrecap loads nothing from the network; give a folder or a tar file")
        with reading(self.name):
            return self._open()


class ImageSource(ABC):
    """Images that are found by the image ids of captions."""

    description: str
    """The text from which it was opened."""
    are_addresses = False
    """Whether browsers load the images from a host; sacrecap then knows nothing of them."""

    @staticmethod
    def open(place: PathLike | Mapping[Any, Any] | ImageSource) -> ImageSource:
        """Opens the source that a text names, or that a mapping holds.

        Args:
            place: a folder, with its subfolders; a tar file, which is read without unpacking, also a compressed one;
                a pattern with `{image_id}` in the place of the id, such as `photos/{image_id}.jpg` or
                `https://host/COCO_val2014_{image_id:012}.jpg` (filled with zeros to twelve characters); or each image
                by its id: the path of its file, the file's bytes, `{"bytes": …, "path": …}` as Parquet files have them,
                or a Pillow image.

        Raises:
            DataError: there is no such place, or it is broken; or an image of a mapping is none of these.
            UsageError: a file that is not a tar file, or a pattern without `{image_id}`.
        """
        if isinstance(place, ImageSource):
            return place
        if isinstance(place, Mapping):
            return ByImage(place)
        text = os.fspath(place)
        if _PLACE.search(text):
            return _Pattern(text)
        if "://" in text or ("{" in text and not os.path.exists(text)):
            example = "photos/{image_id}.jpg"
            raise UsageError(f"{text}: a pattern has {{image_id}} in the place of the id, such as {example}")
        if os.path.isdir(text):
            names: list[str] = []
            with reading(text):
                for inside, folders, files in os.walk(text):
                    folders.sort()
                    names += [os.path.relpath(os.path.join(inside, name), text) for name in sorted(files)]
            names = [name for name in names if _is_image(name)]
            return _Listed(text, names, partial(_file_in, text))
        with reading(text):
            is_tar = tarfile.is_tarfile(text)
        if not is_tar:
            raise UsageError(
                f"{text}: images are in a folder, a tar file, or files of a pattern such as photos/{{image_id}}.jpg"
            )
        return _of_tar(text)

    @abstractmethod
    def find(self, image_id: str) -> ImageFile | None:
        """The image of an id; None if there is none, or several fit.

        A file fits by its name or its path in the folder, else by its name without suffix, else by its number: the
        digits that its name ends in, after `_`, if the id or the file's name is only a number. `391895` finds
        `000000391895.jpg` and `COCO_val2014_000000391895.jpg`, and the other way round.
        """

    @abstractmethod
    def looked_for(self, image_id: str) -> str:
        """Says, for a message, what was searched for and where."""

    @abstractmethod
    def image_ids(self) -> list[str]:
        """Ids of all its images: names of files without folder and suffix. Raises `UsageError` for a pattern."""

    def files(self) -> list[tuple[str, ImageFile]]:
        """All its images, each with its name: the path in the folder. Raises `UsageError` for a pattern."""
        return [(image, file) for image in self.image_ids() if (file := self.find(image)) is not None]

    def find_all(self, image_ids: Iterable[str]) -> dict[str, ImageFile]:
        """The images that were found, by id.

        Raises `DataError` if there is not one; the message says what was looked for.
        """
        ids = list(image_ids)
        files = {image: file for image in ids if (file := self.find(image)) is not None}
        if not files and ids:
            raise DataError(
                f"{self.description}: no file was found for any of the {len(ids):,} images; looked for "
                f"{self.looked_for(ids[0])}"
            )
        return files


class _Pattern(ImageSource):
    """Files, or addresses, whose names have the id at one place."""

    def __init__(self, text: str) -> None:
        self.description = text
        scheme = text.partition("://")[0].lower() if "://" in text else None
        if scheme not in (None, "http", "https"):
            raise UsageError(f"{text}: addresses of images begin with https:// or http://")
        if scheme and not re.match(r"https?://[\w.:\[\]-]+/", text, re.ASCII | re.IGNORECASE):
            raise UsageError(
                f"{text}: {{image_id}} must come after the name of the host, such as https://host/{{image_id}}.jpg"
            )
        self.are_addresses = scheme is not None

    def find(self, image_id: str) -> ImageFile | None:
        if self.are_addresses:
            address = self._filled(quote(image_id.encode("utf-8", "replace"), safe="/"))
            return ImageFile(address, address)
        # Ids come from files of other people: none may lead out of the folder.
        parts, path = re.split(r"[/\\]", image_id), self._filled(image_id)
        leaves_folder = ".." in parts or parts[0] == "" or "\0" in image_id or ":" in parts[0]
        return None if leaves_folder or not os.path.isfile(path) else _file_in("", path)

    def looked_for(self, image_id: str) -> str:
        return repr(self._filled(image_id))

    def image_ids(self) -> list[str]:
        raise UsageError(f"{self.description}: a pattern does not say which images there are; give a folder")

    def _filled(self, image_id: str) -> str:
        return _PLACE.sub(lambda place: image_id.zfill(int(place[1] or 0)), self.description)


class ByImage(ImageSource):
    """Each image given by itself, under its id, as `ImageSource.open` takes them. Relative paths begin in `folder`."""

    def __init__(self, images: Mapping[Any, Any], description: str = "the images", folder: str = "") -> None:
        self.description = description
        named = zip(image_ids(images), images.values(), strict=True)
        self._files = {image: self._file(f"image {image}", picture, folder) for image, picture in named}

    def find(self, image_id: str) -> ImageFile | None:
        return self._files.get(image_id)

    def looked_for(self, image_id: str) -> str:
        return f"{image_id!r} among {len(self._files):,} images, such as {next(iter(self._files), 'none')!r}"

    def image_ids(self) -> list[str]:
        return list(self._files)

    def _file(self, name: str, picture: Any, folder: str) -> ImageFile:
        match picture:
            case {"bytes": bytes() as content} | (bytes() as content):
                return ImageFile(f"{self.description}: {name}", _open=lambda: content)
            case {"path": path}:
                picture = path
        if isinstance(picture, (str, os.PathLike)) and os.fspath(picture):
            return _file_in(folder, os.fspath(picture))
        if hasattr(picture, "save") and hasattr(picture, "convert"):  # of Pillow

            def without_loss() -> bytes:
                picture.save(buffer := io.BytesIO(), "PNG")
                return buffer.getvalue()

            return ImageFile(f"{self.description}: {name}", _open=without_loss)
        raise DataError(
            f"{self.description}: {name} is of type {type(picture).__name__}; accepted are a path, the bytes of a "
            'file, {"bytes": …, "path": …} and a Pillow image'
        )


class _Listed(ImageSource):
    """Files of a folder or a tar file, found by name, by stem, or by number; `file` makes that of a name."""

    def __init__(self, text: str, names: list[str], file: Callable[[str], ImageFile]) -> None:
        self.description, self._names, self._file = text, names, file
        self._by: dict[tuple[str, str], str | None] = {}
        """Names by what finds them, of which each has a kind; None where several would be found."""
        for name in names:
            base = os.path.basename(name)
            number, is_bare = _number(_stem(base)), _stem(base).isdigit()
            keys = [("name", name), ("name", base), ("stem", _stem(base)), ("stem", _stem(name))]
            keys += [] if number is None else [("number", number), *([("bare", number)] if is_bare else [])]
            for key in dict.fromkeys(keys):
                self._by[key] = None if key in self._by else name

    def find(self, image_id: str) -> ImageFile | None:
        stem = _stem(image_id)
        number = _number(stem)
        ways = [("name", image_id), ("stem", image_id), ("stem", stem)]
        if number is not None:
            # A bare number finds all files with that number; a number after letters finds only files named by a bare
            # number.
            ways.append(("number" if stem.isdigit() else "bare", number))
        name = next((self._by[way] for way in ways if way in self._by), None)
        return None if name is None else self._file(name)

    def looked_for(self, image_id: str) -> str:
        first = f", such as {self._names[0]!r}" if self._names else ""
        among = f"among {len(self._names):,} image files{first}"
        return f"{image_id!r} as file name, as name without suffix, and as number, {among}"

    def image_ids(self) -> list[str]:
        return list(dict.fromkeys(_stem(os.path.basename(name)) for name in self._names))

    def files(self) -> list[tuple[str, ImageFile]]:
        return [(name, self._file(name)) for name in self._names]


def _of_tar(text: str) -> _Listed:
    """The images of a tar file, which are read without unpacking; it is open as long as one of them exists."""

    def content(member: tarfile.TarInfo) -> bytes:
        _check_size(member.size)
        try:
            file = tar.extractfile(member)
            return b"" if file is None else file.read()
        except (tarfile.TarError, EOFError) as error:
            raise DataError(f"{text}: {member.name} cannot be read: {error}") from None

    def image(name: str) -> ImageFile:
        member, place = members[name]
        return ImageFile(f"{text}: {name}", order=place, _open=lambda: content(member))

    try:
        with reading(text):
            tar = tarfile.open(text)  # noqa: SIM115
            weakref.finalize(content, tar.close)
            images = (member for member in tar if member.isreg() and _is_image(member.name))
            members = {os.path.normpath(member.name): (member, place) for place, member in enumerate(images)}
    except (tarfile.TarError, EOFError) as error:
        raise DataError(f"{text}: this tar file is broken: {error}") from None
    return _Listed(text, list(members), image)


def _is_image(name: str) -> bool:
    return name.lower().endswith(SUFFIXES) and not os.path.basename(name).startswith("._")


def _stem(name: str) -> str:
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in SUFFIXES else name


def _number(stem: str) -> str | None:
    """The number that a name ends in, without zeros before it."""
    number = re.fullmatch(r"(?:.*[_/])?0*([0-9]+)", stem, re.ASCII | re.DOTALL)
    return number[1] if number else None


def _file_in(folder: str, name: str) -> ImageFile:
    path = os.path.join(folder, name)

    def content() -> bytes:
        _check_size(os.path.getsize(path))
        with open(path, "rb") as file:
            return file.read(MOST_BYTES)

    return ImageFile(path, _open=content)


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise DataError(f"it has {size / 2**20:,.0f} MB; images are read up to {MOST_BYTES // 2**20} MB")
