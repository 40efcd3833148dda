"""The folder of a data set: in the Hugging Face Hub's layout, in that of released captioned images, or any files.

The Hub's layout has images and a metadata file, or Parquet files; for the others see `sacrecap.data.captioned`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from sacrecap.data.captioned import has_form, of_folder, of_split
from sacrecap.data.listing import files_of
from sacrecap.data.source import PathLike, content_of, display_name, reading
from sacrecap.data.unpack import Content
from sacrecap.errors import UsageError, naming, option

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

    The captions of captioned images are given as `{image id: [caption, …]}`. Errors are those of `files_in`.

    Raises:
        UsageError: a format is named for captioned images.
    """
    files, left = files_in(path, split)
    if not files:
        name = os.fspath(path)
        return {name: Content(name, _captioned(path, split, format))}, None
    return {display_name(file): content_of(file, held=held) for file in files}, left


def files_in(path: PathLike, split: str | None) -> tuple[list[str], str | None]:
    """The files that a folder or a pattern stands for, and the split that must still be chosen in them; no files where
    it is a folder of captioned images.

    Parquet files that hold splits are named after them, such as `test-00000-of-00002.parquet`, in the folder or in
    `data`; a split may also be a folder with a metadata file. Of another folder, and of a pattern, see `listing`.

    Raises:
        DataError: no captions are there.
        UsageError: there are several splits, or not the one that was asked for.
    """
    if not os.path.isdir(path):
        return _listed(path), split
    name, place = os.fspath(path), Path(path)
    with reading(path):
        inside = sorted(os.listdir(path))
    metadata = [file for file in _METADATA if file in inside]
    if metadata:
        return [os.fspath(place / metadata[0])], split
    found: dict[str, list[str]] = {}
    has_splits = False
    for one in [*(place / file for file in inside), *sorted((place / "data").glob("*"))]:
        if one.suffix in _TABLES:
            found.setdefault(one.stem.partition("-")[0], []).append(os.fspath(one))
            has_splits |= _SPLIT.fullmatch(one.stem) is not None
        elif one.is_dir() and _DICTIONARY in inside:
            found[one.name], has_splits = sorted(map(os.fspath, one.glob("*.arrow"))), True
        elif one.is_dir() and (inner := [one / file for file in _METADATA if (one / file).is_file()]):
            found[one.name], has_splits = [os.fspath(inner[0])], True
    if not has_splits:
        return ([] if not found and has_form(path) else _listed(path)), split
    if split is not None and split in found:
        return found[split], None
    if len(found) > 1:
        raise _not_chosen(name, split, found)
    return next(iter(found.values())), split


def _listed(path: PathLike) -> list[str]:
    return [found.url for found, _ in files_of(os.fspath(path))]


def _captioned(folder: PathLike, split: str | None, format: str | None) -> bytes:
    """The captions of captioned images, of the split or of the only one."""
    name, images = os.fspath(folder), of_folder(folder, objects=False) or []
    if format is not None:
        raise UsageError(f"{name}: is a folder of captioned images, whose form is recognised; leave the format out")
    splits = dict.fromkeys(image.split for image in images)
    if split is None and len(splits) > 1:
        raise _not_chosen(name, split, splits)
    if split is not None:
        with naming(f"{name}: "):
            images = of_split(images, split)
    return json.dumps({image.id: image.references for image in images}).encode()


def _not_chosen(name: str, split: str | None, splits: Iterable[str]) -> UsageError:
    given = "no split is chosen" if split is None else f"no split is called {split!r}"
    choose = option("split", of="the readers in sacrecap.data")
    return UsageError(f"{name}: {given}; the splits are {', '.join(splits)}: choose by {choose}")
