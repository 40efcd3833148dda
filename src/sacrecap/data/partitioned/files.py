"""Files on this machine or, behind URLs, on any file system that fsspec or pyarrow knows.

Each function raises `DataError` if it cannot do what it is for, and `MissingDependencyError` for a URL of a kind that
needs a package which is not installed.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from sacrecap.data.listing import local_path
from sacrecap.data.remote import asked, located
from sacrecap.data.source import reading
from sacrecap.errors import DataError, of_extra

if TYPE_CHECKING:
    import pyarrow


def join_url(folder: str, name: str) -> str:
    """The URL of a file in a folder."""
    return f"{folder.rstrip('/')}/{name}" if folder.rstrip("/") else f"{folder}{name}"


def import_pyarrow() -> Any:
    """The module. Raises `MissingDependencyError` if it is not installed."""
    with of_extra("parquet", "reading an input in parts"):
        import pyarrow
    return pyarrow


def open_file(url: str) -> pyarrow.NativeFile:
    """The file, to read any bytes of it."""
    pyarrow, path = import_pyarrow(), local_path(url)
    if path is not None:
        with reading(path):
            return pyarrow.OSFile(path, "rb")
    files, path = located(url)
    with asked(url):
        return pyarrow.PythonFile(files.open(path, "rb"), mode="r")


def names_in(folder: str) -> list[str]:
    """Names of the files in the folder, sorted; none where there is no such folder."""
    path = local_path(folder)
    if path is not None:
        if not os.path.exists(path):
            return []
        with reading(path):
            return sorted(entry.name for entry in os.scandir(path) if entry.is_file())
    files, path = located(folder)
    with asked(folder):
        files.invalidate_cache()
        infos = files.ls(path, detail=True) if files.isdir(path) else []
        return sorted(own["name"].rstrip("/").rpartition("/")[2] for own in infos if own["type"] == "file")


class _Here:
    """The file system of this machine, in the words of fsspec."""

    open = staticmethod(open)
    makedirs = staticmethod(os.makedirs)
    mv = staticmethod(os.replace)
    rm = staticmethod(os.remove)
    rmdir = staticmethod(os.rmdir)


def _place(url: str) -> tuple[Any, str]:
    path = local_path(url)
    return (_Here, path) if path is not None else located(url)


@contextlib.contextmanager
def writing(url: str) -> Iterator[IO[bytes]]:
    """A new file, which takes its name when the block ends well, and else goes away; its folder is made."""
    files, path = _place(url)
    folder, name = os.path.split(path)
    # Two workers on the same part have different ones, and no reader takes them.
    beside = join_url(folder, f".{name}.{uuid.uuid4().hex[:12]}")
    try:
        with asked(url, "written"):
            files.makedirs(folder or ".", exist_ok=True)
            opened = files.open(beside, "wb")
        try:
            with opened as file:
                yield file
        except OSError as error:
            raise DataError(f"{url}: cannot be written: {error.strerror or error}") from None
        with asked(url, "written"):
            files.mv(beside, path)
    except BaseException:
        with contextlib.suppress(Exception):
            files.rm(beside)
        raise


def remove(url: str) -> None:
    """Removes a file, if it is there."""
    files, path = _place(url)
    with asked(url, "removed"), contextlib.suppress(FileNotFoundError):
        files.rm(path)


def remove_folder(url: str) -> None:
    """Removes a folder, if nothing is in it."""
    files, path = _place(url)
    with contextlib.suppress(Exception):
        files.rmdir(path)
