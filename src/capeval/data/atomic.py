"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal

from capeval.data.source import PathLike
from capeval.errors import DataError

_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of a write itself, wherever in the body it happens."""


@contextlib.contextmanager
def atomic_write(path: PathLike, mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """Open a file that takes its place under ``path`` only when the block ends well.

    What is written goes to a file beside it, which is synchronised and renamed, or removed on any error, so
    that a reader sees the old file or the new one. ``-`` is standard output; a device or pipe is written
    directly. Text is UTF-8, and line ends are written as given.

    Raises:
        DataError: the place cannot be written; the message says why and what to do.
    """
    if path == "-":
        yield sys.stdout if mode == "w" else sys.stdout.buffer
        sys.stdout.flush()
        return
    with _as_data_error(path):
        target = Path(os.path.realpath(path))
        info = target.stat() if target.exists() else None
        if info is not None and stat.S_ISDIR(info.st_mode):
            raise IsADirectoryError
    if info is not None and not stat.S_ISREG(info.st_mode):
        with _as_data_error(path):
            device = _open(target, mode)
        with device:
            yield device
        return
    yield from _beside(path, target, mode, None if info is None else stat.S_IMODE(info.st_mode))


def _beside(path: PathLike, target: Path, mode: str, permissions: int | None) -> Iterator[IO[Any]]:
    """Write a file beside the target, then rename it."""
    beside = target.with_name(f".capeval-{os.urandom(6).hex()}.tmp")
    with _as_data_error(path):
        file = _open(beside, mode.replace("w", "x"))
    _unfinished.add(beside)
    try:
        with _as_data_error(path, only=_STORAGE), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _as_data_error(path):
            if permissions is not None:
                os.chmod(beside, permissions)
            os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    finally:
        _unfinished.discard(beside)


_unfinished: set[Path] = set()


def discard_unfinished() -> None:
    """Removes the files being written, for a process that ends without unwinding."""
    for path in tuple(_unfinished):
        path.unlink(missing_ok=True)


def _open(path: Path, mode: str) -> IO[Any]:
    return path.open(mode) if "b" in mode else path.open(mode, encoding="utf-8", newline="")


@contextlib.contextmanager
def _as_data_error(path: PathLike, only: set[int] | None = None) -> Iterator[None]:
    """Turn an operating-system error (``only`` these numbers, where given) into one that names a remedy."""
    try:
        yield
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        if only is not None and number not in only:
            raise
        raise DataError(
            f"{os.fspath(path)}: cannot be written: {_remedy(error, Path(path).parent)}"
        ) from error


def _remedy(error: OSError | ValueError, folder: Path) -> str:
    match error:
        case FileNotFoundError():
            return f"there is no folder {str(folder)!r}; make it first"
        case IsADirectoryError():
            return "it is a directory; name a file in it"
        case NotADirectoryError():
            return f"{str(folder)!r} is not a folder"
        case PermissionError():
            return f"this user may not write in {str(folder)!r}; choose another place"
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return "no space is left; the file there before, if any, is unchanged"
        case _:
            return str(error)
