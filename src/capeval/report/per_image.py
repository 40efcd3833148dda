"""Per-image scores as a file: CSV, JSON lines or Parquet, by suffix."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable
from os import PathLike, fspath
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from capeval.data.atomic import atomic_write
from capeval.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    from capeval.result import Result
    from capeval.set_result import Diversity, SystemDiversity

Columns: TypeAlias = "dict[str, list[str] | array[float]]"


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
    _write({"image_id": result.image_ids, **_scores(result)}, path)


def write_sets(result: Diversity, path: str | PathLike[str]) -> None:
    """Writes a row a caption set: `image_id`, then a column a figure; of several systems, `system` comes first.

    Errors as `write_per_image`.
    """
    systems = list(result.values())
    columns: Columns = {"image_id": [image for system in systems for image in system.image_ids]}
    for system in systems:
        for key, values in _scores(system).items():
            columns.setdefault(key, array("d")).extend(values)  # type: ignore[arg-type]
    if len(systems) > 1:
        columns = {"system": [system.name for system in systems for _ in system.image_ids], **columns}
    _write(columns, path)


def _scores(result: Result | SystemDiversity) -> dict[str, array[float]]:
    return {key: score.per_image_values() for key, score in result.items()}


def _write(columns: Columns, path: str | PathLike[str]) -> None:
    check_suffix(path)
    suffix = os.path.splitext(path)[1]
    with atomic_write(path, "wb" if suffix == ".parquet" else "w") as file:
        _WRITERS[suffix](columns, file)


def _csv(columns: Columns, file: IO[str]) -> None:
    import csv

    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    spelled = [map(repr, values) if isinstance(values, array) else values for values in columns.values()]
    writer.writerows(zip(*spelled, strict=True))


def _jsonl(columns: Columns, file: IO[str]) -> None:
    import json

    for values in zip(*columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _parquet(columns: Columns, file: IO[bytes]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("writing Parquet files", extra="parquet") from error
    pyarrow.parquet.write_table(pyarrow.table({key: pyarrow.array(values) for key, values in columns.items()}), file)


_WRITERS: dict[str, Callable[[Columns, IO[Any]], None]] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
