"""Fetches a file, and continues where an earlier attempt stopped."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import IO
from urllib.error import HTTPError, URLError

from sacrecap.data.atomic import atomic_write
from sacrecap.data.places import FOLDER, PublishedFile
from sacrecap.data.remote import opened
from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError, SacrecapWarning, warn

Progress = Callable[[str, int, int], object]
"""Takes a file's name, the number of bytes fetched, and the number of all bytes."""

_ATTEMPTS = 4
"""Attempts without a new byte before we give up."""
_PAUSE = 2.0
"""Seconds before the second attempt; each pause is twice the one before."""
_PIECE = 1 << 18


def download(source: PublishedFile, folder: str, progress: Progress | None = None) -> None:
    """Puts the file into the folder. Fetched bytes are kept in `NAME.part`; after a failure, the next call continues.

    Of a file without published checksum, that of the first download is kept in `NAME.sha256`.

    Raises:
        DataError: it cannot be fetched, or is not what was published.

    Warns:
        SacrecapWarning: nobody has published a checksum, and this is the first download.
    """
    path = os.path.join(folder, source.name)
    waiting = f"{path}.part"
    with _storing(folder):
        os.makedirs(folder, exist_ok=True)
    known = source.sha256 or _noted(path)
    size = _asked_size(source) if source.size is None else source.size
    with _storing(folder), open(waiting, "ab") as file:
        _lock(file, folder)
        if file.tell() > size:
            file.truncate(0)
            file.seek(0)
        _fetch(source, file, size, progress or (lambda *_: None))
    digest = _checksum(waiting)
    if known not in (None, digest):
        os.remove(waiting)
        raise DataError(
            f"{source.url}: is not the published file (its SHA-256 is {digest}, not {known}); the download is "
            f"removed; try again, or give the right {source.name} by {FOLDER}=DIR"
        )
    os.replace(waiting, path)
    if known is None:
        with atomic_write(f"{path}.sha256") as note:
            note.write(f"{digest}  {source.name}\n")
        warn(
            f"{source.url}: nobody has published a checksum of it; that of this download, {digest}, is kept in "
            f"{path}.sha256, and is compared with later ones",
            SacrecapWarning,
        )


def _noted(path: str) -> str | None:
    """The checksum that was noted at the first download, as `sha256sum` writes it."""
    try:
        return read_bytes(f"{path}.sha256").decode("ascii").split()[0]
    except (DataError, ValueError, IndexError):
        return None


@contextlib.contextmanager
def _storing(folder: str) -> Iterator[None]:
    """Turns an operating-system error of writing in the folder into one that says how to choose another."""
    try:
        yield
    except OSError as error:
        what = "no space is left" if error.errno in {errno.ENOSPC, errno.EDQUOT} else str(error)
        raise DataError(
            f"{folder}: cannot be written ({what}); the bytes fetched so far are kept: free some space or choose "
            f"another place by {FOLDER}, and run the command again"
        ) from None


def _asked_size(source: PublishedFile) -> int:
    """The file's size in bytes, as the server states it. Raises `DataError` if it does not, or cannot be reached."""
    try:
        with opened(source.url, "HEAD") as response:
            return int(response.headers["Content-Length"])
    except (HTTPError, URLError, HTTPException, OSError) as error:
        raise _not_fetched(source, error) from None
    except (TypeError, ValueError):
        raise _refused(source, "the server does not say how long the file is") from None


def _fetch(source: PublishedFile, file: IO[bytes], size: int, progress: Progress) -> None:
    """Appends the missing bytes of the file, as it is published."""
    failures = 0
    while (have := file.tell()) < size:
        progress(source.name, have, size)
        try:
            _attempt(source, file, size, progress)
            error: Exception = EOFError("it ended too early")
        except HTTPError as found:
            if found.code not in {408, 425, 429, 500, 502, 503, 504}:
                raise _refused(source, str(found)) from None
            error = found
        except (URLError, HTTPException, TimeoutError, ConnectionError) as found:
            error = found
        if file.tell() == have < size:
            failures += 1
            if failures == _ATTEMPTS:
                raise _not_fetched(source, error) from None
            time.sleep(_PAUSE * 2 ** (failures - 1))
        else:
            failures = 0
    progress(source.name, file.tell(), size)


def _attempt(source: PublishedFile, file: IO[bytes], size: int, progress: Progress) -> None:
    """Appends the bytes of one connection."""
    first = file.tell()
    with opened(source.url, Range=f"bytes={first}-{size - 1}") as response:
        if response.status != 206:  # a server, or a proxy, that does not support ranges
            while first > 0 and (piece := response.read(min(_PIECE, first))):
                first -= len(piece)
        while missing := size - file.tell():
            piece = response.read(min(_PIECE, missing))
            if not piece:
                return
            with _storing(os.path.dirname(file.name)):
                file.write(piece)
                file.flush()
            progress(source.name, file.tell(), size)


def _not_fetched(source: PublishedFile, error: Exception) -> DataError:
    return _refused(source, f"cannot be fetched ({getattr(error, 'reason', None) or error})")


def _refused(source: PublishedFile, why: str) -> DataError:
    return DataError(
        f"{source.url}: {why}; run the command again to continue from here, or fetch {source.name} on another machine "
        f"and give its folder by {FOLDER}=DIR"
    )


def _lock(file: IO[bytes], folder: str) -> None:
    """Locks the file for this process, if the platform can, until it is closed."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(f"{folder}: another sacrecap is fetching it there; wait until it is done") from None


def _checksum(path: str) -> str:
    """The SHA-256 of the file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
