"""Batches of rows in memory, as pipelines hand them around: their columns as Arrow, and back with columns of scores."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap.data.shapes import Names, shape_of_columns, some_columns
from sacrecap.errors import DataError, UsageError, of_extra, option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float64]

ACCEPTED = (
    "accepted are a pyarrow RecordBatch or Table, a pandas or Polars DataFrame, and a dictionary of columns (lists or "
    "NumPy arrays)"
)


_BATCHES = {("pyarrow", "RecordBatch"), ("pyarrow", "Table"), ("pandas", "DataFrame"), ("polars", "DataFrame")}
"""By library and class."""


class Frame:
    """A batch of rows, whatever it is.

    Raises:
        DataError: columns of different lengths.
        MissingDependencyError: pyarrow is not installed.
        UsageError: something else than a batch.
    """

    def __init__(self, batch: Any) -> None:
        with of_extra("parquet", "scoring columns"):
            import pyarrow  # noqa: F401
        kinds = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(batch).__mro__]
        self._library = (
            "" if isinstance(batch, Mapping) else next((kind[0] for kind in kinds if kind in _BATCHES), None)
        )
        if self._library is None:
            raise UsageError(f"the batch is of type {type(batch).__name__}; {ACCEPTED}")
        self._batch = batch
        names = batch.schema.names if self._library == "pyarrow" else batch.columns if self._library else batch
        self.names: list[str] = list(map(str, names))
        """The columns."""
        lengths = {} if self._library else {str(name): len(values) for name, values in batch.items()}
        if len({*lengths.values()}) > 1:
            listed = ", ".join(f"{count:,} ({name})" for name, count in lengths.items())
            raise DataError(f"the columns of the batch have {listed} values; give one per row in each")
        self._rows = len(batch) if self._library else next(iter(lengths.values()), 0)

    def __len__(self) -> int:
        return self._rows

    def values(self, name: str) -> Any:
        """A column, as a list or an array."""
        match self._library:
            case "pyarrow":
                return self._batch.column(self.names.index(name))
            case "pandas":
                return self._batch[name].to_list()
            case "polars":
                return self._batch[name].to_arrow()
        return self._batch[name]

    def with_scores(self, scores: Mapping[str, Scores]) -> Any:
        """The batch with these columns added; NaN is no score, which is null where the library has nulls.

        In a dictionary they are lists, or arrays of NumPy where other columns are.
        """
        import pyarrow

        batch = self._batch
        if self._library == "pandas":
            return batch.assign(**scores)
        if not self._library and any(type(values).__module__ == "numpy" for values in batch.values()):
            return {**batch, **scores}
        columns = {name: pyarrow.array(column, from_pandas=True) for name, column in scores.items()}
        if self._library == "pyarrow":
            schema = batch.schema
            for name in columns:
                schema = schema.append(pyarrow.field(name, pyarrow.float64()))
            return type(batch).from_arrays([*batch.columns, *columns.values()], schema=schema)
        if self._library == "polars":
            import polars

            return batch.with_columns(**{name: polars.Series(name, column) for name, column in columns.items()})
        return {**batch, **{name: column.to_pylist() for name, column in columns.items()}}


class BatchColumns(NamedTuple):
    """Names of the columns that a batch has for them."""

    captions: str
    references: tuple[str, ...]
    """Empty where references are not wanted."""
    image_id: str | None
    """None where image ids are not wanted."""


@lru_cache(maxsize=64)
def chosen_columns(
    names: tuple[str, ...],
    captions: str | None,
    references: str | tuple[str, ...] | None,
    image_id: str | None,
    *,
    described: bool,
    of_images: bool,
) -> BatchColumns:
    """The columns among these, as they were named, or else as those of files are recognised.

    Args:
        names: the columns of a batch.
        captions: the column of captions, if it was named.
        references: the columns of references, likewise.
        image_id: the column of image ids, likewise.
        described: whether references are wanted.
        of_images: whether image ids are wanted; else they are only where they are named.

    Raises `DataError` if one is missing, which names those that are there.
    """
    shape = shape_of_columns(names)
    absent: list[tuple[str, str]] = []

    def chosen(keyword: str, named: Names, recognised: Sequence[str]) -> list[str]:
        patterns = (named,) if isinstance(named, str) else tuple(named or ())
        by_name = {pattern: [pattern] if pattern in names else fnmatch.filter(names, pattern) for pattern in patterns}
        columns = [name for matching in by_name.values() for name in matching] if patterns else list(recognised)
        if not columns or not all(by_name.values()):
            absent.append((next((pattern for pattern, matching in by_name.items() if not matching), keyword), keyword))
        return columns

    texts = chosen("captions", captions, () if captions is not None else shape.of_part("candidates")[:1])
    rest = shape_of_columns([name for name in names if name not in texts])
    about = (
        chosen("references", references, () if references is not None else rest.of_part("references"))
        if described
        else []
    )
    ids = chosen("image_id", image_id, shape.ids[:1]) if of_images or image_id is not None else []
    if absent:
        raise DataError(
            f"the batch has the columns {some_columns(names)}, and not {' and '.join(name for name, _ in absent)}; "
            f"name others by {' and '.join(option(keyword, 'NAME') for _, keyword in absent)}"
        )
    return BatchColumns(texts[0], tuple(about), ids[0] if ids else None)
