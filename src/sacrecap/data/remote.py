"""Files that are not on this machine: `https://`, and all that fsspec supports, such as `hf://` and `s3://`."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sacrecap.data.atomic import atomic_write
from sacrecap.errors import DataError, MissingDependencyError, SacrecapError, of_extra

if TYPE_CHECKING:
    from http.client import HTTPResponse

_SILENCE = 60.0
"""Seconds without a byte after which an attempt has failed."""
_PIECE = 1 << 18


def fetched(url: str) -> bytes:
    """All bytes behind the URL: `http` and `https` by Python itself, all others by fsspec.

    Raises:
        DataError: nothing can be read there; the message says why.
        MissingDependencyError: fsspec, or the package that it needs for this kind of URL, is not installed.
    """
    if not url.startswith(("http://", "https://")):
        with naming_url(url), opened_at(url) as file:
            return file.read()  # type: ignore[no-any-return]
    from http.client import HTTPException
    from urllib.error import URLError

    try:
        with opened(url) as response:
            return response.read()
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None)
        code = getattr(error, "code", None)
        why = " ".join(str(part) for part in (code, reason) if part) or _line(error)
        raise DataError(f"{url}: cannot be fetched ({why}); check the address, or download the file") from None


def opened_at(url: str) -> Any:
    """The file behind a URL that fsspec knows. Errors are those of `fetched`."""
    files, path = located(url)
    with naming_url(url):
        return files.open(path, "rb")


def located(url: str) -> tuple[Any, str]:
    """The file system of a URL, by fsspec, else by pyarrow, and the path in it. Errors are those of `fetched`."""
    with of_extra("files", f"reading {url.partition(':')[0]}:// files"):
        import fsspec
    try:
        return fsspec.url_to_fs(url)  # type: ignore[no-any-return]
    except ImportError as error:
        try:
            import pyarrow.fs

            files, path = pyarrow.fs.FileSystem.from_uri(url)
        except Exception:  # noqa: BLE001 - pyarrow does not know it either
            raise MissingDependencyError(f"{url}: cannot be read: {_line(error)}") from None
        return fsspec.implementations.arrow.ArrowFSWrapper(files), path
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        raise DataError(f"{url}: cannot be read: {_line(error)}") from None


@contextlib.contextmanager
def naming_url(url: str) -> Iterator[None]:
    """Turns any error of a file system into a `DataError` that names the file."""
    try:
        yield
    except SacrecapError:
        raise
    except FileNotFoundError:
        raise DataError(f"{url}: no such file") from None
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        raise DataError(f"{url}: cannot be read: {_line(error)}") from None


@contextlib.contextmanager
def opened(url: str) -> Iterator[HTTPResponse]:
    """A server's answer, by http or https.

    Raises `HTTPError` for a refusal, which is closed: its connection would stay open as long as somebody has the error.
    """
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    request = Request(url, headers={"User-Agent": "sacrecap"})  # noqa: S310 - see above
    try:
        with urlopen(request, timeout=_SILENCE) as response:  # noqa: S310
            yield response
    except HTTPError as error:
        error.close()
        raise


def save(url: str, path: str, progress: Callable[[int, int], object] | None = None, sha256: str | None = None) -> str:
    """Puts what a server answers into a file, whole or not at all; returns its SHA-256.

    `progress` is called with the number of bytes fetched, and of all as far as the server says it. Raises `DataError`,
    which does not name the URL, if it cannot be fetched or written, or has another checksum than this.
    """
    from http.client import HTTPException

    checksum = hashlib.sha256()
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with opened(url) as response, atomic_write(path, "wb") as file:
            size = int(response.headers["Content-Length"] or 0)
            while piece := response.read(_PIECE):
                checksum.update(piece)
                file.write(piece)
                if progress is not None:
                    progress(file.tell(), max(size, file.tell()))
            if file.tell() < size:
                raise DataError(f"it ends after {file.tell():,} of {size:,} bytes")
            if sha256 not in (None, checksum.hexdigest()):
                raise DataError(f"it is not the published file: its SHA-256 is {checksum.hexdigest()}, not {sha256}")
    except (OSError, HTTPException) as error:
        raise DataError(str(error)) from None
    return checksum.hexdigest()


def _line(error: Exception) -> str:
    """The first line of an error's message, or its type if it has none."""
    return str(getattr(error, "strerror", None) or error).strip().partition("\n")[0] or type(error).__name__
