"""Fetches a file, and continues where an earlier attempt stopped."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from typing import IO, Any
from urllib.error import HTTPError, URLError

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
    """A file: its name, size in bytes, SHA-256 (None if nobody has published it) and URL."""

    name: str
    size: int
    sha256: str | None
    url: str
    elsewhere: str
    """How the user names a folder that has it."""
    place: str
    """How the user chooses where it is kept."""


def download(part: PublishedFile, folder: str, progress: Progress) -> None:
    """Puts the part into the folder. Fetched bytes are kept in `NAME.part`; after a failure, the next call continues.

    Raises:
        DataError: it cannot be fetched, or is not what was published.
    """
    waiting = os.path.join(folder, f"{part.name}.part")
    with storing(folder, part.place), open(waiting, "ab") as file:
        _locked(file, folder)
        if file.tell() > part.size:
            file.truncate(0)
            file.seek(0)
        _fetch(part, file, progress)
    with open(waiting, "rb") as fetched:
        digest = checksum(fetched)
    if part.sha256 not in (None, digest):
        os.remove(waiting)
        raise DataError(
            f"{part.url}: is not the published file (its SHA-256 is {digest}, not {part.sha256}); the download is "
            f"removed; try again, or give the right {part.name} {part.elsewhere}"
        )
    os.replace(waiting, os.path.join(folder, part.name))


@contextlib.contextmanager
def storing(folder: str, place: str) -> Iterator[None]:
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
    while (have := file.tell()) < part.size:
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
        if file.tell() == have < part.size:
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
    first = file.tell()
    with opened(part.url, Range=f"bytes={first}-{part.size - 1}") as response:
        if response.status != 206:
            _skip(response, first)  # a server, or a proxy, that does not support ranges
        while missing := part.size - file.tell():
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


def checksum(file: IO[bytes]) -> str:
    """The SHA-256 of the file's content."""
    digest = hashlib.sha256()
    while piece := file.read(_PIECE):
        digest.update(piece)
    return digest.hexdigest()
