"""Per-image scores as a file: CSV, TSV, JSON lines or Parquet, by suffix."""

from __future__ import annotations

import json
import math
import os
from array import array
from collections.abc import Mapping
from os import PathLike, fspath

from sacrecap.data.writers import atomic_write
from sacrecap.errors import MissingDependencyError, UsageError
from sacrecap.report.printing import separated
from sacrecap.scoring.comparison import Comparison
from sacrecap.scoring.diversity_result import Diversity, SystemDiversity
from sacrecap.scoring.result import Result

_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")


def check_suffix(path: str | PathLike[str]) -> None:
    """Raises `UsageError` when the suffix is not one of those that can be written."""
    if path != "-" and os.path.splitext(path)[1] not in _SUFFIXES:
        raise UsageError(
            f"{fspath(path)}: per-image scores: the suffix gives the format; end the name in {', '.join(_SUFFIXES)}, "
            "or give - for CSV on standard output"
        )


def write_per_image(scored: Result | Comparison | Diversity, path: str | PathLike[str]) -> None:
    """Writes one row per image, or per caption set: `image_id`, for several systems `system`, then one column per
    metric; full precision; whole or not at all. A missing score is an empty field, or null.

    Raises `UsageError` for an unknown suffix, `DataError` if the file cannot be written and
    `MissingDependencyError` for Parquet without pyarrow.
    """
    check_suffix(path)
    suffix = ".csv" if path == "-" else os.path.splitext(path)[1]
    with atomic_write(path, "wb" if suffix == ".parquet" else "w") as file:
        columns = _columns(scored)
        if suffix == ".parquet":
            try:
                import pyarrow
                import pyarrow.parquet
            except ImportError as error:
                raise MissingDependencyError("writing Parquet files", extra="parquet") from error
            import numpy as np

            arrays = {
                name: pyarrow.array(np.asarray(values), from_pandas=True) if isinstance(values, array) else values
                for name, values in columns.items()
            }
            pyarrow.parquet.write_table(pyarrow.table(arrays), file)
            return
        fields = (
            [None if math.isnan(value) else value for value in values] if isinstance(values, array) else values
            for values in columns.values()
        )
        rows = zip(*fields, strict=True)
        if suffix == ".jsonl":
            for row in rows:
                file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")
        else:
            separated.write(file, columns, rows, "\t" if suffix == ".tsv" else ",")


def _columns(scored: Result | Comparison | Diversity) -> dict[str, list[str] | array[float]]:
    """The systems' rows, one system after the other; the name of a system of caption sets comes first."""
    systems: Mapping[str, Result | SystemDiversity] = {"": scored} if isinstance(scored, Result) else scored
    names = [name for name, system in systems.items() for _ in system.image_ids]
    images = [image for system in systems.values() for image in system.image_ids]
    columns: dict[str, list[str] | array[float]] = {"system": names, "image_id": images}
    if isinstance(scored, Comparison):
        columns = {"image_id": images, "system": names}
    elif len(systems) == 1:
        del columns["system"]
    for system in systems.values():
        for key, score in system.items():
            columns.setdefault(key, array("d")).extend(score.per_image_values())  # type: ignore[arg-type]
    return columns
