"""Where a file is, what it is called, and its bytes: of a path, a URL, or standard input."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from sacrecap.data.unpack import SUFFIXES, ZIP, Content, unpacked
from sacrecap.errors import DataError, SacrecapError, nearest
from sacrecap.parameters import Parameter, one_of, read_call, read_parameters

AUTO = "auto"
"""The format that is recognised from content."""
_PARAMETERS: dict[str, Parameter] = {
    "encoding": ("a name", str),
    "separator": ("a text", str),
    "rejected": ("keep", one_of("keep")),
}
PathLike = str | os.PathLike[str]

_REMOTE = r"[A-Za-z][A-Za-z0-9+.-]+::?//|[a-z][a-z0-9]+::[a-z]"


class Reading(NamedTuple):
    """How a file is to be read, as far as somebody says so: arguments of `sacrecap.data.read_references`."""

    format: str | None = None
    split: str | None = None
    encoding: str | None = None
    separator: str | None = None
    rejected: str | None = None
    """`keep` for captions that their data set itself excludes, which else are left out."""

    @classmethod
    def of(
        cls, format: str | None, split: str | None = None, encoding: str | None = None, separator: str | None = None
    ) -> Reading:
        """The same of a format that may have parameters: `csv(encoding=cp1252)`. Raises `UsageError` for others."""
        if format is None or "(" not in format:
            return cls(None if format == AUTO else format, split, encoding, separator)
        name, texts = read_call("a format", format)
        stated = {"split": split, "encoding": encoding, "separator": separator}
        how = read_parameters(f"the format {name}", texts, _PARAMETERS)
        return cls(None if name == AUTO else name, **{**stated, **how})


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
    """The name of the file in messages: its path, or ``<stdin>`` for ``-``. What is not UTF-8 in it is `�`."""
    name = "<stdin>" if path == "-" else os.fspath(path)
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def system_name(path: PathLike) -> str:
    """The name of the system whose captions are in this file: the file's name, without folder and suffix."""
    if path == "-":
        return "standard input"
    name = os.path.basename(display_name(path))
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

        return unpacked(fetched(path), path)
    with reading(path):
        if path == "-":
            return unpacked(sys.stdin.buffer.read(), display_name(path))
        with open(path, "rb") as file:
            return unpacked(file.read(), display_name(path))


def content_of(path: PathLike, *, held: bool = True) -> Content:
    """The file behind a path, a URL, or ``-``: its bytes, read now, or opened each time. Errors as of `read_bytes`."""
    name = display_name(path)
    if held or path == "-" or not (is_remote(path) or os.path.isfile(path)):
        return Content(name, read_bytes(path))
    if isinstance(path, str) and is_remote(path):
        if path.startswith(("http://", "https://")):
            return Content(name, read_bytes(path))
        from sacrecap.data.remote import opened_at

        return Content(name, again=lambda: opened_at(path))
    with reading(path), open(path, "rb") as file:
        is_zip = file.read(len(ZIP)) == ZIP
    return Content(name, read_bytes(path)) if is_zip else Content(name, again=lambda: open(path, "rb"))


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
    except MemoryError:
        raise DataError(
            f"{name}: does not fit into the memory that this process may have; write it as JSON lines or Parquet, "
            "which --engine stream reads piece by piece"
        ) from None
    except PermissionError:
        raise DataError(f"{name}: may not be read by this user; change its permissions") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{name}: cannot be read: {error}") from None


def _nearest(path: str) -> str:
    """A hint for a missing file: the nearest name in its folder, or which folder is missing."""
    folder, name = os.path.split(path)
    try:
        names = sorted(os.listdir(folder or "."))
    except FileNotFoundError:
        return f"; there is no folder {folder!r} either"
    except OSError:
        return ""
    near = nearest(name, names)
    return f"; did you mean {os.path.join(folder, near[0])!r}?" if near else ""


def in_cache(*names: str) -> str:
    """The path of a file or folder in the user's cache folder."""
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("sacrecap"), *names)
