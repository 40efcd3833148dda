"""The folder of a data set: in the Hugging Face Hub's layout, or in that of released captioned images.

The Hub's layout has images and a metadata file, or Parquet files; for the others see `sacrecap.data.captioned`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from sacrecap.data.captioned import of_folder, of_split
from sacrecap.data.source import PathLike, read_bytes, reading
from sacrecap.errors import DataError, UsageError, option

_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_TABLES = (".parquet", ".arrow")


def contents_of(folder: PathLike, split: str | None, format: str | None) -> tuple[list[bytes], str | None]:
    """The sources to read from the folder, one after the other, and the split that must still be chosen in them.

    Parquet files are named after their split, such as `test-00000-of-00002.parquet`, in the folder or in `data`; a
    split may also be a folder with a metadata file. The captions of captioned images are given as `{image id: [caption,
    …]}`.

    Raises:
        DataError: no captions are there.
        UsageError: there are several splits, or not the one that was asked for; or a format is named for captioned
            images.
    """
    name, place = os.fspath(folder), Path(folder)
    with reading(folder):
        inside = sorted(os.listdir(folder))
    metadata = [file for file in _METADATA if file in inside]
    if metadata:
        return [read_bytes(place / metadata[0])], split
    found: dict[str, list[Path]] = {}
    for path in [*(place / file for file in inside), *sorted((place / "data").glob("*"))]:
        if path.suffix in _TABLES:
            found.setdefault(path.stem.partition("-")[0], []).append(path)
        elif path.is_dir() and (inner := [path / file for file in _METADATA if (path / file).is_file()]):
            found[path.name] = inner[:1]
    if not found:
        return [_captioned(folder, split, format)], None
    if split is not None and split in found:
        return [read_bytes(path) for path in found[split]], None
    if len(found) > 1:
        raise _not_chosen(name, split, found)
    return [read_bytes(path) for path in next(iter(found.values()))], split


def _captioned(folder: PathLike, split: str | None, format: str | None) -> bytes:
    """The captions of captioned images, of the split or of the only one."""
    name, images = os.fspath(folder), of_folder(folder)
    if images is None:
        raise DataError(f"{name}: is a directory; name a file in it")
    if format is not None:
        raise UsageError(f"{name}: is a folder of captioned images, whose form is recognised; leave the format out")
    splits = dict.fromkeys(image.split for image in images)
    if split is None and len(splits) > 1:
        raise _not_chosen(name, split, splits)
    if split is not None:
        try:
            images = of_split(images, split)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from None
    return json.dumps({image.id: image.references for image in images}).encode()


def _not_chosen(name: str, split: str | None, splits: Iterable[str]) -> UsageError:
    given = "no split is chosen" if split is None else f"no split is called {split!r}"
    choose = option("split", of="the readers in sacrecap.data")
    return UsageError(f"{name}: {given}; the splits are {', '.join(splits)}: choose by {choose}")
