"""METEOR's tables: read from their installation, and kept in a cache that is mapped into memory.

Reading them takes seconds, mapping the cache milliseconds. The cache's name depends on the source files (their
path, size and time), so a changed installation gets a new cache. It is written to a temporary file and renamed, so two
processes may start at once; a damaged cache is built again.

Checking a cache takes 60 ms, so a process does it once: for each language, the tables that were opened last stay open
until their source files change.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike

from capeval import _core
from capeval.data.atomic import atomic_write
from capeval.errors import DataError, MissingDependencyError, warn
from capeval.metrics.meteor.sources import Source, find
from capeval.resources.needs import Share

FUNCTION_WORDS = "function/english.words"
"""The program takes the English function words for every language, unless told otherwise."""
SYNONYMS = ("synonym/english.synsets", "synonym/english.exceptions")

_LANGUAGES = {code: (prefixes, modules) for code, prefixes, modules, _ in _core.METEOR_LANGUAGES}


def missing(folder: str | PathLike[str] | None = None) -> str | None:
    """Explains why METEOR's tables are not available and what to do; None if they are available."""
    try:
        find(folder)
    except (DataError, MissingDependencyError) as error:
        return str(error)
    return None


def load(
    folder: str | PathLike[str] | None = None,
    language: str = "en",
    progress: Callable[[float], object] | None = None,
) -> _core.MeteorTables:
    """The tables: those that are open, else from a valid cache, else built and cached.

    Args:
        folder: a METEOR 1.5 release, or any folder laid out like one; the installed package by default.
        language: METEOR's name of it. If the source lacks the language's paraphrase table, there is a warning and
            phrases are not matched; for English this is an error.
        progress: called with the finished share, 0 to 1, while tables are built.

    Raises:
        MissingDependencyError: no folder was given, and neither capeval-meteor nor pycocoevalcap is installed.
        DataError: the source lacks a file, or one of them is not what it should be.
    """
    source = find(folder)
    cache = _cache_path(source, language)
    opened_from, tables = _open.get(language, ("", None))
    if opened_from != cache or tables is None:
        tables = _cached(cache)
        if tables is None:
            tables = _build(source, language, progress or _silent)
            _keep(tables, cache)
        _open[language] = cache, tables
    if "paraphrase" in _LANGUAGES[language][1] and "paraphrase" not in tables.modules:
        warn(
            f"{source}: no paraphrase table of {language} in it; METEOR matches words of language {language} without "
            "paraphrases (a METEOR 1.5 release has the table)"
        )
    return tables


_open: dict[str, tuple[str, _core.MeteorTables]] = {}
"""The open tables of each language, with the name of their cache.

No lock: if two threads come first at the same time, both open the tables, and one result is kept. A forked process
shares the memory of its parent.
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


def _cache_path(source: Source, language: str) -> str:
    import hashlib

    from platformdirs import user_cache_dir

    described = [str(source)]
    for path in source.files(language):
        status = os.stat(path)
        described.append(f"{os.path.basename(path)} {status.st_size} {status.st_mtime_ns}")
    name = hashlib.sha256("\n".join(described).encode()).hexdigest()[:16]
    return os.path.join(user_cache_dir("capeval"), f"meteor-{language}-{name}.tables")


def _build(source: Source, language: str, progress: Callable[[float], object]) -> _core.MeteorTables:
    prefixes, modules = _LANGUAGES[language]

    def built(share: float) -> None:
        progress(Share(share, "building METEOR's tables, once"))

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


def _keep(tables: _core.MeteorTables, cache: str) -> None:
    """Writes the cache; if that fails, the next start is slower, but the result is the same."""
    try:
        os.makedirs(os.path.dirname(cache), exist_ok=True)
        with atomic_write(cache, "wb") as file:
            file.write(tables.to_bytes())
    except (OSError, DataError) as error:
        warn(f"METEOR's tables are not cached and will be built again: {error}")
