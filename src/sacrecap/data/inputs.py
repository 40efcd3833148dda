"""Captions from any Python object that holds them: mappings, rows, lists, tables, data sets, files; and batches of
rows, as pipelines hand them around, to which columns of scores are added.

Every function that takes captions uses this module, so that all of them accept the same.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sacrecap._core import Captions, CaptionsBuilder
from sacrecap.data.cells import unwritten
from sacrecap.data.shapes import NamedColumns, Names, shape_of_columns, some_columns
from sacrecap.errors import DataError, UsageError, naming, of_extra, option, some

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float64]

    class ArrowTable(Protocol):
        """A table of any library that speaks the Arrow C interface: pandas, Polars, PyArrow, DuckDB and others."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

    class DataSet(Protocol):
        """A Hugging Face data set."""

        def select_columns(self, column_names: Any) -> Any: ...


Caption: TypeAlias = "str | Mapping[str, Any]"
"""A caption, or an annotation in pycocoevalcap's form: `{"caption": "a dog"}`."""
Source: TypeAlias = (
    "Mapping[Any, Any] | Iterable[Mapping[str, Any]] | Iterable[str] | Iterable[Sequence[str]] | ArrowTable | DataSet"
    " | str | PathLike[str] | Captions"
)
"""Accepted sources of captions: see [`captions`][sacrecap.data.inputs.captions]."""

ACCEPTED = (
    "accepted are {image id: caption or [caption, …]}, rows like {'image_id': …, 'caption': …}, a list with the "
    "caption "
    "or the captions of each image, a DataFrame, Arrow table or Hugging Face data set with the columns image_id and "
    "caption or captions, and the path of a file"
)
BY_PLACE = "(a list: image ids are positions in it, from 0)"
BY_LABEL = "(a Series: image ids are its index)"
_NO_LISTS = (bytes, bytearray, set, frozenset)
_ID = "image_id"
_CAPTIONS = ("caption", "captions")
_CHUNK = 10_000


def captions(source: Source, part: str, read: Callable[[str | PathLike[str]], Captions]) -> Captions:
    """The captions of a source.

    What holds no caption (None, NaN, NA, null) is an empty one; an empty list is an image without captions.

    Args:
        source: one of
            `{image id: [caption, …]}` or `{image id: caption}`, where a caption may also be `{"caption": …}`;
            rows, `{"image_id": …, "caption": …}` or `{"image_id": …, "captions": […]}`, in any iterable;
            the caption or the captions of each image, in any iterable: then image ids are positions, from 0;
            a DataFrame or Arrow table, a Hugging Face data set, or a dictionary of columns, with such columns;
            a pandas Series of captions, whose index has the image ids, unless the other side comes by place;
            a file's path; or captions that were read before.
        part: their name in messages, such as `the candidates`.
        read: the reader for a path.

    Raises:
        DataError: anything else, or a caption or image id of another type.
    """
    if isinstance(source, Captions):
        return source
    if isinstance(source, (str, PathLike)):
        return read(source)
    values: Any = source
    with naming(f"{part}: "):
        if isinstance(values, Mapping):
            is_columns = _ID in values and any(name in values for name in _CAPTIONS)
            captions = _of_columns(list(values), [values]) if is_columns else Captions.from_dict(values)
        elif is_table(values):
            captions = _of_table(values)
        elif _is_series(values):
            captions = _of_columns([_ID, "caption"], [{_ID: values.index, "caption": values}])
            captions = captions.named(f"{part} {BY_LABEL}")
        elif hasattr(values, "read") or not isinstance(values, Iterable) or isinstance(values, _NO_LISTS):
            raise DataError(f"they are of type {type(values).__name__}; {ACCEPTED}")
        else:
            captions = _of_items(values, part)
        return unwritten(captions)


def by_place(captions: Captions) -> bool:
    """Whether these came as a list, so that their image ids are positions in it."""
    return captions.source is not None and captions.source.endswith(BY_PLACE)


def with_places(sources: Sequence[Any]) -> list[Any]:
    """References and candidates; of a Series whose numbers repeat as labels, the places, if a list is as long."""
    repeating = [_is_series(source) and not source.index.is_unique and _are_numbers(source.index) for source in sources]
    if not any(repeating):
        return [*sources]
    known: list[Any] = [[*source] if isinstance(source, Iterator) else source for source in sources]
    lengths = {_length(source) for source in known}
    pairs = zip(known, repeating, strict=True)
    return [source.to_list() if repeats and len(source) in lengths else source for source, repeats in pairs]


