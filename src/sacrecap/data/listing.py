"""Which files an input has that is a file, a folder or a pattern.

The folder of a data set is in the Hugging Face Hub's layout, images and a metadata file, or Parquet files, or in that
of released captioned images, for which see `captioned`; or it has any files.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from sacrecap.data.source import PathLike, content_of, display_name, is_pattern, is_remote, reading
from sacrecap.data.unpack import SUFFIXES, Content
from sacrecap.errors import DataError, UsageError, first_of, naming, option, warn

FORMATS = {
    "parquet": (".parquet", ".pq", ".parq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
    "jsonl": (".jsonl", ".ndjson", ".jsonlines"),
    "csv": (".csv", ".tsv"),
}
"""Formats, with the suffixes of the files that are read out of a folder; `.gz` and the like may follow."""


_READ = tuple(suffix for suffixes in FORMATS.values() for suffix in suffixes)
_DOCUMENT = ".json"
"""The suffix of files that are read where a pattern names them: folders have others beside those of captions."""
_OF_CAPTIONS = (_DOCUMENT, ".zip", ".xlsx", ".tar", *_READ)
"""Suffixes of files that a system's captions may be in."""


_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_TABLES = (".parquet", ".arrow")
_DICTIONARY = "dataset_dict.json"
"""In a folder of Hugging Face's `DatasetDict`, whose folders are the splits."""
_SPLIT = re.compile(r"(train|val|valid|validation|dev|test)\b.*|.*-\d{5}-of-\d{5}")
"""What a file is called that holds a split, without its suffix."""


def contents_of(
    path: PathLike, split: str | None, format: str | None, *, held: bool = True
) -> tuple[dict[str, Content], str | None]:
    """The files to read, by name, one after the other, and the split that must still be chosen in them.

    The captions of captioned images are given as `{image id: [caption, …]}`. Errors are those of `files_of`.

    Raises:
        UsageError: a format is named for captioned images.
    """
    files, left = _files_in_folder(path, split)
    if files:
        return {display_name(file): content_of(file, held=held) for file in files}, left
    from sacrecap.data.captioned import of_folder, of_split

    name, images = os.fspath(path), of_folder(path) or []
    if format is not None:
        raise UsageError(f"{name}: is a folder of captioned images, whose form is recognised; leave the format out")
    splits = dict.fromkeys(image.split for image in images)
    if split is None and len(splits) > 1:
        raise _not_chosen(name, split, splits)
    if split is not None:
        with naming(f"{name}: "):
            images = of_split(images, split)
    return {name: Content(name, json.dumps({image.id: image.references for image in images}).encode())}, None


def _files_in_folder(path: PathLike, split: str | None) -> tuple[list[str], str | None]:
    """The files that a folder or a pattern stands for, and the split that must still be chosen in them; no files where
    it is a folder of captioned images.

    Parquet files that hold splits are named after them, such as `test-00000-of-00002.parquet`, in the folder or in
    `data`; a split may also be a folder with a metadata file. Of another folder, and of a pattern, see `files_of`.

    Raises:
        DataError: no captions are there.
        UsageError: there are several splits, or not the one that was asked for.
    """
    if not os.path.isdir(path):
        return files_of(os.fspath(path)), split
    name, place = os.fspath(path), Path(path)
    with reading(path):
        inside = sorted(os.listdir(path))
    metadata = [file for file in _METADATA if file in inside]
    if metadata:
        return [os.fspath(place / metadata[0])], split
    by_split: dict[str, list[str]] = {}
    has_splits = False
    for entry in [*(place / file for file in inside), *sorted((place / "data").glob("*"))]:
        if entry.suffix in _TABLES:
            by_split.setdefault(entry.stem.partition("-")[0], []).append(os.fspath(entry))
            has_splits |= _SPLIT.fullmatch(entry.stem) is not None
        elif entry.is_dir() and _DICTIONARY in inside:
            by_split[entry.name], has_splits = sorted(map(os.fspath, entry.glob("*.arrow"))), True
        elif entry.is_dir() and (inner := [entry / file for file in _METADATA if (entry / file).is_file()]):
            by_split[entry.name], has_splits = [os.fspath(inner[0])], True
    if not has_splits:
        from sacrecap.data.captioned import has_form

        return ([] if not by_split and has_form(path) else files_of(os.fspath(path))), split
    if split is not None and split in by_split:
        return by_split[split], None
    if len(by_split) > 1:
        raise _not_chosen(name, split, by_split)
    return next(iter(by_split.values())), split


