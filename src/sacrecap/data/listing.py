"""Which files an input has that is a file, a folder or a pattern: the same for all engines."""

from __future__ import annotations

import glob
import os
from collections import Counter
from typing import Any, NamedTuple

from sacrecap.data.source import SUFFIXES, is_pattern, is_remote, reading
from sacrecap.errors import DataError, first_of, warn

FORMATS = {
    "parquet": (".parquet", ".pq", ".parq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "jsonl": (".jsonl", ".ndjson", ".jsonlines"),
    "csv": (".csv", ".tsv"),
}
"""Formats, with the suffixes of the files that are read out of a folder; `.gz` and the like may follow."""


_DOCUMENT = ".json"
"""The suffix of files that are read where a pattern names them: folders have others beside those of captions."""
_OF_CAPTIONS = (_DOCUMENT, ".zip", ".xlsx", ".tar", *(suffix for own in FORMATS.values() for suffix in own))
"""Suffixes of files that a system's captions may be in."""


class Found(NamedTuple):
    """A file that was found."""

    url: str
    bytes: int
    modified: str
    """When it was written, or its entity tag, as its file system says; empty if that says nothing."""


def files_of(url: str) -> list[tuple[Found, str | None]]:
    """The files of an input, with the formats that their names tell; None for a file that is named by itself.

    Of a folder, the files of one of `FORMATS` are taken, those in its folders too; names that begin with `_` or `.` are
    left out, as are files of other kinds. Of a pattern, those of JSON are, too. Local paths become absolute, since
    workers have folders of their own.

    Raises:
        DataError: nothing is there, or files of several formats.
        MissingDependencyError: what a URL needs is not installed.
    """
    found, is_file = _find(url)
    if is_file:
        return [(one, None) for one in found]
    known = [(one, format) for one in sorted(found) if (format := by_suffix(one.url)) is not None]
    named = sorted(found) if is_pattern(url) else []
    documents = [(one, None) for one in named if _unpacked_name(one.url).endswith(_DOCUMENT)]
    if not known and not documents:
        raise DataError(
            f"{url}: has no files to read; their names end in "
            f"{', '.join(suffix for own in FORMATS.values() for suffix in own)}, and {', '.join(SUFFIXES)} may follow; "
            f"those of JSON are named by a pattern, as DIR/*{_DOCUMENT}"
        )
    if not known:
        return [*documents]
    formats = Counter(format for _, format in known)
    if len(formats) > 1:
        counted = " and ".join(f"{count:,} of {name}" for name, count in formats.items())
        raise DataError(f"{url}: has files of several formats, {counted}; choose by a pattern, as DIR/*.parquet")
    return [*known]


def captions_in(folder: str | os.PathLike[str]) -> list[str]:
    """Paths of the files of a folder that may be captions, by their suffixes, in the order of their names.

    Raises `DataError` if the folder cannot be read.
    """
    return [path for path in _files_in(folder) if _may_be_captions(path)]


def warn_of_others(folder: str | os.PathLike[str]) -> None:
    """Warns of files of a folder that [`captions_in`][sacrecap.data.listing.captions_in] leaves out, by name."""
    if others := [os.path.basename(path) for path in _files_in(folder) if not _may_be_captions(path)]:
        warn(f"{folder}: not read: {first_of(others)}; names of files of captions end in {captions_suffixes()}")


def _files_in(folder: str | os.PathLike[str]) -> list[str]:
    with reading(folder):
        return sorted(entry.path for entry in os.scandir(folder) if entry.is_file() and _counts(entry.name))


def captions_suffixes() -> str:
    """What the names of such files end in, for messages."""
    return f"{', '.join(_OF_CAPTIONS)}, and {', '.join(SUFFIXES)} may follow"


def _may_be_captions(name: str) -> bool:
    return _unpacked_name(name).endswith(_OF_CAPTIONS)


def by_suffix(url: str) -> str | None:
    """The format that a file's name tells."""
    name = _unpacked_name(url)
    return next((format for format, suffixes in FORMATS.items() if name.endswith(suffixes)), None)


def _unpacked_name(url: str) -> str:
    """The name of the file in small letters, without the suffix of its compression."""
    name = url.lower().rpartition("/")[2].partition("?")[0]
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def local_path(url: str) -> str | None:
    """The path of a file on this machine; None for one that is elsewhere."""
    return url.removeprefix("file://") if url.startswith("file://") or not is_remote(url) else None


def _find(url: str) -> tuple[list[Found], bool]:
    """The files, and whether it is one that is named by itself."""
    path = local_path(url)
    if path is None:
        return _find_elsewhere(url)
    path = os.path.abspath(path)
    if os.path.isdir(path):
        paths = []
        for folder, folders, names in os.walk(path):
            folders[:] = filter(_counts, folders)
            paths += [os.path.join(folder, name) for name in names if _counts(name)]
        return [_local(one) for one in paths], False
    if is_pattern(path) and not os.path.exists(path):
        return [_local(one) for one in glob.glob(path, recursive=True) if os.path.isfile(one)], False
    return [_local(path)], True


def _local(path: str) -> Found:
    with reading(path):
        info = os.stat(path)
    return Found(path, info.st_size, str(info.st_mtime_ns))


def _find_elsewhere(url: str) -> tuple[list[Found], bool]:
    from sacrecap.data.remote import asked, located

    files, path = located(url)
    kind = url.partition("://")[0]

    def listed(infos: dict[str, Any]) -> list[Found]:
        return [
            Found(f"{kind}://{name.lstrip('/')}", int(own.get("size") or 0), _modified(own))
            for name, own in infos.items()
            if own["type"] == "file"
        ]

    with asked(url):
        if is_pattern(path) and not files.exists(path):
            return listed(files.glob(path, detail=True)), False
        info = files.info(path)
        if info["type"] != "directory":
            return [Found(url, int(info.get("size") or 0), _modified(info))], True
        every = files.find(path, detail=True).items()
        inside = {name: own for name, own in every if all(map(_counts, name.removeprefix(path).strip("/").split("/")))}
        return listed(inside), False


def _counts(name: str) -> bool:
    """Whether a file or folder inside a folder is data: not `_SUCCESS`, `_metadata`, `.part-0.crc` and the like."""
    return not name.startswith(("_", "."))


def _modified(info: dict[str, Any]) -> str:
    """What changes when the file does: its entity tag, else when it was written."""
    known = (
        info.get(name) for name in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated")
    )
    return str(next((value for value in known if value), ""))