def _length(source: Any) -> int | None:
    """How many captions come by their places; None where they have ids."""
    encoded = getattr(source, "captions", None)  # of `References`
    source = encoded if isinstance(encoded, Captions) else source
    if isinstance(source, Captions):
        return len(source) if by_place(source) else None
    has_ids = isinstance(source, (str, PathLike, Mapping)) or is_table(source) or _is_series(source)
    if has_ids or not hasattr(source, "__len__") or not hasattr(source, "__getitem__"):
        return None
    return None if len(source) and isinstance(source[0], Mapping) and _ID in source[0] else len(source)


def _is_series(source: Any) -> bool:
    """Whether it is one of pandas, which has labels."""
    return hasattr(source, "to_list") and hasattr(source, "index")


def _are_numbers(labels: Iterable[Any]) -> bool:
    return all(str(label).lstrip("-").isdecimal() for label in labels)


def side_by_side(references: Captions, candidates: Captions) -> Captions:
    """The candidates by the references' ids, where one of the two came by place and the other has labels.

    Labels that are numbers are those of a table that was shuffled, cut or joined: both are taken by place, if as many.
    """
    labelled = {by_place(side): side for side in (references, candidates)}.get(False)
    if labelled is None or not (by_place(references) or by_place(candidates)):
        return candidates
    ids, labels = references.image_ids, labelled.image_ids
    if not (labelled.source or "").endswith(BY_LABEL) or len(ids) != len(candidates):
        return candidates
    if not _are_numbers(labels):
        other = candidates if labelled is references else references
        raise DataError(
            f"{labelled.source}: its index has {some(labels)}, and {other.source}: they cannot be matched; give both "
            "with image ids, or the Series as a list, by .tolist()"
        )
    texts = candidates.to_dict().values()
    return candidates.with_texts(dict(zip(ids, texts, strict=True)))


def is_table(source: object) -> bool:
    """Whether this has named columns: a DataFrame, an Arrow table or a Hugging Face data set."""
    if getattr(source, "column_names", None) is not None or hasattr(source, "iterrows"):
        return True
    # A single Arrow column also has the interface of a table, but no columns.
    return hasattr(source, "__arrow_c_stream__") and not hasattr(source, "to_list") and not hasattr(source, "to_pylist")


def _of_table(source: Any) -> Captions:
    if hasattr(source, "select_columns"):
        chosen = source.select_columns(list(_chosen(source.column_names)))
        return _of_columns(source.column_names, chosen.with_format(None).iter(batch_size=_CHUNK))
    if hasattr(source, "iterrows"):
        frame = source.reset_index() if _ID not in source.columns and _ID in source.index.names else source
        names = list(map(str, frame.columns))
        return _of_columns(names, [{name: frame[name] for name in _chosen(names)}])
    with of_extra("parquet", "captions in an Arrow table"):
        import pyarrow
    reader = pyarrow.RecordBatchReader.from_stream(source)
    chosen = _chosen(reader.schema.names)
    return _of_columns(reader.schema.names, ({name: batch.column(name) for name in chosen} for batch in reader))


def _of_columns(names: Sequence[str], batches: Iterable[Mapping[str, Any]]) -> Captions:
    """The captions in two of these columns, whose values come batch by batch."""
    ids, texts = _chosen(names)
    builder = CaptionsBuilder(first=0)
    for batch in batches:
        columns = [listed(batch[name]) for name in (ids, texts)]
        if len(columns[0]) != len(columns[1]):
            raise DataError(
                f"the column {ids} has {len(columns[0]):,} values, {texts} has {len(columns[1]):,}; give one "
                "per row in each"
            )
        builder.extend(*columns)
    return builder.finish()


def listed(column: Any) -> Any:
    """The values of a column: an array of Arrow as it is, anything else as a list."""
    if hasattr(column, "to_pylist"):
        return column
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise DataError(f"a column is of type {type(column).__name__}; give one value per row, in a list")
    return column.to_list() if hasattr(column, "to_list") else list(column)


def _chosen(names: Sequence[str], where: str = "the table") -> tuple[str, str]:
    """The columns of image ids and of captions."""
    named = [name for name in names if name in _CAPTIONS]
    if list(names).count(_ID) != 1 or len(named) != 1:
        raise DataError(
            f"{where} has the columns {', '.join(map(str, names))}; it needs image_id, and one of caption (a "
            "string) and captions (a list of strings), each once: rename those that hold them"
        )
    return _ID, named[0]


