"""The images on a page: small copies inside it, or in a folder next to it if there are many, or by their addresses."""

from __future__ import annotations

import base64
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from sacrecap.data.images import ImageFile, ImageSource
from sacrecap.data.source import PathLike
from sacrecap.data.thumbnails import check_pillow, thumbnail, upright_size
from sacrecap.errors import DataError, some, warn

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
        addressed = [files[image].address if image in files else None for image in image_ids]
        return Photos(addressed, (), notes, host, f"it loads the photos from {host} and nothing else")
    sizes: dict[str, Size] = {}
    inside: dict[str, bytes] = {}
    addresses: dict[str, str] = {}
    name = f"{os.path.splitext(os.path.basename(page or ''))[0]}-photos"
    size = 0
    broken: list[str] = []
    for image, (content, sizes[image]) in _thumbnails(files):
        if isinstance(content, DataError):
            broken.append(str(content))
            continue
        size += len(content)
        inside[image] = content
        if size * 4 / 3 > MOST_EMBEDDED and page is not None:
            _write_beside(os.path.join(os.path.dirname(page), name), inside, addresses)
            inside.clear()
    if broken:
        reasons = "; ".join(broken[:3]) + ("; …" if len(broken) > 3 else "")
        notes.append(f"{len(broken):,} of the files cannot be shown: {reasons}.")
        warn(f"{len(broken):,} of the image files cannot be shown: {reasons}")
    policy, loads = Photos.policy, Photos.loads
    if addresses:
        policy, loads = "data: file: 'self'", f"it loads the photos of the folder {name} next to it, and nothing else"
    for image, content in inside.items():
        addresses[image] = f"data:image/webp;base64,{base64.b64encode(content).decode()}"
    return Photos(
        [addresses.get(image) for image in image_ids], [sizes.get(image) for image in image_ids], notes, policy, loads
    )


def _thumbnails(files: dict[str, ImageFile]) -> Iterator[tuple[str, tuple[bytes | DataError, Size]]]:
    """Small images, and the sizes of the large ones, in the fastest order for reading their files; Pillow uses all
    cores. An error instead of an image that cannot be shown.
    """
    order = sorted(files.items(), key=lambda item: item[1].order)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(order), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            contents: list[bytes | DataError] = []
            for _, file in part:
                try:
                    contents.append(file.read())
                except DataError as error:
                    contents.append(error)
            # Pillow warns about unusual files. Warnings are switched off here, because doing so in threads is not safe.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                small = list(pool.map(_small, contents, (file.name for _, file in part)))
            yield from zip((image for image, _ in part), small, strict=True)


def _small(content: bytes | DataError, name: str) -> tuple[bytes | DataError, Size]:
    if isinstance(content, DataError):
        return content, None
    try:
        return thumbnail(content, name), upright_size(content)
    except DataError as error:
        return error, None


def _write_beside(folder: str, photos: Mapping[str, bytes], addresses: dict[str, str]) -> None:
    """Writes photos into the folder, from which the first ones remove those of an earlier page, and adds addresses."""
    try:
        if not addresses:
            os.makedirs(folder, exist_ok=True)
            for old in os.listdir(folder):
                if re.fullmatch(r"[0-9]{6,}\.webp", old):
                    os.remove(os.path.join(folder, old))
        for image, content in photos.items():
            name = f"{len(addresses) + 1:06d}.webp"  # ids may not be valid names of files
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
            addresses[image] = f"{quote(os.path.basename(folder).encode('utf-8', 'replace'))}/{name}"
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{folder}: photos cannot be written into this folder: {reason}") from None
