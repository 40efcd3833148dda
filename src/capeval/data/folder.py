"""The folder of a data set as the Hugging Face Hub has it: a metadata file beside images, or Parquet files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from capeval.data.source import PathLike, reading
from capeval.errors import DataError, UsageError

_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_TABLES = (".parquet", ".arrow")


class Files(NamedTuple):
    """Files to read one after the other, and the split that is still to be chosen inside them."""

    paths: list[Path]
    split: str | None


def files_of(folder: PathLike, split: str | None) -> Files:
    """The files of the folder with the captions.

    Parquet files are called after their split, as `test-00000-of-00002.parquet`, in the folder or in `data`; a split
    may also be a folder with a metadata file.

    Raises:
        DataError: none is there.
        UsageError: there are several splits, or not the one that was asked for.
    """
    place = Path(folder)
    with reading(folder):
        inside = sorted(os.listdir(folder))
    metadata = [name for name in _METADATA if name in inside]
    if metadata:
        return Files([place / metadata[0]], split)
    found: dict[str, list[Path]] = {}
    for path in [*(place / name for name in inside), *sorted((place / "data").glob("*"))]:
        if path.suffix in _TABLES:
            found.setdefault(path.stem.partition("-")[0], []).append(path)
        elif path.is_dir() and (inner := [path / name for name in _METADATA if (path / name).is_file()]):
            found[path.name] = inner[:1]
    if not found:
        raise DataError(f"{os.fspath(folder)}: is a directory; name a file in it")
    if split is not None and split in found:
        return Files(found[split], None)
    if len(found) > 1:
        given = "no split is chosen" if split is None else f"no split is called {split!r}"
        raise UsageError(f"{os.fspath(folder)}: {given}; the splits are {', '.join(found)}: choose by --split")
    return Files(next(iter(found.values())), split)
