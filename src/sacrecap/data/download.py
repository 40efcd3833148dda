"""Fetches a file, and continues where an earlier attempt stopped."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from typing import IO, Any
from urllib.error import HTTPError, URLError

from sacrecap.data.atomic import atomic_write
from sacrecap.data.lock import lock
from sacrecap.data.remote import opened
from sacrecap.errors import DataError

Progress = Callable[[int], object]
"""Called with the number of bytes fetched so far."""

_ATTEMPTS = 4
"""Attempts without a new byte before we give up."""
_PAUSE = 2.0
"""Seconds before the second attempt; each pause is twice the one before."""
_PIECE = 1 << 18


@dataclass(frozen=True)
class PublishedFile:
    """A file: its name, size in bytes, SHA-256 (None if nobody has published it) and URL.

    A file inside a zip file is the raw deflate stream at `start`, of `packed` bytes.
    """

    name: str
    size: int
    sha256: str | None
    url: str
    start: int = 0
    packed: int | None = None
    elsewhere: str = "by --from DIR"
    """How the user names a folder that has it."""
    place: str = "XDG_DATA_HOME"
    """How the user chooses where it is kept."""

    @property
    def download(self) -> int:
        """Number of bytes to fetch."""
        return self.size if self.packed is None else self.packed


def download(part: PublishedFile, folder: str, progress: Progress) -> None:
    """Puts the part into the folder. Fetched bytes are kept in `NAME.part`; after a failure, the next call continues.

    Raises:
        DataError: it cannot be fetched, or is not what was published.
    """
    waiting = os.path.join(folder, f"{part.name}.part")
    with storing(folder, part.place), open(waiting, "ab") as file:
        _locked(file, folder)
        if file.tell() > part.download:
            file.truncate(0)
            file.seek(0)
        _fetch(part, file, progress)
    try:
        with open(waiting, "rb") as packed:
            _place(part, _unpacked(part, packed), folder)
    except (OtherContentError, zlib.error) as error:
        os.remove(waiting)
        raise DataError(
            f"{part.url}: is not the published file ({error}); the download is removed; try again, or give the "
            f"right {part.name} {part.elsewhere}"
        ) from None
    os.remove(waiting)


class OtherContentError(DataError):
    """A file is not the expected part."""


def copy(part: PublishedFile, source: str, folder: str) -> None:
    """Puts the part into the folder, from a file of this machine.

    Raises:
        OtherContentError: the file is another one.
        DataError: the folder cannot be written, or the file cannot be read.
    """
    try:
        with open(source, "rb") as file:
            _place(part, _pieces(file), folder)
    except OtherContentError as error:
        raise OtherContentError(f"{source}: is not the published {part.name} ({error})") from None


def is_good(part: PublishedFile, path: str) -> bool:
    """Whether the file is there and is the part, by its checksum."""
    try:
        if os.path.getsize(path) != part.size:
            return False
        with open(path, "rb") as file:
            return part.sha256 in (None, checksum(file))
    except OSError:
        return False


@contextlib.contextmanager
def storing(folder: str, place: str = PublishedFile.place) -> Iterator[None]:
    """Turns an operating-system error of writing in the folder into one that says how to choose another: with
    `place`.
    """
    try:
        yield
    except OSError as error:
        what = "no space is left" if error.errno in {errno.ENOSPC, errno.EDQUOT} else str(error)
        raise DataError(
            f"{folder}: cannot be written ({what}); the bytes fetched so far are kept: free some space or choose "
            f"another place by {place}, and run the command again"
        ) from None


def asked_size(part: PublishedFile) -> int:
    """The file's size in bytes, as the server states it.

    Raises:
        DataError: the server does not say, or cannot be reached.
    """
    try:
        with opened(part.url, "HEAD") as response:
            return int(response.headers["Content-Length"])
    except (HTTPError, URLError, HTTPException, OSError) as error:
        reason = error if isinstance(error, HTTPError) else getattr(error, "reason", None) or error
        raise DataError(f"{part.url}: cannot be fetched ({reason}); {_by_hand(part)}") from None
    except (TypeError, ValueError):
        raise DataError(f"{part.url}: the server does not say how long the file is; {_by_hand(part)}") from None


def _fetch(part: PublishedFile, file: IO[bytes], progress: Progress) -> None:
    """Appends the missing bytes of the part, as it is published."""
    failures = 0
    while (have := file.tell()) < part.download:
        progress(have)
        try:
            _attempt(part, file, progress)
            error: Exception = EOFError("it ended too early")
        except HTTPError as found:
            if found.code not in {408, 425, 429, 500, 502, 503, 504}:
                raise DataError(f"{part.url}: {found}; {_by_hand(part)}") from None
            error = found
        except (URLError, HTTPException, TimeoutError, ConnectionError) as found:
            error = found
        if file.tell() == have < part.download:
            failures += 1
            if failures == _ATTEMPTS:
                reason = getattr(error, "reason", None) or error
                raise DataError(f"{part.url}: cannot be fetched ({reason}); {_by_hand(part)}") from None
            time.sleep(_PAUSE * 2 ** (failures - 1))
        else:
            failures = 0
    progress(file.tell())


def _attempt(part: PublishedFile, file: IO[bytes], progress: Progress) -> None:
    """Appends the bytes of one connection."""
    first, last = part.start + file.tell(), part.start + part.download - 1
    with opened(part.url, Range=f"bytes={first}-{last}") as response:
        if response.status != 206:
            _skip(response, first)  # a server, or a proxy, that does not support ranges
        while missing := part.download - file.tell():
            piece = response.read(min(_PIECE, missing))
            if not piece:
                return
            with storing(os.path.dirname(file.name), part.place):
                file.write(piece)
                file.flush()
            progress(file.tell())


def _skip(response: Any, number: int) -> None:
    while number > 0 and (piece := response.read(min(_PIECE, number))):
        number -= len(piece)


def _by_hand(part: PublishedFile) -> str:
    return (
        f"run the command again to continue from here, or fetch {part.name} on another machine and give its folder "
        f"{part.elsewhere}"
    )


def _locked(file: IO[bytes], folder: str) -> None:
    """Locks the file for this process, if the platform can, until it is closed."""
    try:
        lock(file, wait=False)
    except BlockingIOError:
        raise DataError(f"{folder}: another sacrecap is fetching it there; wait until it is done") from None


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _unpacked(part: PublishedFile, file: IO[bytes]) -> Iterator[bytes]:
    if part.packed is None:
        yield from _pieces(file)
        return
    unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in _pieces(file):
        yield unpacking.decompress(piece)
    yield unpacking.flush()


def checksum(file: IO[bytes]) -> str:
    """The SHA-256 of the file's content."""
    digest = hashlib.sha256()
    for piece in _pieces(file):
        digest.update(piece)
    return digest.hexdigest()


def _place(part: PublishedFile, pieces: Iterator[bytes], folder: str) -> None:
    """Writes the pieces; they appear under the part's name only if they are the published file."""
    digest = hashlib.sha256()
    with atomic_write(os.path.join(folder, part.name), "wb") as file:
        for piece in pieces:
            digest.update(piece)
            file.write(piece)
        if part.sha256 is not None and digest.hexdigest() != part.sha256:
            raise OtherContentError(f"its SHA-256 is {digest.hexdigest()}, not {part.sha256}")
