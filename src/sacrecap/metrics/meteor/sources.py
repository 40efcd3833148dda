"""Where METEOR's tables come from: the package `capeval-meteor`, or the folder of a METEOR 1.5 release.

The folder is the one that the user names, or the one in an installed pycocoevalcap. Both sources have the
same tables under the same names, so the scores are the same.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from os import PathLike
from typing import Protocol

from capeval.errors import DataError, MissingDependencyError

JAR = "meteor-1.5.jar"
PACKAGE = "capeval_meteor"


class Source(Protocol):
    """METEOR's files. `str` gives their place."""

    def files(self, language: str) -> list[str]:
        """Paths of the source files of the language's tables; a change in them gives other tables."""

    def text(self, name: str) -> str:
        """The list of that name: `synonym/english.synsets`. Raises `DataError` if it cannot be read."""

    def paraphrases(self, language: str) -> bytes | None:
        """The paraphrase table, which may be gzipped; None if there is none. Raises `DataError` like `text`."""


class Release:
    """The folder of a METEOR 1.5 release: lists inside the program, paraphrase tables next to it."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = os.path.realpath(folder)

    def __str__(self) -> str:
        return self.folder

    def files(self, language: str) -> list[str]:
        paths = [os.path.join(self.folder, JAR), self._table(language)]
        return [path for path in paths if os.path.isfile(path)]

    def text(self, name: str) -> str:
        import zipfile

        try:
            with zipfile.ZipFile(os.path.join(self.folder, JAR)) as jar:
                return jar.read(name).decode("utf-8")
        except (OSError, KeyError, UnicodeDecodeError, zipfile.BadZipFile) as error:
            raise DataError(f"{self}: METEOR's tables cannot be read: {error}; install them again") from error

    def paraphrases(self, language: str) -> bytes | None:
        try:
            with open(self._table(language), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataError(f"{self}: METEOR's tables cannot be read: {error}; install them again") from error

    def _table(self, language: str) -> str:
        return os.path.join(self.folder, "data", f"paraphrase-{language}.gz")


class Package:
    """The installed package `capeval-meteor`. It is imported only when its tables are read."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return self.folder

    def files(self, language: str) -> list[str]:  # noqa: ARG002
        with os.scandir(os.path.join(self.folder, "data")) as entries:
            return sorted(entry.path for entry in entries)

    def text(self, name: str) -> str:
        return self._read(name).decode("utf-8")

    def paraphrases(self, language: str) -> bytes | None:
        from importlib import import_module

        name = f"data/paraphrase-{language}"
        return self._read(name) if name in import_module(PACKAGE).names() else None

    def _read(self, name: str) -> bytes:
        from importlib import import_module

        try:
            content: bytes = import_module(PACKAGE).read(name)
        except (OSError, KeyError, ValueError) as error:
            raise DataError(f"{self}: METEOR's tables cannot be read: {error}") from error
        return content


def find(folder: str | PathLike[str] | None = None) -> Source:
    """The folder that is given, else the installed package, else the folder in an installed pycocoevalcap.

    Raises `DataError` for a folder that is not of METEOR 1.5, `MissingDependencyError` if nothing is found.
    """
    if folder is None:
        # Located, not imported: most calls need only the cache that was made from it.
        package = find_spec(PACKAGE)
        if package is not None and package.submodule_search_locations:
            return Package(next(iter(package.submodule_search_locations)))
        folder = _in_pycocoevalcap()
    for part in (JAR, os.path.join("data", "paraphrase-en.gz")):
        if not os.path.isfile(os.path.join(folder, part)):
            raise DataError(
                f"{os.fspath(folder)}: no {part} in it; METEOR's tables are in the package capeval-meteor (pip install "
                "'capeval[meteor]') and in the folder of a METEOR 1.5 release"
            )
    return Release(folder)


def _in_pycocoevalcap() -> str:
    """METEOR's folder in the installed distribution, not in the package that is importable by that name:
    `capeval.compat` may have replaced it.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return str(distribution("pycocoevalcap").locate_file("pycocoevalcap/meteor"))
    except PackageNotFoundError:
        raise MissingDependencyError(
            "METEOR (without --meteor-resources DIR, the folder of a METEOR 1.5 release)", extra="meteor"
        ) from None
