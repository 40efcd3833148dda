"""Batches of rows in memory, as pipelines hand them around: their columns as Arrow, and back with columns of scores."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
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


class Frame:
    """A batch of rows: the common base of one class per library."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch
        self.names: list[str] = list(map(str, self._names()))
        """The columns."""

    def __len__(self) -> int:
        return len(self.batch)

    def _names(self) -> Iterable[Any]:
        names: Iterable[Any] = self.batch.columns
        return names

    def values(self, name: str) -> Any:
        """A column, as a list or an array."""
        return self.batch[name]

    def with_scores(self, scores: Mapping[str, Scores]) -> Any:
        """The batch with these columns added; NaN is no score, which is null where the library has nulls."""
        raise NotImplementedError


class _ArrowBatch(Frame):
    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def _names(self) -> Iterable[Any]:
        names: Iterable[Any] = self.batch.schema.names
        return names

    def values(self, name: str) -> Any:
        return self.batch.column(self.names.index(name))

    def with_scores(self, scores: Mapping[str, Scores]) -> Any:
        import pyarrow

        columns, schema = list(self.batch.columns), self.batch.schema
        for name, column in scores.items():
            schema = schema.append(pyarrow.field(name, pyarrow.float64()))
            columns.append(_nullable(column))
        return type(self.batch).from_arrays(columns, schema=schema)


class _PandasFrame(Frame):
    def values(self, name: str) -> Any:
        return self.batch[name].to_list()

    def with_scores(self, scores: Mapping[str, Scores]) -> Any:
        return self.batch.assign(**scores)


class _PolarsFrame(Frame):
    def values(self, name: str) -> Any:
        return self.batch[name].to_arrow()

    def with_scores(self, scores: Mapping[str, Scores]) -> Any:
        import polars

        return self.batch.with_columns(
            **{name: polars.Series(column, nan_to_null=True) for name, column in scores.items()}
        )


class _Columns(Frame):
    """A dictionary: scores are lists, or arrays of NumPy where the other columns are."""

    def __len__(self) -> int:
        return len(next(iter(self.batch.values()), ()))

    def _names(self) -> Iterable[Any]:
        lengths = {str(name): len(values) for name, values in self.batch.items()}
        if len({*lengths.values()}) > 1:
            listed = ", ".join(f"{count:,} ({name})" for name, count in lengths.items())
            raise DataError(f"the columns of the batch have {listed} values; give one per row in each")
        return lengths

    def with_scores(self, scores: Mapping[str, Scores]) -> Any:
        if any(type(values).__module__ == "numpy" for values in self.batch.values()):
            return {**self.batch, **scores}
        return {**self.batch, **{name: _nullable(column).to_pylist() for name, column in scores.items()}}


_CLASSES: dict[tuple[str, str], type[Frame]] = {
    ("pyarrow", "RecordBatch"): _ArrowBatch,
    ("pyarrow", "Table"): _ArrowBatch,
    ("pandas", "DataFrame"): _PandasFrame,
    ("polars", "DataFrame"): _PolarsFrame,
}
"""By library and class."""


def opened(batch: object) -> Frame:
    """The batch, whatever it is.

    Raises:
        DataError: columns of different lengths.
        MissingDependencyError: pyarrow is not installed.
        UsageError: something else than a batch.
    """
    with of_extra("parquet", "scoring columns"):
        import pyarrow  # noqa: F401
    if isinstance(batch, Mapping):
        return _Columns(batch)
    for kind in type(batch).__mro__:
        known = _CLASSES.get((kind.__module__.partition(".")[0], kind.__name__))
        if known is not None:
            return known(batch)
    raise UsageError(f"the batch is of type {type(batch).__name__}; {ACCEPTED}")


class BatchColumns(NamedTuple):
    """Names of the columns that a batch has for them."""

    captions: str
    references: tuple[str, ...]
    """Empty where references are not wanted."""
    image_id: str | None
    """None where image ids are not wanted."""

    @property
    def all(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys([self.captions, *self.references, *filter(None, [self.image_id])]))


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


def _nullable(scores: Scores) -> Any:
    """An array of Arrow, with null for NaN."""
    import pyarrow

    return pyarrow.array(scores, from_pandas=True)