def _not_chosen(name: str, split: str | None, splits: Iterable[str]) -> UsageError:
    problem = "no split is chosen" if split is None else f"no split is called {split!r}"
    choose = option("split", of="the readers in sacrecap.data")
    return UsageError(f"{name}: {problem}; the splits are {', '.join(splits)}: choose by {choose}")


def files_of(url: str) -> list[str]:
    """The files of an input, in the order of their names: one that is named by itself, those of a folder or a pattern.

    Of a folder, the files of one of `FORMATS` are taken, those in its folders too; names that begin with `_` or `.` are
    left out, as are files of other kinds. Of a pattern, those of JSON are taken, too.

    Raises:
        DataError: nothing is there, or files of several formats.
        MissingDependencyError: what a URL needs is not installed.
    """
    paths, is_file = _find_elsewhere(url) if is_remote(url) else _find(url)
    if is_file:
        return paths
    name = display_name(url)
    by_suffix = {
        path: format
        for path in paths
        for format, suffixes in FORMATS.items()
        if _unpacked_name(path).endswith(suffixes)
    }
    formats = Counter(by_suffix.values())
    if len(formats) > 1:
        counted = " and ".join(f"{count:,} of {format}" for format, count in formats.items())
        raise DataError(f"{name}: has files of several formats, {counted}; choose by a pattern, as DIR/*.parquet")
    if formats:
        return sorted(by_suffix)
    documents = sorted(path for path in paths if is_pattern(url) and _unpacked_name(path).endswith(_DOCUMENT))
    if not documents:
        raise DataError(
            f"{name}: has no files to read; their names end in "
            f"{', '.join(_READ)}, and {', '.join(SUFFIXES)} may follow; "
            f"those of JSON are named by a pattern, as DIR/*{_DOCUMENT}"
        )
    return documents


def systems_in(folder: PathLike) -> list[str]:
    """Paths of the files of a folder, each the captions of a system, in the order of their names.

    Files that are none by their suffixes are left out with a warning. Raises `DataError` if the folder cannot be read,
    and `UsageError` for fewer than two systems.
    """
    with reading(folder):
        files = sorted(entry.path for entry in os.scandir(folder) if entry.is_file() and _counts(entry.name))
    systems = [path for path in files if _unpacked_name(path).endswith(_OF_CAPTIONS)]
    suffixes = f"{', '.join(_OF_CAPTIONS)}, and {', '.join(SUFFIXES)} may follow"
    if len(systems) < 2:
        raise UsageError(
            f"{os.fspath(folder)}: has {'one file' if systems else 'no files'} of captions, where systems are "
            f"compared; their names end in {suffixes}"
        )
    if left_out := [os.path.basename(path) for path in files if path not in systems]:
        warn(f"{os.fspath(folder)}: not read: {first_of(left_out)}; names of files of captions end in {suffixes}")
    return systems


def _unpacked_name(url: str) -> str:
    """The name of the file in small letters, without the suffix of its compression."""
    name = url.lower().rpartition("/")[2].partition("?")[0]
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _find(path: str) -> tuple[list[str], bool]:
    """The files, and whether it is one that is named by itself."""
    if os.path.isdir(path):
        paths = []
        for folder, folders, names in os.walk(path):
            folders[:] = filter(_counts, folders)
            paths += [os.path.join(folder, name) for name in names if _counts(name)]
        return paths, False
    if is_pattern(path) and not os.path.exists(path):
        return [match for match in glob.glob(path, recursive=True) if os.path.isfile(match)], False
    return [path], True


def _find_elsewhere(url: str) -> tuple[list[str], bool]:
    from sacrecap.data.remote import located, naming_url

    files, path = located(url)
    kind = url.partition("://")[0]
    with naming_url(url):
        if is_pattern(path) and not files.exists(path):
            infos, inside = files.glob(path, detail=True), None
        elif files.info(path)["type"] != "directory":
            return [url], True
        else:
            infos, inside = files.find(path, detail=True), path
        names = [name for name, info in infos.items() if info["type"] == "file"]
        if inside is not None:
            names = [name for name in names if all(map(_counts, name.removeprefix(inside).strip("/").split("/")))]
        return [f"{kind}://{name.lstrip('/')}" for name in names], False


def _counts(name: str) -> bool:
    """Whether a file or folder inside a folder is data: not `_SUCCESS`, `_metadata`, `.part-0.crc` and the like."""
    return not name.startswith(("_", "."))
