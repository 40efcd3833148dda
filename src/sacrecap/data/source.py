"""The bytes of a file or of standard input, decompressed, or an error that says what to do."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator

from sacrecap.data.compressed import SUFFIXES, decompressed
from sacrecap.errors import DataError, SacrecapError

PathLike = str | os.PathLike[str]

_REMOTE = r"[A-Za-z][A-Za-z0-9+.-]+::?//|[a-z][a-z0-9]+::[a-z]"


def is_remote(path: object) -> bool:
    """Whether this is a URL, such as `https://host/file` or `simplecache::s3://bucket/file`, and not a file's name."""
    if not isinstance(path, str) or not ("://" in path or "::" in path):
        return False
    return re.match(_REMOTE, path) is not None and not os.path.exists(path)


def display_name(path: PathLike) -> str:
    """The name of the file in messages: its path, or ``<stdin>`` for ``-``."""
    return "<stdin>" if path == "-" else os.fspath(path)


def system_name(path: PathLike) -> str:
    """The name of the system whose captions are in this file: the file's name, without folder and suffix."""
    if path == "-":
        return "standard input"
    name = os.path.basename(os.fspath(path))
    if is_remote(path):
        name = name.partition("?")[0] or name
    stem, suffix = os.path.splitext(name)
    return (os.path.splitext(stem)[0] if suffix.lower() in SUFFIXES else stem) or name


def read_bytes(path: PathLike) -> bytes:
    """All bytes of a file, of a URL, or of standard input for ``-``; gzip, bzip2, xz and zstd are decompressed.

    Raises:
        DataError: the file is missing, a directory, unreadable, or broken compressed data.
        MissingDependencyError: the URL or the compression needs a package that is not installed.
    """
    if isinstance(path, str) and is_remote(path):
        from sacrecap.data.remote import fetched

        return decompressed(fetched(path), path)
    with reading(path):
        data = sys.stdin.buffer.read() if path == "-" else _file_bytes(path)
    return decompressed(data, display_name(path))


@contextlib.contextmanager
def reading(path: PathLike) -> Iterator[None]:
    """Turns an operating-system error into a `DataError` that names the file and the remedy."""
    name = display_name(path)
    try:
        yield
    except SacrecapError:
        raise
    except FileNotFoundError:
        raise DataError(f"{name}: no such file{_nearest(os.fspath(path))}") from None
    except IsADirectoryError:
        raise DataError(f"{name}: is a directory; name a file in it") from None
    except PermissionError:
        raise DataError(f"{name}: may not be read by this user; change its permissions") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: cannot be read: {error}") from None


def _file_bytes(path: PathLike) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _nearest(path: str) -> str:
    """A hint for a missing file: the nearest name in its folder, or which folder is missing."""
    import difflib

    folder, name = os.path.split(path)
    try:
        names = sorted(os.listdir(folder or "."))
    except FileNotFoundError:
        return f"; there is no folder {folder!r} either"
    except OSError:
        return ""
    near = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {os.path.join(folder, near[0])!r}?" if near else ""
