"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from typing import IO, Any, Literal

from sacrecap.data.source import PathLike
from sacrecap.errors import DataError

_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""Error numbers of writing itself, wherever in the body it happens."""


@contextlib.contextmanager
def atomic_write(path: PathLike, mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under ``path`` only when the block ends without an error.

    Data goes to a temporary file in the same folder, which is synchronised and renamed, or removed on any error, so
    that a reader sees the old file or the new one. ``-`` is standard output; a device or pipe is written
    directly. Text is UTF-8, and line ends are written as given.

    Raises:
        DataError: the place cannot be written; the message says why and what to do.
    """
    if path == "-":
        with _as_data_error("<stdout>", only=_STORAGE):
            yield sys.stdout if mode == "w" else sys.stdout.buffer
            sys.stdout.flush()
        return
    target, info = _target(path)
    if info is not None and not stat.S_ISREG(info.st_mode):
        with _as_data_error(path):
            device = _open(target, mode)
        with _as_data_error(path, only=_STORAGE), device:
            yield device
        return
    beside = _name_beside(target)
    _unfinished.add(beside)
    try:
        with _as_data_error(path):
            file = _open(beside, mode.replace("w", "x"))
        with _as_data_error(path, only=_STORAGE), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _as_data_error(path):
            if info is not None:
                os.chmod(beside, stat.S_IMODE(info.st_mode))
            replace(beside, target)
    except BaseException:
        _remove(beside)
        raise
    finally:
        _unfinished.discard(beside)


def check_writable(path: PathLike) -> None:
    """Raises the `DataError` that `atomic_write` would raise, before a long computation instead of after it."""
    if path == "-":
        return
    target, info = _target(path)
    if info is None or stat.S_ISREG(info.st_mode):
        with _as_data_error(path):
            _open(beside := _name_beside(target), "xb").close()
            _remove(beside)


def _target(path: PathLike) -> tuple[str, os.stat_result | None]:
    """The file that the path leads to, and the status of what exists there."""
    with _as_data_error(path):
        target = os.path.realpath(path)
        info = os.stat(target) if os.path.exists(target) else None
        if not os.path.basename(path) or (info is not None and stat.S_ISDIR(info.st_mode)):
            raise IsADirectoryError
    return target, info


def _name_beside(target: str) -> str:
    return os.path.join(os.path.dirname(target), f".sacrecap-{os.urandom(6).hex()}.tmp")


def replace(new: str, target: str) -> None:
    """Give a file the name of another, also where that one is memory-mapped.

    Windows neither replaces nor removes a mapped file, but renames it: the old one then goes aside, under a name that
    begins with `.sacrecap-` and ends with `.old`, and is removed by a later call, once nobody maps it any more.
    """
    if os.name != "nt":
        os.replace(new, target)
        return
    folder = os.path.dirname(target) or "."
    for name in os.listdir(folder):
        if name.startswith(".sacrecap-") and name.endswith(".old"):
            _remove(os.path.join(folder, name))
    try:
        os.replace(new, target)
    except PermissionError:
        aside = _name_beside(target).removesuffix(".tmp") + ".old"
        os.rename(target, aside)
        try:
            os.rename(new, target)
        except OSError:
            os.rename(aside, target)
            raise
        _remove(aside)


_unfinished: set[str] = set()


def discard_unfinished() -> None:
    """Removes the files being written, for a process that ends without unwinding."""
    for path in tuple(_unfinished):
        _remove(path)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)


def _open(path: str, mode: str) -> IO[Any]:
    return open(path, mode) if "b" in mode else open(path, mode, encoding="utf-8", newline="")


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
            f"{os.fspath(path)}: cannot be written: {_remedy(error, os.path.dirname(path) or '.')}"
        ) from error


def _remedy(error: OSError | ValueError, folder: str) -> str:
    match error:
        case FileNotFoundError() if not os.path.isdir(folder):
            return f"there is no folder {folder!r}; make it first"
        case IsADirectoryError():
            return "it is a directory; name a file in it"
        case NotADirectoryError():
            return f"{folder!r} is not a folder"
        case PermissionError() | FileNotFoundError():
            return f"this user may not write in {folder!r}; choose another place"
        case OSError(errno=errno.EBADF):
            return "it is closed; name a file with --output"
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return "no space is left; free some, or choose another place (an existing file is unchanged)"
        case _:
            return str(error)
