"""Per-image scores as a file: CSV, JSON lines or Parquet, by suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from os import PathLike, fspath
from typing import IO, TYPE_CHECKING, Any

from capeval.data.atomic import atomic_write
from capeval.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    from capeval.result import Result


def check_suffix(path: str | PathLike[str]) -> None:
    """Raises `UsageError` when the suffix is none of those written."""
    suffix = os.path.splitext(path)[1]
    if suffix not in _WRITERS:
        raise UsageError(
            f"{fspath(path)}: per-image scores are written by suffix; end the name in {', '.join(_WRITERS)}"
        )


def write_per_image(result: Result, path: str | PathLike[str]) -> None:
    """Writes a row an image: `image_id`, then a column a metric; full precision; whole or not at all.

    Raises `UsageError` for an unknown suffix, `DataError` where the file cannot be written and
    `MissingDependencyError` for Parquet without pyarrow.
    """
    check_suffix(path)
    suffix = os.path.splitext(path)[1]
    with atomic_write(path, "wb" if suffix == ".parquet" else "w") as file:
        _WRITERS[suffix](result, file)


def _rows(result: Result) -> Iterator[tuple[str, tuple[float, ...]]]:
    columns = [score.per_image_values() for score in result.values()]
    return zip(result.image_ids, zip(*columns, strict=True), strict=True)


def _csv(result: Result, file: IO[str]) -> None:
    import csv

    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["image_id", *result])
    writer.writerows([image, *map(repr, values)] for image, values in _rows(result))


def _jsonl(result: Result, file: IO[str]) -> None:
    import json

    for image, values in _rows(result):
        row = {"image_id": image, **dict(zip(result, values, strict=True))}
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _parquet(result: Result, file: IO[bytes]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("writing Parquet files", extra="parquet") from error
    columns = {"image_id": result.image_ids, **{key: score.per_image for key, score in result.items()}}
    pyarrow.parquet.write_table(pyarrow.table(columns), file)


_WRITERS: dict[str, Callable[[Result, IO[Any]], None]] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
