"""Where files are, what they are called, and their bytes: of a path, a URL, standard input, a folder or a pattern."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap.data.unpack import SUFFIXES, ZIP, Content, unpacked
from sacrecap.errors import (
    DataError,
    MissingDependencyError,
    SacrecapError,
    UsageError,
    first_of,
    nearest,
    of_extra,
    warn,
)
from sacrecap.parameters import Parameter, one_of, read_call, read_parameters

if TYPE_CHECKING:
    from http.client import HTTPResponse

AUTO = "auto"
"""The format that is recognised from content."""
_PARAMETERS: dict[str, Parameter] = {
    "encoding": ("a name", str),
    "separator": ("a text", str),
    "rejected": ("keep", one_of("keep")),
}
PathLike = str | os.PathLike[str]


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
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+::?//|[a-z][a-z0-9]+::[a-z]", path) is not None and not os.path.exists(
        path
    )


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
        return unpacked(fetched(path), path)
    with reading(path):
        if path == "-":
            return unpacked(sys.stdin.buffer.read(), display_name(path))
        with open(path, "rb") as file:
            return unpacked(file.read(), display_name(path))


def content_of(path: PathLike, *, held: bool = True) -> Content:
    """The file behind a path, a URL, or ``-``: its bytes, read now, or opened each time. Errors as of `read_bytes`."""
    name = display_name(path)
    url = str(path) if is_remote(path) else None
    if not held and url is not None and not url.startswith(("http://", "https://")):
        return Content(name, again=lambda: opened_at(url))
    if held or url is not None or path == "-" or not os.path.isfile(path):
        return Content(name, read_bytes(path))
    with reading(path), open(path, "rb") as file:
        is_zip = file.read(len(ZIP)) == ZIP
    return Content(name, read_bytes(path)) if is_zip else Content(name, again=lambda: open(path, "rb"))


@contextlib.contextmanager
def reading(path: PathLike) -> Iterator[None]:
    """Turns an operating-system error, or any of a URL's file system, into a `DataError` that names file and remedy."""
    name = display_name(path)
    try:
        yield
    except SacrecapError:
        raise
    except FileNotFoundError:
        raise DataError(f"{name}: no such file{'' if is_remote(path) else _nearest(os.fspath(path))}") from None
    except IsADirectoryError:
        raise DataError(f"{name}: is a directory; name a file in it") from None
    except MemoryError:
        raise DataError(
            f"{name}: does not fit into the memory that this process may have; write it as JSON lines or Parquet, "
            "which --engine stream reads piece by piece"
        ) from None
    except PermissionError:
        raise DataError(f"{name}: may not be read by this user; change its permissions") from None
    except Exception as error:
        if not (isinstance(error, (OSError, ValueError)) or is_remote(path)):
            raise
        raise DataError(f"{name}: cannot be read: {_line(error)}") from None


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
    """The path of a file or folder in the user's cache folder.

    Linux names it by one variable; platformdirs, which knows other systems, takes 15 ms to load.
    """
    if sys.platform == "linux":
        variable = os.environ.get("XDG_CACHE_HOME", "").strip()
        folder = os.path.join(variable if os.path.isabs(variable) else os.path.expanduser("~/.cache"), "sacrecap")
    else:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("sacrecap")
    return os.path.join(folder, *names)


# What is not on this machine: `https://`, and all that fsspec supports, such as `hf://` and `s3://`


def fetched(url: str) -> bytes:
    """All bytes behind the URL: `http` and `https` by Python itself, all others by fsspec."""
    if not url.startswith(("http://", "https://")):
        with reading(url), opened_at(url) as file:
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
    with reading(url):
        return files.open(path, "rb")


def located(url: str) -> tuple[Any, str]:
    """The file system of a URL, by fsspec, else by pyarrow, and the path in it. Errors are those of `fetched`."""
    with of_extra("files", f"reading {url.partition(':')[0]}:// files"):
        import fsspec
    with reading(url):
        try:
            return fsspec.url_to_fs(url)  # type: ignore[no-any-return]
        except ImportError as error:
            try:
                import pyarrow.fs
                from fsspec.implementations.arrow import ArrowFSWrapper

                files, path = pyarrow.fs.FileSystem.from_uri(url)
            except Exception:  # noqa: BLE001 - pyarrow does not know it either
                raise MissingDependencyError(f"{url}: cannot be read: {_line(error)}") from None
            return ArrowFSWrapper(files), path


