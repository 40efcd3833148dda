"""METEOR's tables: a file for each language, mapped into memory.

The English tables are shipped as they are used, compressed. They are unpacked into a copy in the user's cache folder.
The tables of a METEOR release are built from its texts, which takes seconds, and a copy is kept there too. The name of
a copy comes from the content of its source, so all environments of a user share it. It is written to a temporary file
and renamed, so two processes may start at once; a damaged copy is made again; a new copy takes the place of older ones.
Where no copy can be written, the tables are made in memory.

To check a copy means to read all of its 65 MB, so it is done when the copy is new, and then once a day. A note beside
the copy says which state of the file was checked: its inode, its size, and the times when its content and its status
last changed; no program on POSIX systems can set back the latter. In any other state it is checked again. For each
language, the tables that were opened last stay open until their source files change.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
from collections.abc import Callable
from os import PathLike

from sacrecap import _core
from sacrecap.errors import DataError, MissingDependencyError, warn
from sacrecap.metrics.meteor.sources import Package, TableSource, find, reading
from sacrecap.resources.needs import WorkShare

FUNCTION_WORDS = "function/english.words"
"""The program takes the English function words for every language, unless told otherwise."""
SYNONYMS = ("synonym/english.synsets", "synonym/english.exceptions")

_LANGUAGES = {code: (prefixes, modules) for code, prefixes, modules, _ in _core.METEOR_LANGUAGES}

_MARK = b"sacre\0me"
"""The first bytes of each file of tables."""
_COPY = r"meteor-(?P<language>[a-z]+)-(?P<version>\d+)-(?P<made>shipped|built)-[0-9a-f]{16}\.tables"
"""The name of a copy: language, version of the file's format, how it was made, content of the source."""


def missing(folder: str | PathLike[str] | None = None) -> str | None:
    """Explains why METEOR's tables are not available and what to do; None if they are available."""
    try:
        find(folder)
    except (DataError, MissingDependencyError) as error:
        return str(error)
    return None


def load(
    folder: str | PathLike[str] | None = None, language: str = "en", progress: Callable[[float], object] | None = None
) -> _core.MeteorTables:
    """The tables: those that are open, else those in a copy that is good, else unpacked or built.

    Args:
        folder: a METEOR 1.5 release, or any folder laid out like one; the installed package by default.
        language: METEOR's name of it. If the source lacks the language's paraphrase table, there is a warning and
            phrases are not matched; for English this is an error.
        progress: called with the finished share, 0 to 1, while the tables of a release are built.

    Raises:
        MissingDependencyError: no folder was given, and neither sacrecap-meteor nor pycocoevalcap is installed.
        DataError: the source lacks a file, or one of them is not what it should be.
    """
    source = find(folder)
    state = _state(source, language)
    opened_from, tables = _open.get(language, ("", None))
    if opened_from != state or tables is None:
        tables = _opened(source, language, progress or _silent)
        _open[language] = state, tables
    if "paraphrase" in _LANGUAGES[language][1] and "paraphrase" not in tables.modules:
        warn(
            f"{source}: no paraphrase table of {language} in it; METEOR matches words of language {language} without "
            "paraphrases (a METEOR 1.5 release has the table)"
        )
    return tables


_open: dict[str, tuple[str, _core.MeteorTables]] = {}
"""The open tables of each language, with the state of their source files.

No lock: if two threads come first at the same time, both open the tables, and one result is kept. A forked process
shares the memory of its parent.
"""


