"""METEOR's tables, read from the user's own installation and kept in a cache that is mapped into memory.

The texts are inside `meteor-1.5.jar` and beside it in `data/paraphrase-LANGUAGE.gz`, in an installed pycocoevalcap as
in a METEOR 1.5 release. Reading them takes seconds, mapping the cache milliseconds. The cache's name holds what the
source files are (their place, size and time), so a changed installation has a cache of its own; it is written beside
and renamed, so two processes may start at once; a damaged one is built again.

Checking a cache takes 60 ms, so a process does it once: the tables that were opened last stay open for each language,
as long as their source files stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike

from capeval import _core
from capeval.data.atomic import atomic_write
from capeval.errors import DataError, MissingDependencyError, warn

JAR = "meteor-1.5.jar"
FUNCTION_WORDS = "function/english.words"
"""The program takes the English function words for every language, unless told otherwise."""
SYNONYMS = ("synonym/english.synsets", "synonym/english.exceptions")

_LANGUAGES = {code: (prefixes, modules) for code, prefixes, modules, _ in _core.METEOR_LANGUAGES}


def missing(folder: str | PathLike[str] | None = None) -> str | None:
    """Explains why METEOR's tables are not available and what to do; None if they are available."""
    try:
        _source(folder, "en")
    except (DataError, MissingDependencyError) as error:
        return str(error)
    return None


def load(
    folder: str | PathLike[str] | None = None,
    language: str = "en",
    progress: Callable[[float], object] | None = None,
) -> _core.MeteorTables:
    """The tables: those that are open, else from the cache where it is good, else built and cached.

    Args:
        folder: a METEOR 1.5 release, or any folder laid out like one; an installed pycocoevalcap by default.
        language: METEOR's name of it. Where the folder lacks the language's paraphrase table, a warning says so and
            phrases are not matched; English without one is an error.
        progress: called with the finished share, 0 to 1, while tables are built.

    Raises:
        MissingDependencyError: no folder was given and pycocoevalcap is not installed.
        DataError: the folder lacks a file, or one of them is not what it should be.
    """
    source = _source(folder, language)
    described = _described(source, language)
    opened_from, tables = _open.get(language, ([], None))
    if opened_from != described or tables is None:
        cache = _cache_path(described, language)
        tables = _cached(cache)
        if tables is None:
            tables = _build(source, language, progress or _silent)
            _keep(tables, cache)
        _open[language] = described, tables
    if "paraphrase" in _LANGUAGES[language][1] and "paraphrase" not in tables.modules:
        warn(
            f"{source}: no {_paraphrases(language)} in it; METEOR matches words of language {language} without "
            "paraphrases (a METEOR 1.5 release has the table)"
        )
    return tables


_open: dict[str, tuple[list[str], _core.MeteorTables]] = {}
"""The open tables of each language, with what their source files are.

No lock: two threads that come first at once both open the tables, and one of them is kept. A forked process shares the
memory of its parent's.
"""


def _cached(cache: str) -> _core.MeteorTables | None:
    """The cached tables; None if there is no usable cache."""
    try:
        return _core.MeteorTables.load(cache)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (DataError, OSError) as error:
        warn(f"{error}; METEOR's tables are built again")
    return None


def _silent(_: float) -> None:
    """The default progress callback: does nothing."""


def _paraphrases(language: str) -> str:
    return os.path.join("data", f"paraphrase-{language}.gz")


def _find(folder: str | PathLike[str] | None, language: str) -> str:
    if folder is None:
        # Found, not imported: importing it would import what it needs. `capeval.compat` may stand in for it.
        from importlib.machinery import PathFinder

        package = PathFinder.find_spec("pycocoevalcap")
        if package is None or not package.submodule_search_locations:
            raise MissingDependencyError(
                "METEOR (without --meteor-resources DIR, the folder of a METEOR 1.5 release)", extra="meteor"
            )
        folder = os.path.join(next(iter(package.submodule_search_locations)), "meteor")
    for part in (JAR, _paraphrases(language)) if language == "en" else (JAR,):
        if not os.path.isfile(os.path.join(folder, part)):
            raise DataError(
                f"{os.fspath(folder)}: no {part} in it; METEOR's tables are in the folder of a METEOR 1.5 release and "
                "in pycocoevalcap (pip install 'capeval[meteor]')"
            )
    return os.path.realpath(folder)


_installed: dict[str, str] = {}
"""The installed package's folder for each language: to look for a package takes long."""


def _source(folder: str | PathLike[str] | None, language: str) -> str:
    """The folder with the source files; looked for again where they are gone. Raises what `_find` raises."""
    if folder is not None:
        return _find(folder, language)
    if language not in _installed or not os.path.isfile(os.path.join(_installed[language], JAR)):
        _installed[language] = _find(None, language)
    return _installed[language]


def _described(source: str, language: str) -> list[str]:
    """What the source files are: their place, size and time."""
    described = [source]
    for part in (JAR, _paraphrases(language)):
        path = os.path.join(source, part)
        if os.path.isfile(path):
            status = os.stat(path)
            described.append(f"{part} {status.st_size} {status.st_mtime_ns}")
    return described


def _cache_path(described: list[str], language: str) -> str:
    import hashlib

    from platformdirs import user_cache_dir

    name = hashlib.sha256("\n".join(described).encode()).hexdigest()[:16]
    return os.path.join(user_cache_dir("capeval"), f"meteor-{language}-{name}.tables")


def _build(source: str, language: str, progress: Callable[[float], object]) -> _core.MeteorTables:
    import zipfile

    prefixes, modules = _LANGUAGES[language]
    try:
        with zipfile.ZipFile(os.path.join(source, JAR)) as jar:

            def text(entry: str) -> str:
                return jar.read(entry).decode("utf-8")

            texts = {
                "function_words": text(FUNCTION_WORDS),
                "prefixes": text(f"nonbreaking/{prefixes}.prefixes") if prefixes else "",
                "synonyms": text(SYNONYMS[0]) if "synonym" in modules else "",
                "exceptions": text(SYNONYMS[1]) if "synonym" in modules else "",
            }
        paraphrases = _read_paraphrases(source, language) if "paraphrase" in modules else None
        return _core.MeteorTables.build(language, **texts, paraphrases=paraphrases, progress=progress)
    except (OSError, KeyError, UnicodeDecodeError, zipfile.BadZipFile) as error:
        raise DataError(f"{source}: METEOR's tables cannot be read: {error}; install them again") from error
    except DataError as error:
        raise DataError(f"{source}: {error}; install METEOR again") from error


def _read_paraphrases(source: str, language: str) -> bytes | None:
    try:
        with open(os.path.join(source, _paraphrases(language)), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _keep(tables: _core.MeteorTables, cache: str) -> None:
    """Writes the cache; a place that cannot be written costs time at the next start, not the result."""
    try:
        os.makedirs(os.path.dirname(cache), exist_ok=True)
        with atomic_write(cache, "wb") as file:
            file.write(tables.to_bytes())
    except (OSError, DataError) as error:
        warn(f"METEOR's tables are not cached and will be built again: {error}")
