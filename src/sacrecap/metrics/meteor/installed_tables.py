"""METEOR's tables: a file in the package `sacrecap-meteor`, mapped into memory.

The tables are shipped as they are used, compressed. They are unpacked into a copy in the user's cache folder. The name
of the copy comes from the content, so all environments of a user share it. It is written to a temporary file and
renamed, so two processes may start at once; a damaged copy is made again; a new copy takes the place of older ones.
Where no copy can be written, the tables are unpacked in memory.

To check a copy means to read all of its 65 MB, so it is done when the copy is new, and then once a day. A note beside
the copy says which state of the file was checked: its inode, its size, and the times when its content and its status
last changed; no program on POSIX systems can set back the latter. In any other state it is checked again. The tables
that were opened last stay open until the package's file changes.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec

from sacrecap import _core
from sacrecap.errors import DataError, MissingDependencyError, warn

PACKAGE = "sacrecap_meteor"
FILE = "english.tables.gz"

_MARK = b"sacre\0me"
"""The first bytes of each file of tables."""
_COPY = r"meteor-(?P<version>\d+)-[0-9a-f]{16}\.tables"
"""The name of a copy: version of the file's format, content of the package's file."""


def missing() -> str | None:
    """Explains why METEOR's tables are not available and what to do; None if they are available."""
    try:
        packed_file()
    except MissingDependencyError as error:
        return str(error)
    return None


def packed_file() -> str:
    """The path of the compressed tables. Raises `MissingDependencyError` where the package is not installed."""
    package = find_spec(PACKAGE)  # located, not imported: it is data alone
    if package is None or not package.submodule_search_locations:
        raise MissingDependencyError("METEOR", extra="meteor")
    return os.path.join(next(iter(package.submodule_search_locations)), "data", FILE)


def load() -> _core.MeteorTables:
    """The tables: those that are open, else those in a copy that is good, else unpacked.

    Raises:
        MissingDependencyError: sacrecap-meteor is not installed.
        DataError: its file is missing or damaged, or of another version of sacrecap.
    """
    path = packed_file()
    with _reading(path):
        status = os.stat(path)
    state = f"{path} {status.st_size} {status.st_mtime_ns}"
    if state in _open:
        return _open[state]
    with _reading(path), open(path, "rb") as file:
        file.seek(-8, os.SEEK_END)  # a gzip file ends with the CRC-32 and the length of what is in it
        content = file.read().hex()
    copy = os.path.join(cache_folder(), f"meteor-{_core.MeteorTables.VERSION}-{content}.tables")
    tables = _copied(copy)
    if tables is None:
        tables = _unpacked(path)
        with contextlib.suppress(OSError, DataError):  # unpacking takes a third of a second: nothing to warn of
            _keep(tables, copy)
    _open.clear()
    _open[state] = tables
    return tables


_open: dict[str, _core.MeteorTables] = {}
"""The open tables, by the state of the package's file.

No lock: if two threads come first at the same time, both open the tables, and one result is kept. A forked process
shares the memory of its parent.
"""


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """Turns the errors of a damaged installation into a `DataError` that says so."""
    try:
        yield
    except Exception as error:
        import zlib

        if isinstance(error, (OSError, EOFError, zlib.error)):
            raise DataError(f"{path}: METEOR's tables cannot be read: {error}; install them again") from error
        raise


def cache_folder() -> str:
    """The user's cache folder. Linux names it by one variable; platformdirs, which knows other systems, takes
    15 ms to load.
    """
    if sys.platform != "linux":
        from platformdirs import user_cache_dir

        return user_cache_dir("sacrecap")
    named = os.environ.get("XDG_CACHE_HOME", "").strip()
    return os.path.join(named if os.path.isabs(named) else os.path.expanduser("~/.cache"), "sacrecap")


def _copied(copy: str) -> _core.MeteorTables | None:
    """The tables in the copy; None if it is not there, may not be read, or is damaged."""
    try:
        status = os.stat(copy)
        is_checked = _was_checked(copy, status)
        tables = _core.MeteorTables.load(copy, known_good=is_checked)
    except OSError:
        return None
    except DataError as error:
        warn(f"{error}; METEOR's tables are made again")
        return None
    # Not of a copy that may have changed since without a change of its times.
    if not is_checked and time.time() - max(status.st_mtime, status.st_ctime) > _TICK:
        with contextlib.suppress(OSError), open(copy + _NOTE, "w", encoding="ascii") as note:
            note.write(_described(status))
    return tables


_NOTE = ".checked"
"""What the name of the note has after the name of its copy."""
_DAY = 24 * 60 * 60
_TICK = 2
"""Seconds in which a file may change twice without a change of its times: FAT counts them in twos."""


def _was_checked(copy: str, status: os.stat_result) -> bool:
    """Whether the copy was checked today, in this state."""
    try:
        with open(copy + _NOTE, encoding="ascii", errors="replace") as note:
            return note.read() == _described(status) and abs(time.time() - os.fstat(note.fileno()).st_mtime) < _DAY
    except OSError:
        return False


def _described(status: os.stat_result) -> str:
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}\n"


def _unpacked(path: str) -> _core.MeteorTables:
    import gzip

    with _reading(path), gzip.open(path) as file:
        content = file.read()
    try:
        return _core.MeteorTables(content)
    except DataError as error:
        raise DataError(f"{path}: {error}; install sacrecap and sacrecap-meteor again") from error


def _keep(tables: _core.MeteorTables, copy: str) -> None:
    """Writes the copy, then removes those whose place it takes. Raises `OSError` or `DataError`."""
    from sacrecap.data.writers import atomic_write

    folder, name = os.path.split(copy)
    os.makedirs(folder, exist_ok=True)
    with atomic_write(copy, "wb") as file:
        file.write(tables.to_bytes())
    new = re.fullmatch(_COPY, name)
    for older in os.listdir(folder):
        old = re.fullmatch(_COPY, older)
        # A newer format stays: the installation that reads it would write it again, and remove this one.
        if older == name or not (new and old and int(old["version"]) <= int(new["version"])):
            continue
        # Windows does not remove a file that a process has mapped. It stays until the next copy is written.
        with contextlib.suppress(OSError):
            _remove(os.path.join(folder, older))


def _remove(copy: str) -> None:
    """Removes a copy, never anything else of such a name."""
    if stat.S_ISREG(os.lstat(copy).st_mode):
        with open(copy, "rb") as file:
            is_ours = file.read(len(_MARK)) == _MARK
        if is_ours:
            os.remove(copy)
            with contextlib.suppress(OSError):
                os.remove(copy + _NOTE)