def _state(source: TableSource, language: str) -> str:
    """A text that changes when a source file of the language does."""
    described = [str(source)]
    with reading(source):
        for path in source.files(language):
            status = os.stat(path)
            described.append(f"{os.path.basename(path)} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(described)


def _silent(_: float) -> None:
    """The default progress callback: does nothing."""


def _opened(source: TableSource, language: str, progress: Callable[[float], object]) -> _core.MeteorTables:
    key = source.key(language)
    if key is None:
        return build(source, language, _silent)
    copy = os.path.join(cache_folder(), f"meteor-{language}-{_core.MeteorTables.VERSION}-{key}.tables")
    tables = _copied(copy)
    if tables is None:
        tables = _unpacked(source) if isinstance(source, Package) else build(source, language, progress)
        try:
            _keep(tables, copy)
        except (OSError, DataError) as error:
            if not isinstance(source, Package):  # unpacking takes a third of a second: nothing to warn of
                warn(f"METEOR's tables of {source} are not kept, so each process spends seconds on them: {error}")
    return tables


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
        known = _was_checked(copy, status)
        tables = _core.MeteorTables.load(copy, known_good=known)
    except OSError:
        return None
    except DataError as error:
        warn(f"{error}; METEOR's tables are made again")
        return None
    if not known:
        _note_checked(copy, status)
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


def _note_checked(copy: str, status: os.stat_result) -> None:
    """Notes that the copy was checked in this state, unless it may have changed since without a change of its times."""
    if time.time() - max(status.st_mtime, status.st_ctime) > _TICK:
        with contextlib.suppress(OSError), open(copy + _NOTE, "w", encoding="ascii") as note:
            note.write(_described(status))


def _described(status: os.stat_result) -> str:
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}\n"


def _unpacked(package: Package) -> _core.MeteorTables:
    content = package.english()
    try:
        return _core.MeteorTables(content)
    except DataError as error:
        raise DataError(f"{package}: {error}; install sacrecap and sacrecap-meteor again") from error


def build(source: TableSource, language: str, progress: Callable[[float], object]) -> _core.MeteorTables:
    """The tables, built from the texts of the source. Raises `DataError` if a text is not what it should be."""
    prefixes, modules = _LANGUAGES[language]

    def built(share: float) -> None:
        progress(WorkShare(share, "building METEOR's tables"))

    built(0.0)
    texts = {
        "function_words": source.text(FUNCTION_WORDS),
        "prefixes": source.text(f"nonbreaking/{prefixes}.prefixes") if prefixes else "",
        "synonyms": source.text(SYNONYMS[0]) if "synonym" in modules else "",
        "exceptions": source.text(SYNONYMS[1]) if "synonym" in modules else "",
    }
    paraphrases = source.paraphrases(language) if "paraphrase" in modules else None
    try:
        return _core.MeteorTables.build(language, **texts, paraphrases=paraphrases, progress=built)
    except DataError as error:
        raise DataError(f"{source}: {error}; install METEOR again") from error


def _keep(tables: _core.MeteorTables, copy: str) -> None:
    """Writes the copy, then removes those whose place it takes. Raises `OSError` or `DataError`."""
    from sacrecap.data.atomic import atomic_write

    folder, name = os.path.split(copy)
    os.makedirs(folder, exist_ok=True)
    with atomic_write(copy, "wb") as file:
        file.write(tables.to_bytes())
    for other in os.listdir(folder):
        if _replaces(name, other):
            # Windows does not remove a file that a process has mapped. It stays until the next copy is written.
            with contextlib.suppress(OSError):
                _remove(os.path.join(folder, other))


def _replaces(copy: str, other: str) -> bool:
    """Whether a copy takes the place of the other, by their names. A newer format stays: the installation that reads it
    would write it again, and remove this one.
    """
    new, old = re.fullmatch(_COPY, copy), re.fullmatch(_COPY, other)
    if copy == other or not (new and old):
        return False
    return old.group("language", "made") == new.group("language", "made") and (
        int(old["version"]) <= int(new["version"])
    )


def _remove(copy: str) -> None:
    """Removes a copy, never anything else of such a name."""
    if stat.S_ISREG(os.lstat(copy).st_mode):
        with open(copy, "rb") as file:
            is_ours = file.read(len(_MARK)) == _MARK
        if is_ours:
            os.remove(copy)
            with contextlib.suppress(OSError):
                os.remove(copy + _NOTE)
