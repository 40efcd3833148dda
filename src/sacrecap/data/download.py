"""Fetches a published file, whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException

from sacrecap.data.atomic import atomic_write
from sacrecap.data.remote import opened
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError, SacrecapWarning, warn

FOLDER = "SACRECAP_TEST_SETS"
"""The environment variable that names the folder of test sets, instead of one in the user's cache folder."""

Progress = Callable[[str, int, int], object]
"""Takes a file's name, the number of bytes fetched, and the number of all bytes as far as the server says it."""

_PIECE = 1 << 18


@dataclass(frozen=True)
class PublishedFile:
    """A published file: its URL, and its SHA-256 if that is published."""

    url: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        """Its name, the same here as at the publisher."""
        return os.path.basename(self.url)


def download(source: PublishedFile, folder: str, progress: Progress | None = None) -> None:
    """Puts the file into the folder. Of one without published checksum, that of the first download is kept beside it.

    Raises:
        DataError: it cannot be fetched or written, or is not what was published.

    Warns:
        SacrecapWarning: nobody has published a checksum, and this is the first download.
    """
    path = os.path.join(folder, source.name)
    known, checksum = source.sha256 or _noted(path), hashlib.sha256()
    try:
        os.makedirs(folder, exist_ok=True)
        with opened(source.url) as response, atomic_write(path, "wb") as file:
            size = int(response.headers["Content-Length"] or 0)
            while piece := response.read(_PIECE):
                checksum.update(piece)
                file.write(piece)
                if progress is not None:
                    progress(source.name, file.tell(), max(size, file.tell()))
            if file.tell() < size:
                raise DataError(f"it ends after {file.tell():,} of {size:,} bytes")
            if known not in (None, checksum.hexdigest()):
                raise DataError(f"it is not the published file: its SHA-256 is {checksum.hexdigest()}, not {known}")
    except (OSError, HTTPException, DataError) as error:
        raise DataError(
            f"{source.url}: cannot be fetched ({error}); run the command again, or fetch {source.name} on another "
            f"machine and give its folder by {FOLDER}=DIR"
        ) from None
    if known is None:
        with atomic_write(f"{path}.sha256") as note:
            note.write(f"{checksum.hexdigest()}  {source.name}\n")
        warn(
            f"{source.url}: nobody has published a checksum of it; that of this download, {checksum.hexdigest()}, is "
            f"kept in {path}.sha256, and is compared with later ones",
            SacrecapWarning,
        )


def _noted(path: str) -> str | None:
    """The checksum that was noted at the first download, as `sha256sum` writes it."""
    try:
        return read_bytes(f"{path}.sha256").decode("ascii").split()[0]
    except (DataError, ValueError, IndexError):
        return None
