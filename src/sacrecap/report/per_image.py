"""Per-image scores as a file: CSV, TSV, JSON lines or Parquet, by suffix."""

from __future__ import annotations

import json
import math
import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike, fspath
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from sacrecap.data.writers import atomic_write
from sacrecap.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    from sacrecap.scoring.comparison import Comparison
    from sacrecap.scoring.diversity_result import Diversity, SystemDiversity
    from sacrecap.scoring.result import Result

Columns: TypeAlias = "dict[str, list[str] | array[float]]"


def check_suffix(path: str | PathLike[str]) -> None:
    """Raises `UsageError` when the suffix is not one of those that can be written."""
    if path == "-":
        return
    suffix = os.path.splitext(path)[1]
    if suffix not in _WRITERS:
        raise UsageError(
            f"{fspath(path)}: per-image scores: the suffix gives the format; end the name in {', '.join(_WRITERS)}, "
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
        _WRITERS[suffix](_columns(scored), file)


def _columns(scored: Result | Comparison | Diversity) -> Columns:
    """The systems' rows, one system after the other; the name of a system of caption sets comes first."""
    from sacrecap.scoring.comparison import Comparison
    from sacrecap.scoring.result import Result

    systems: Mapping[str, Result | SystemDiversity] = {"": scored} if isinstance(scored, Result) else scored
    images: Columns = {"image_id": [image for system in systems.values() for image in system.image_ids]}
    names: Columns = {"system": [name for name, system in systems.items() for _ in system.image_ids]}
    scores: Columns = {}
    for system in systems.values():
        for key, score in system.items():
            scores.setdefault(key, array("d")).extend(score.per_image_values())  # type: ignore[arg-type]
    if isinstance(scored, Comparison):
        return {**images, **names, **scores}
    return {**names, **images, **scores} if len(systems) > 1 else {**images, **scores}


def _without_nan(values: list[str] | array[float]) -> Sequence[str | float | None]:
    """The column with None for each missing score."""
    if isinstance(values, list) or not any(map(math.isnan, values)):
        return values
    return [None if math.isnan(value) else value for value in values]


def _csv(columns: Columns, file: IO[str], separator: str = ",") -> None:
    from sacrecap.report.printing import separated

    separated.write(file, columns, zip(*map(_without_nan, columns.values()), strict=True), separator)


def _jsonl(columns: Columns, file: IO[str]) -> None:
    for values in zip(*map(_without_nan, columns.values()), strict=True):
        file.write(json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False) + "\n")


def _parquet(columns: Columns, file: IO[bytes]) -> None:
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


_WRITERS: dict[str, Callable[[Columns, IO[Any]], None]] = {
    ".csv": _csv,
    ".tsv": partial(_csv, separator="\t"),
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
