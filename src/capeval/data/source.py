"""The bytes of a file or of standard input, decompressed, or an error that says what to do."""

from __future__ import annotations

import difflib
import gzip
import os
import sys
import zlib
from pathlib import Path

from capeval.errors import DataError

PathLike = str | os.PathLike[str]

_GZIP = b"\x1f\x8b"


def display_name(path: PathLike) -> str:
    """How messages call the file: its path, or ``<stdin>`` for ``-``."""
    return "<stdin>" if path == "-" else os.fspath(path)


def read_bytes(path: PathLike) -> bytes:
    """All bytes of a file, or of standard input for ``-``; gzip is undone.

    Raises:
        DataError: the file is missing, a directory, unreadable, or broken gzip.
    """
    name = display_name(path)
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"{name}: no such file{_nearest(Path(path))}") from None
    except IsADirectoryError:
        raise DataError(f"{name}: is a directory; name a file in it") from None
    except PermissionError:
        raise DataError(f"{name}: may not be read by this user; change its permissions") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: cannot be read: {error}") from None
    return _gunzip(data, name) if data.startswith(_GZIP) else data


def _gunzip(data: bytes, name: str) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:
        raise DataError(f"{name}: the gzip data ends early; write or download the file again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{name}: broken gzip data ({error}); write or download the file again") from None


def _nearest(path: Path) -> str:
    """The remedy for a missing file: the nearest name in its folder, or which folder is missing."""
    folder = path.parent
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return f"; there is no folder {str(folder)!r} either"
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=1)
    return f"; did you mean {str(folder / near[0])!r}?" if near else ""
