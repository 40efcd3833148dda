"""Files of a large input: on this machine, or on any file system that fsspec or pyarrow knows."""

from __future__ import annotations

import contextlib
import glob
import os
import uuid
from collections.abc import Iterator
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from sacrecap.data.source import is_remote, reading
from sacrecap.errors import DataError, MissingDependencyError, SacrecapError

if TYPE_CHECKING:
    import pyarrow

_PATTERN = "*?["


class Found(NamedTuple):
    """A file that was found."""

    url: str
    bytes: int
    modified: str
    """When it was written, as its file system says; empty if that says nothing."""


class FileSystem(Protocol):
    """What the readers and writers need of a file system. Each function raises `DataError` if it cannot."""

    def find(self, url: str) -> list[Found]:
        """The file; or the files in the folder and the folders in it; or those that fit the pattern."""

    def open(self, url: str) -> pyarrow.NativeFile:
        """The file, to read any bytes of it."""

    def names(self, folder: str) -> list[str]:
        """Names of the files in the folder, sorted; none where there is no such folder."""

    def writing(self, url: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """A new file under another name, which takes this one when the block ends well, and else goes away."""

    def remove(self, url: str) -> None:
        """Removes a file."""

    def remove_folder(self, url: str) -> None:
        """Removes a folder, if nothing is in it."""


def file_system(url: str) -> FileSystem:
    """The file system of a path or URL.

    Raises:
        DataError: the URL is of a kind that nobody knows.
        MissingDependencyError: its kind needs a package that is not installed.
    """
    if not is_remote(url) or url.startswith("file://"):
        return Local()
    return _remote(url.partition("://")[0], url)


def join_url(folder: str, name: str) -> str:
    """The URL of a file in a folder."""
    return f"{folder.rstrip('/')}/{name}" if folder.rstrip("/") else f"{folder}{name}"


def import_pyarrow() -> Any:
    """The module. Raises `MissingDependencyError` if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise MissingDependencyError("reading an input in parts", extra="parquet") from None
    return pyarrow


class Local:
    """The files of this machine."""

    def find(self, url: str) -> list[Found]:
        """See `FileSystem`. Paths become absolute, since workers have folders of their own."""
        path = os.path.abspath(url.removeprefix("file://"))
        if os.path.isdir(path):
            paths = []
            for folder, folders, names in os.walk(path):
                folders[:] = filter(_counts, folders)
                paths += [os.path.join(folder, name) for name in names if _counts(name)]
        elif any(sign in path for sign in _PATTERN) and not os.path.exists(path):
            paths = [one for one in glob.glob(path, recursive=True) if os.path.isfile(one)]
        else:
            paths = [path]
        return [self._found(one) for one in sorted(paths)]

    def _found(self, path: str) -> Found:
        with reading(path):
            info = os.stat(path)
        return Found(path, info.st_size, str(info.st_mtime_ns))

    def open(self, url: str) -> pyarrow.NativeFile:
        """See `FileSystem`."""
        with reading(url):
            return import_pyarrow().OSFile(url.removeprefix("file://"), "rb")

    def names(self, folder: str) -> list[str]:
        """See `FileSystem`."""
        try:
            with reading(folder):
                return sorted(entry.name for entry in os.scandir(folder.removeprefix("file://")) if entry.is_file())
        except DataError:
            if not os.path.exists(folder.removeprefix("file://")):
                return []
            raise

    @contextlib.contextmanager
    def writing(self, url: str) -> Iterator[IO[bytes]]:
        """See `FileSystem`."""
        path = url.removeprefix("file://")
        folder, name = os.path.split(path)
        beside = os.path.join(folder, _unfinished(name))
        try:
            with _writing(url):
                os.makedirs(folder or ".", exist_ok=True)
                with open(beside, "xb") as file:
                    yield file
                os.replace(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(beside)
            raise

    def remove(self, url: str) -> None:
        """See `FileSystem`."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(url.removeprefix("file://"))

    def remove_folder(self, url: str) -> None:
        """See `FileSystem`."""
        with contextlib.suppress(OSError):
            os.rmdir(url.removeprefix("file://"))


class Remote:
    """The files of a file system of fsspec's; pickled, it is made again."""

    def __init__(self, kind: str, fs: Any) -> None:
        self._kind, self._fs = kind, fs

    def _url(self, path: str) -> str:
        return f"{self._kind}://{path.lstrip('/')}"

    def find(self, url: str) -> list[Found]:
        """See `FileSystem`."""
        with _remotely(url):
            path = self._fs._strip_protocol(url)
            if any(sign in path for sign in _PATTERN) and not self._fs.exists(path):
                infos = self._fs.glob(path, detail=True)
            else:
                info = self._fs.info(path)
                infos = {path: info}
                if info["type"] == "directory":
                    infos = {
                        name: own
                        for name, own in self._fs.find(path, detail=True).items()
                        if all(map(_counts, name.removeprefix(path).strip("/").split("/")))
                    }
            return sorted(
                Found(url if name == path else self._url(name), int(own.get("size") or 0), _modified(own))
                for name, own in infos.items()
                if own["type"] == "file"
            )

    def open(self, url: str) -> pyarrow.NativeFile:
        """See `FileSystem`."""
        with _remotely(url):
            return import_pyarrow().PythonFile(self._fs.open(url, "rb"), mode="r")

    def names(self, folder: str) -> list[str]:
        """See `FileSystem`."""
        with _remotely(folder):
            self._fs.invalidate_cache()
            if not self._fs.isdir(folder):
                return []
            return sorted(
                own["name"].rstrip("/").rpartition("/")[2]
                for own in self._fs.ls(folder, detail=True)
                if own["type"] == "file"
            )

    @contextlib.contextmanager
    def writing(self, url: str) -> Iterator[IO[bytes]]:
        """See `FileSystem`."""
        folder, _, name = url.rpartition("/")
        beside = join_url(folder, _unfinished(name))
        try:
            with _remotely(url, "written"):
                self._fs.makedirs(folder, exist_ok=True)
                opened = self._fs.open(beside, "wb")
            with _writing(url), opened as file:
                yield file
            with _remotely(url, "written"):
                self._fs.mv(beside, url)
        except BaseException:
            with contextlib.suppress(Exception):
                self._fs.rm(beside)
            raise

    def remove(self, url: str) -> None:
        """See `FileSystem`."""
        with _remotely(url, "removed"), contextlib.suppress(FileNotFoundError):
            self._fs.rm(url)

    def remove_folder(self, url: str) -> None:
        """See `FileSystem`."""
        with contextlib.suppress(Exception):
            self._fs.rmdir(url)


@lru_cache(maxsize=32)
def _remote(kind: str, url: str) -> Remote:
    """The file system of this kind of URL, by fsspec, else by pyarrow itself."""
    try:
        import fsspec
    except ImportError:
        raise MissingDependencyError(f"reading {kind}:// files", extra="files") from None
    try:
        return Remote(kind, fsspec.url_to_fs(url)[0])
    except ImportError as error:
        try:
            import pyarrow.fs

            return Remote(kind, fsspec.implementations.arrow.ArrowFSWrapper(pyarrow.fs.FileSystem.from_uri(url)[0]))
        except Exception:  # noqa: BLE001 - pyarrow does not know it either
            raise MissingDependencyError(f"{url}: cannot be read: {_line(error)}") from None
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        raise DataError(f"{url}: cannot be read: {_line(error)}") from None


@contextlib.contextmanager
def _remotely(url: str, done: str = "read") -> Iterator[None]:
    """Turns any error of a file system into a `DataError` that names the file."""
    try:
        yield
    except SacrecapError:
        raise
    except FileNotFoundError:
        raise DataError(f"{url}: no such file") from None
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        raise DataError(f"{url}: cannot be {done}: {_line(error)}") from None


@contextlib.contextmanager
def _writing(url: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"{url}: cannot be written: {error.strerror or error}") from None


def _unfinished(name: str) -> str:
    """A name for a file that is not whole; two workers on the same part have different ones. No reader takes it."""
    return f".{name}.{uuid.uuid4().hex[:12]}"


def _counts(name: str) -> bool:
    """Whether a file or folder inside a folder is data: not `_SUCCESS`, `_metadata`, `.part-0.crc` and the like."""
    return not name.startswith(("_", "."))


def _modified(info: dict[str, Any]) -> str:
    """What changes when the file does: its entity tag, else when it was written."""
    known = (
        info.get(name) for name in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated")
    )
    return str(next((value for value in known if value), ""))


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
