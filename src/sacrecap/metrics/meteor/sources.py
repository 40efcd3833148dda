"""Where METEOR's tables come from: the package `sacrecap-meteor`, or the folder of a METEOR 1.5 release.

The folder is the one that the user names, or the one in an installed pycocoevalcap. The English tables of the package
are those that are built from this folder, byte for byte, so the scores are the same.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from importlib.util import find_spec
from os import PathLike
from typing import Protocol

from sacrecap.errors import DataError, MissingDependencyError, option

JAR = "meteor-1.5.jar"
PACKAGE = "sacrecap_meteor"
ENGLISH = "english.tables.gz"


class TableSource(Protocol):
    """METEOR's files. `str` gives their place."""

    def files(self, language: str) -> list[str]:
        """Paths of the source files of the language's tables; a change in them gives other tables."""

    def key(self, language: str) -> str | None:
        """How the language's tables are made, and the content that they are made from; None if making them takes no
        time. Raises `DataError` if it cannot be read.
        """

    def text(self, name: str) -> str:
        """The list of that name: `synonym/english.synsets`. Raises `DataError` if it cannot be read."""

    def paraphrases(self, language: str) -> bytes | None:
        """The paraphrase table, which may be gzipped; None if there is none. Raises `DataError` like `text`."""


@contextlib.contextmanager
def reading(source: TableSource) -> Iterator[None]:
    """Turns the errors of a damaged installation into a `DataError` that says so."""
    try:
        yield
    except Exception as error:
        import zipfile
        import zlib

        if isinstance(error, (OSError, EOFError, KeyError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error)):
            raise DataError(f"{source}: METEOR's tables cannot be read: {error}; install them again") from error
        raise


class ReleaseFolder:
    """The folder of a METEOR 1.5 release: lists inside the program, paraphrase tables next to it."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = os.path.realpath(folder)

    def __str__(self) -> str:
        return self.folder

    def files(self, language: str) -> list[str]:
        paths = [os.path.join(self.folder, JAR), self._table(language)]
        return [path for path in paths if os.path.isfile(path)]

    def key(self, language: str) -> str:
        import hashlib

        digest = hashlib.sha256()
        for path in self.files(language):
            digest.update(f"{os.path.basename(path)} {os.path.getsize(path)}\n".encode())
            with reading(self), open(path, "rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
        return f"built-{digest.hexdigest()[:16]}"

    def text(self, name: str) -> str:
        import zipfile

        with reading(self), zipfile.ZipFile(os.path.join(self.folder, JAR)) as jar:
            return jar.read(name).decode("utf-8")

    def paraphrases(self, language: str) -> bytes | None:
        if not os.path.exists(self._table(language)):
            return None
        with reading(self), open(self._table(language), "rb") as file:
            return file.read()

    def _table(self, language: str) -> str:
        return os.path.join(self.folder, "data", f"paraphrase-{language}.gz")


class Package:
    """The installed package `sacrecap-meteor`: the built English tables, and the lists of the other languages."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __str__(self) -> str:
        return self.folder

    def files(self, language: str) -> list[str]:
        if language == "en":
            return [self._path(ENGLISH)]
        with os.scandir(self._path("nonbreaking")) as entries:
            return [self._path("function/english.words"), *sorted(entry.path for entry in entries)]

    def key(self, language: str) -> str | None:
        if language != "en":
            return None
        # A gzip file ends with the CRC-32 and the length of its content.
        with reading(self), open(self._path(ENGLISH), "rb") as file:
            file.seek(-8, os.SEEK_END)
            return f"shipped-{file.read().hex()}"

    def english(self) -> bytes:
        """The file of the English tables. Raises `DataError` if it cannot be read."""
        import gzip

        with reading(self), gzip.open(self._path(ENGLISH)) as file:
            return file.read()

    def text(self, name: str) -> str:
        with reading(self), open(self._path(name), encoding="utf-8", newline="") as file:
            return file.read()

    def paraphrases(self, language: str) -> bytes | None:  # noqa: ARG002
        return None

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, "data", *name.split("/"))


def find(folder: str | PathLike[str] | None = None) -> TableSource:
    """The folder that is given, else the installed package, else the folder in an installed pycocoevalcap.

    Raises `DataError` for a folder that is not of METEOR 1.5, `MissingDependencyError` if nothing is found.
    """
    if folder is None:
        # Located, not imported: it is data alone.
        package = find_spec(PACKAGE)
        if package is not None and package.submodule_search_locations:
            return Package(next(iter(package.submodule_search_locations)))
        folder = in_pycocoevalcap()
    for part in (JAR, os.path.join("data", "paraphrase-en.gz")):
        if not os.path.isfile(os.path.join(folder, part)):
            raise DataError(
                f"{os.fspath(folder)}: no {part} in it; METEOR's tables are in the package sacrecap-meteor (pip "
                "install 'sacrecap[meteor]') and in the folder of a METEOR 1.5 release"
            )
    return ReleaseFolder(folder)


def in_pycocoevalcap() -> str:
    """METEOR's folder in the installed distribution, not in the package that is importable by that name:
    `sacrecap.compat` may have replaced it.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return str(distribution("pycocoevalcap").locate_file("pycocoevalcap/meteor"))
    except PackageNotFoundError:
        raise MissingDependencyError(
            f"METEOR (without {option('meteor_resources', 'DIR')}, the folder of a METEOR 1.5 release)", extra="meteor"
        ) from None