def _of_items(source: Any, part: str) -> Captions:
    """The captions of rows, or of images by their positions: the first item that is no hole says which."""
    if hasattr(source, "to_pylist") or hasattr(source, "to_list"):  # a column of Arrow, or of Polars
        values = listed(source)
        builder = CaptionsBuilder(first=0)
        builder.extend(list(range(len(values))), values)
        return builder.finish().named(f"{part} {BY_PLACE}")
    items, builder, start, rows = iter(source), CaptionsBuilder(first=0), 0, None
    while chunk := list(islice(items, _CHUNK)):
        if rows is None:
            place, first = next(((n, item) for n, item in enumerate(chunk) if isinstance(item, Iterable)), (0, None))
            rows = isinstance(first, Mapping)
            if isinstance(first, Mapping):
                _chosen(list(first), f"row {place}")
        if not rows:
            builder.extend(list(range(start, start + len(chunk))), chunk)
        else:
            ids, texts = [], []
            for number, row in enumerate(chunk, start):
                if not isinstance(row, Mapping):
                    raise DataError(f"row {number} is of type {type(row).__name__}, others are mappings; {ACCEPTED}")
                try:
                    ids.append(row[_ID])
                    texts.append(row["caption"] if "caption" in row else row["captions"])
                except KeyError as missing:
                    raise DataError(
                        f"row {number} has no {missing.args[0]!r}, only {', '.join(map(repr, row))}; each row needs "
                        "'image_id' and 'caption' (or 'captions')"
                    ) from None
            builder.extend(ids, texts)
        start += len(chunk)
    captions = builder.finish()
    return captions if rows else captions.named(f"{part} {BY_PLACE}")


class Frame:
    """A batch of rows, whatever it is. Raises `UsageError` for something else."""

    def __init__(self, batch: Any) -> None:
        with of_extra("parquet", "scoring columns"):
            import pyarrow  # noqa: F401
        kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(batch).__mro__]
        accepted = ("pyarrow.RecordBatch", "pyarrow.Table", "pandas.DataFrame", "polars.DataFrame")
        libraries = [kind.partition(".")[0] for kind in kinds if kind in accepted]
        if not libraries and not isinstance(batch, Mapping):
            raise UsageError(
                f"the batch is of type {type(batch).__name__}; accepted are a pyarrow RecordBatch or Table, a pandas "
                "or Polars DataFrame, and a dictionary of columns (lists or NumPy arrays)"
            )
        self._library = "" if isinstance(batch, Mapping) else libraries[0]
        self._batch = batch
        names = batch.schema.names if self._library == "pyarrow" else batch.columns if self._library else batch
        self.names: list[str] = list(map(str, names))
        lengths = {} if self._library else {str(name): len(values) for name, values in batch.items()}
        if len({*lengths.values()}) > 1:
            listed = ", ".join(f"{count:,} ({name})" for name, count in lengths.items())
            raise DataError(f"the columns of the batch have {listed} values; give one per row in each")
        self._rows = len(batch) if self._library else next(iter(lengths.values()), 0)

    def __len__(self) -> int:
        return self._rows

    def values(self, name: str) -> Any:
        """A column, as a list or an array of Arrow."""
        if self._library == "pyarrow":
            return self._batch.column(self.names.index(name))
        column = self._batch[name]
        return column.to_arrow() if self._library == "polars" else listed(column)

    def with_scores(self, scores: Mapping[str, Scores]) -> Any:
        """The batch with these columns; NaN is null where the library has nulls. A dictionary has lists, or arrays."""
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


@lru_cache(maxsize=64)
def chosen_columns(
    names: tuple[str, ...],
    captions: str | None,
    references: str | tuple[str, ...] | None,
    image_id: str | None,
    *,
    described: bool,
    of_images: bool,
) -> NamedColumns:
    """The columns among these, as named or recognised: references of `described` images, ids of rows `of_images`."""
    shape = shape_of_columns(names)
    absent: list[tuple[str, str]] = []

    def chosen(keyword: str, named: Names, recognised: Sequence[str]) -> tuple[str, ...]:
        patterns = (named,) if isinstance(named, str) else tuple(named or ())
        by_name = {pattern: [pattern] if pattern in names else fnmatch.filter(names, pattern) for pattern in patterns}
        columns = [name for matching in by_name.values() for name in matching] if patterns else recognised
        if not columns or not all(by_name.values()):
            absent.append((next((pattern for pattern, matching in by_name.items() if not matching), keyword), keyword))
        return tuple(columns)

    texts = chosen("captions", captions, () if captions is not None else shape.of_part("candidates")[:1])
    about: tuple[str, ...] = ()
    if described:
        rest = shape_of_columns([name for name in names if name not in texts])
        about = chosen("references", references, () if references is not None else rest.of_part("references"))
    ids = chosen("image_id", image_id, shape.ids[:1]) if of_images or image_id is not None else ()
    if absent:
        raise DataError(
            f"the batch has the columns {some_columns(names)}, and not {' and '.join(name for name, _ in absent)}; "
            f"name others by {' and '.join(option(keyword, 'NAME') for _, keyword in absent)}"
        )
    return NamedColumns(ids[:1], texts[:1], about)
