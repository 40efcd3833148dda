"""The bytes of a file or of standard input, decompressed, or an error that says what to do.

The compression is recognised from a file's first bytes.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sacrecap.errors import DataError, MissingDependencyError, SacrecapError, UsageError, first_of, of_extra

PathLike = str | os.PathLike[str]

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of compressed files."""

_ZIP = b"PK\x03\x04"
_EXCEL = "[Content_Types].xml"
"""A part of every Excel file."""
_REMOTE = r"[A-Za-z][A-Za-z0-9+.-]+::?//|[a-z][a-z0-9]+::[a-z]"


class Reading(NamedTuple):
    """How a file is to be read, as far as somebody says so: arguments of `sacrecap.data.read_references`."""

    format: str | None = None
    split: str | None = None
    encoding: str | None = None
    separator: str | None = None

    def needs_whole(self, *, of_text: bool) -> bool:
        """Whether a file is read whole for it; only text has an encoding."""
        return self.format is not None or self.split is not None or (of_text and self.encoding is not None)


def is_remote(path: object) -> bool:
    """Whether this is a URL, such as `https://host/file` or `simplecache::s3://bucket/file`, and not a file's name."""
    if not isinstance(path, str) or not ("://" in path or "::" in path):
        return False
    return re.match(_REMOTE, path) is not None and not os.path.exists(path)


def is_pattern(path: str) -> bool:
    """Whether the path has signs of a pattern, such as `data/*.parquet`."""
    return any(sign in path for sign in "*?[")


def names_several(path: PathLike) -> bool:
    """Whether this is a pattern, a folder, or the URL of one, which ends with a slash."""
    if path == "-":
        return False
    if is_remote(path):
        url = str(path)
        return not url.startswith(("http://", "https://")) and (url.endswith("/") or is_pattern(url))
    return os.path.isdir(path) or (is_pattern(os.fspath(path)) and not os.path.exists(path))


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


def compression(start: bytes) -> str | None:
    """How a file that begins so is compressed: `gzip`, `bzip2`, `xz`, `zstd`, or not."""
    return next((kind for magic, (kind, _) in _KINDS.items() if start.startswith(magic)), None)


def decompressed(data: bytes, name: str) -> bytes:
    """The bytes, decompressed from gzip, bzip2, xz or zstd.

    Raises:
        DataError: the compressed data is broken or ends early; the message begins with `name`.
        MissingDependencyError: zstd data, and no package for zstd is installed.
    """
    if data.startswith(_ZIP):
        return _unzipped(data, name)
    for magic, (kind, undo) in _KINDS.items():
        if data.startswith(magic):
            try:
                return undo(data)
            except MissingDependencyError:
                raise
            except EOFError:
                raise DataError(f"{name}: the {kind} data ends early; write or download the file again") from None
            except Exception as error:  # noqa: BLE001 - each library has errors of its own
                raise DataError(f"{name}: broken {kind} data ({error}); write or download the file again") from None
    return data


def recoded(data: bytes, encoding: str, name: str) -> bytes:
    """A text in another encoding as UTF-8; one that is UTF-8 stays as it is.

    Raises:
        DataError: it is not in that encoding; the message begins with `name`.
        UsageError: no such encoding.
    """
    try:
        codecs.lookup(encoding)
        if b"\0" not in data and _is_utf8(data):
            return data
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except LookupError:
        raise UsageError(
            f"no encoding is called {encoding!r}; Python knows utf-16, cp1252, gb18030, shift_jis and others"
        ) from None
    except UnicodeError as error:
        raise DataError(
            f"{name}: is not {encoding} ({error}); name another encoding, or leave it out for UTF-8"
        ) from None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _unzipped(data: bytes, name: str) -> bytes:
    """The one file in a zip; unchanged what is a zip by its own format: an Excel file, NumPy's arrays."""
    import io
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if _EXCEL in names or all(one.endswith(".npy") for one in names):
                return data
            files = [one for one in names if not (one.endswith("/") or one.startswith("__MACOSX/"))]
            if len(files) == 1:
                return decompressed(archive.read(files[0]), name)
    except Exception as error:  # noqa: BLE001 - the library has errors of its own, and lets those of others through
        raise DataError(f"{name}: broken zip ({error}); write or download the file again") from None
    raise DataError(
        f"{name}: is a zip of {len(files)} files ({first_of(files)}), where one is read; unpack it and name the file"
    )


def _gzip(data: bytes) -> bytes:
    import gzip

    return gzip.decompress(data)


def _bzip2(data: bytes) -> bytes:
    import bz2

    if data[4:10] not in (b"1AY&SY", b"\x17rE8P\x90"):
        return data  # a text that begins with the same bytes
    return _whole(bz2.BZ2Decompressor, data)


def _xz(data: bytes) -> bytes:
    import lzma

    return _whole(lzma.LZMADecompressor, data)


def _whole(decompressor: Callable[[], object], data: bytes) -> bytes:
    """All streams, one after the other. The libraries' own functions drop a second stream that is cut off."""
    pieces = []
    while data:
        stream: object = decompressor()
        pieces.append(stream.decompress(data))  # type: ignore[attr-defined]
        if not stream.eof:  # type: ignore[attr-defined]
            raise EOFError
        data = stream.unused_data.lstrip(b"\0")  # type: ignore[attr-defined]
    return b"".join(pieces)


def _zstd(data: bytes) -> bytes:
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        return _zstd_of_arrow(data)
    return zstd.decompress(data)  # type: ignore[no-any-return, unused-ignore]


def _zstd_of_arrow(data: bytes) -> bytes:
    with of_extra("files", "reading files compressed by zstd"):
        import pyarrow
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as file:
        return file.read()  # type: ignore[no-any-return]


_KINDS: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gzip", _gzip),
    b"BZh": ("bzip2", _bzip2),
    b"\xfd7zXZ\x00": ("xz", _xz),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
}
