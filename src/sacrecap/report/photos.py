"""The images on a page: small copies inside it, or in a folder next to it if there are many, or by their addresses."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, urlsplit

from sacrecap.data.images import ImageFile, ImageSource
from sacrecap.data.thumbnails import check_pillow, thumbnail, upright_size
from sacrecap.errors import DataError, some, warn

if TYPE_CHECKING:
    from sacrecap.data.source import PathLike

MOST_EMBEDDED = 12_000_000
"""Most bytes of small images inside a page; if there are more, all are in a folder next to it."""
_AT_ONCE = 256

Size: TypeAlias = tuple[int, int] | None
Images: TypeAlias = "PathLike | Mapping[str, Any] | ImageSource"
"""A folder, a tar file, a pattern or a mapping, as `ImageSource.open` takes it, or its result."""


@dataclass(frozen=True)
class Photos:
    """The photos of a page."""

    addresses: Sequence[str | None] = ()
    """That of each image's photo; None if it has none."""
    sizes: Sequence[Size] = ()
    """Width and height in pixels of each image's file; None if it was not read."""
    notes: Sequence[str] = ()
    """Remarks about the photos."""
    policy: str = "data:"
    """Sources from which the page may load images, in the syntax of a content security policy."""
    loads: str = "it loads nothing"
    """The text at the foot of the page that says what the page loads."""


def check_images(images: Images) -> ImageSource:
    """The source. Raises early what would prevent a page with its images: as `ImageSource.open`, or without Pillow."""
    source = ImageSource.open(images)
    if not source.are_addresses:
        check_pillow()
    return source


def photos_of(images: Images, image_ids: Sequence[str], page: PathLike | None) -> Photos:
    """The photos of the images of a page that will be written to that path; None for a page that has no place.

    Files that cannot be shown are named in a warning and on the page. If there are too many photos for the page, they
    are written into a folder next to it, which replaces an earlier one.

    Raises:
        DataError: no image has a file, or the folder cannot be written.
        MissingDependencyError: Pillow is not installed.
        UsageError: as `ImageSource.open`.
    """
    source = check_images(images)
    files = source.find_all(image_ids)
    absent = [image for image in image_ids if image not in files]
    notes = [f"No file was found in {source.description} for {some(absent)}."] if absent else []
    if source.are_addresses:
        parts = urlsplit(source.description)
        host = f"{parts.scheme}://{parts.netloc}"
        return Photos(
            [files[image].address if image in files else None for image in image_ids],
            [None] * len(image_ids),
            notes,
            host,
            f"it loads the photos from {host} and nothing else",
        )
    sizes: dict[str, Size] = {}
    inside: dict[str, bytes] = {}
    beside: _Beside | None = None
    size = 0
    broken: list[str] = []
    for image, content, sizes[image] in _thumbnails(files):
        if isinstance(content, DataError):
            broken.append(str(content))
            continue
        size += len(content)
        inside[image] = content
        if size * 4 / 3 > MOST_EMBEDDED and page is not None:
            beside = beside or _Beside(page)
        if beside is not None:
            for image_id, small in inside.items():
                beside.add(image_id, small)
            inside.clear()
    if broken:
        reasons = "; ".join(broken[:3]) + ("; …" if len(broken) > 3 else "")
        notes.append(f"{len(broken):,} of the files cannot be shown: {reasons}.")
        warn(f"{len(broken):,} of the image files cannot be shown: {reasons}")
    addresses = {
        image: f"data:image/webp;base64,{base64.b64encode(content).decode()}" for image, content in inside.items()
    }
    if beside is not None:
        addresses = beside.addresses
    photos = Photos([addresses.get(image) for image in image_ids], [sizes.get(image) for image in image_ids], notes)
    if beside is None:
        return photos
    loads = f"it loads the photos of the folder {beside.name} next to it, and nothing else"
    return replace(photos, policy="data: file: 'self'", loads=loads)


def _thumbnails(files: dict[str, ImageFile]) -> Iterator[tuple[str, bytes | DataError, Size]]:
    """Small images, and the sizes of the large ones, in the fastest order for reading their files; Pillow uses all
    cores. An error instead of an image that cannot be shown.
    """
    order = sorted(files.items(), key=lambda item: item[1].order)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(order), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            contents = [_or_error(file.read) for _, file in part]
            # Pillow warns about unusual files. Warnings are switched off here, because doing so in threads is not safe.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                small = list(pool.map(_small, contents, (file.name for _, file in part)))
            yield from ((image, *pair) for (image, _), pair in zip(part, small, strict=True))


def _small(content: bytes | DataError, name: str) -> tuple[bytes | DataError, Size]:
    if isinstance(content, DataError):
        return content, None
    small = _or_error(partial(thumbnail, content, name))
    return small, None if isinstance(small, DataError) else upright_size(content)


def _or_error(make: Callable[[], bytes]) -> bytes | DataError:
    try:
        return make()
    except DataError as error:
        return error


class _Beside:
    """A folder of photos next to a page, named after it."""

    def __init__(self, page: PathLike) -> None:
        place, name = os.path.split(os.fspath(page))
        self.name = f"{os.path.splitext(name)[0]}-photos"
        self._folder = os.path.join(place, self.name)
        self.addresses: dict[str, str] = {}
        with self._writing():
            os.makedirs(self._folder, exist_ok=True)
            for old in os.listdir(self._folder):
                if re.fullmatch(r"[0-9]{6,}\.webp", old):
                    os.remove(os.path.join(self._folder, old))

    def add(self, image: str, content: bytes) -> None:
        # Numbers, because ids may not be valid names of files.
        name = f"{len(self.addresses) + 1:06d}.webp"
        with self._writing(), open(os.path.join(self._folder, name), "wb") as file:
            file.write(content)
        self.addresses[image] = f"{quote(self.name.encode('utf-8', 'replace'))}/{name}"

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(f"{self._folder}: photos cannot be written into this folder: {reason}") from None
