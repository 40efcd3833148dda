"""The files that the program consists of, and where they are published."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from importlib.resources import files

from sacrecap.data.download import PublishedFile

MAVEN = "https://repo1.maven.org/maven2/"
WHEEL = (
    "https://files.pythonhosted.org/packages/08/f9/466f289f1628296b5e368940f89e3cfcfb066d15ddc02ff536dc532b1c93/"
    "pycocoevalcap-1.2-py3-none-any.whl"
)
"""pycocoevalcap 1.2, which holds the program's own jars. Only the bytes of these jars are fetched from it."""

VERSION = "spice-1.0 corenlp-3.6.0"
"""The version that the answers depend on; it is part of the cache's keys."""


@dataclass(frozen=True)
class ProgramPart(PublishedFile):
    """A jar; some are inside a wheel, which is a zip file."""

    newer_java: bool = False
    """Only for Java 15 and newer; too new for Java 8."""


def _part(row: dict[str, str]) -> ProgramPart:
    name = os.path.basename(row["path"])
    size, sha256 = int(row["size"]), row["sha256"]
    if row["start"]:
        return ProgramPart(name, size, sha256, WHEEL, start=int(row["start"]), packed=int(row["packed"]))
    return ProgramPart(name, size, sha256, MAVEN + row["path"], newer_java=row["newer_java"] == "yes")


_TABLE = files("sacrecap.resources.stanford").joinpath("jars.csv").read_text(encoding="utf-8")
PARTS = tuple(map(_part, csv.DictReader(_TABLE.splitlines())))
"""The files that the program loads without its own cache, from `jars.csv`: paths on Maven Central, or names in the
wheel. None is native, so they work on every platform."""


def folder() -> str:
    """The user's folder of these files."""
    from platformdirs import user_data_dir

    return os.path.join(user_data_dir("sacrecap"), "spice")


def missing(place: str) -> list[ProgramPart]:
    """The parts that are missing in the folder or have a wrong size; the checksums were compared when they were
    stored.
    """
    return [part for part in PARTS if _size(os.path.join(place, part.name)) != part.size]


def _size(path: str) -> int | None:
    try:
        return os.path.getsize(path)
    except OSError:
        return None