@contextlib.contextmanager
def opened(url: str) -> Iterator[HTTPResponse]:
    """A server's answer, by http or https. A refusal is closed: its connection would stay open with its error."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    request = Request(url, headers={"User-Agent": "sacrecap"})  # noqa: S310 - http or https, see above
    try:
        with urlopen(request, timeout=60) as response:  # noqa: S310
            yield response
    except HTTPError as error:
        error.close()
        raise


def _line(error: Exception) -> str:
    """The first line of an error's message, or its type if it has none."""
    return str(getattr(error, "strerror", None) or error).strip().partition("\n")[0] or type(error).__name__


# Files of a folder or a pattern

_SUFFIXES_OF = {
    "parquet": (".parquet", ".pq", ".parq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "jsonl": (".jsonl", ".ndjson", ".jsonlines"),
    "csv": (".csv", ".tsv"),
}
"""Formats, with the suffixes of the files that are read out of a folder; `.gz` and the like may follow."""


_READ = tuple(suffix for suffixes in _SUFFIXES_OF.values() for suffix in suffixes)
_OF_CAPTIONS = (".json", ".zip", ".xlsx", ".tar", *_READ)
"""Suffixes of files that a system's captions may be in."""


def files_of(url: str) -> list[str]:
    """The files of an input, by name: one that is named by itself, those of a folder or a pattern.

    Of a folder, the files of one format, also in its folders; names that begin with `_` or `.` are left out.
    """
    paths: list[str] | None = None
    if is_remote(url):
        paths = _find_elsewhere(url)
    elif os.path.isdir(url):
        paths = []
        for folder, folders, names in os.walk(url):
            folders[:] = filter(_counts, folders)
            paths += [os.path.join(folder, name) for name in names if _counts(name)]
    elif is_pattern(url) and not os.path.exists(url):
        paths = [match for match in glob.glob(url, recursive=True) if os.path.isfile(match)]
    if paths is None:
        return [url]
    name = display_name(url)
    by_suffix = {
        path: format
        for path in paths
        for format, suffixes in _SUFFIXES_OF.items()
        if _unpacked_name(path).endswith(suffixes)
    }
    formats = Counter(by_suffix.values())
    if len(formats) > 1:
        counted = " and ".join(f"{count:,} of {format}" for format, count in formats.items())
        raise DataError(f"{name}: has files of several formats, {counted}; choose by a pattern, as DIR/*.parquet")
    # Folders have other files of JSON beside those of captions, so they are read where a pattern names them.
    documents = [path for path in paths if is_pattern(url) and _unpacked_name(path).endswith(".json")]
    if not (formats or documents):
        raise DataError(
            f"{name}: has no files to read; their names end in {', '.join(_READ)}, and {', '.join(SUFFIXES)} may "
            "follow; those of JSON are named by a pattern, as DIR/*.json"
        )
    return sorted(by_suffix or documents)


def systems_in(folder: PathLike) -> list[str]:
    """The files of a folder, each the captions of a system, by name. It warns of those of other suffixes."""
    with reading(folder):
        files = sorted(entry.path for entry in os.scandir(folder) if entry.is_file() and _counts(entry.name))
    systems = [path for path in files if _unpacked_name(path).endswith(_OF_CAPTIONS)]
    suffixes = f"{', '.join(_OF_CAPTIONS)}, and {', '.join(SUFFIXES)} may follow"
    if len(systems) < 2:
        raise UsageError(
            f"{os.fspath(folder)}: has {'one file' if systems else 'no files'} of captions, where systems are "
            f"compared; their names end in {suffixes}"
        )
    if left_out := [os.path.basename(path) for path in files if path not in systems]:
        warn(f"{os.fspath(folder)}: not read: {first_of(left_out)}; names of files of captions end in {suffixes}")
    return systems


def _unpacked_name(url: str) -> str:
    """The name of the file in small letters, without the suffix of its compression."""
    name = url.lower().rpartition("/")[2].partition("?")[0]
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _find_elsewhere(url: str) -> list[str] | None:
    """The files of a folder or a pattern; None for one file."""
    files, path = located(url)
    kind = url.partition("://")[0]
    with reading(url):
        if is_pattern(path) and not files.exists(path):
            infos, inside = files.glob(path, detail=True), None
        elif files.info(path)["type"] != "directory":
            return None
        else:
            infos, inside = files.find(path, detail=True), path
        names = [name for name, info in infos.items() if info["type"] == "file"]
        if inside is not None:
            names = [name for name in names if all(map(_counts, name.removeprefix(inside).strip("/").split("/")))]
        return [f"{kind}://{name.lstrip('/')}" for name in names]


def _counts(name: str) -> bool:
    """Whether a file or folder inside a folder is data: not `_SUCCESS`, `_metadata`, `.part-0.crc` and the like."""
    return not name.startswith(("_", "."))
