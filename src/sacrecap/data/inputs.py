"""Captions from any Python object that holds them: mappings, rows, lists, tables, data sets, files.

Every function that takes captions uses this module, so that all of them accept the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sacrecap._core import Captions, CaptionsBuilder
from sacrecap.errors import DataError, of_extra

if TYPE_CHECKING:

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
REFERENCES = "the references"
"""What references are called in messages."""
BY_PLACE = "(a list: image ids are positions in it, from 0)"
_ID = "image_id"
_CAPTIONS = ("caption", "captions")
_CHUNK = 10_000


def captions(source: Source, part: str, read: Callable[[str | PathLike[str]], Captions]) -> Captions:
    """The captions of a source.

    Args:
        source: one of
            `{image id: [caption, …]}` or `{image id: caption}`, where a caption may also be `{"caption": …}`;
            rows, `{"image_id": …, "caption": …}` or `{"image_id": …, "captions": […]}`, in any iterable;
            the caption or the captions of each image, in any iterable: then image ids are positions, from 0;
            a DataFrame or Arrow table, a Hugging Face data set, or a dictionary of columns, with such columns;
            a pandas Series of captions, whose index has the image ids;
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
    if isinstance(source, Mapping):
        is_columns = _ID in source and any(name in source for name in _CAPTIONS)
        return _of_columns(list(source), [source], part) if is_columns else Captions.from_dict(source)
    if is_table(source):
        return _of_table(source, part)
    if hasattr(source, "to_list") and hasattr(source, "index"):
        return _of_columns([_ID, "caption"], [{_ID: source.index.to_list(), "caption": source.to_list()}], part)
    if not isinstance(source, Iterable) or isinstance(source, (bytes, bytearray, set, frozenset)) or _is_open(source):
        raise DataError(f"{part} are of type {type(source).__name__}; {ACCEPTED}")
    return _of_items(iter(source.to_pylist() if hasattr(source, "to_pylist") else source), part)


def by_place(captions: Captions) -> bool:
    """Whether these came as a list, so that their image ids are positions in it."""
    return captions.source is not None and captions.source.endswith(BY_PLACE)


def is_table(source: object) -> bool:
    """Whether this has named columns: a DataFrame, an Arrow table or a Hugging Face data set."""
    if getattr(source, "column_names", None) is not None or hasattr(source, "iterrows"):
        return True
    # A single Arrow column also has the interface of a table, but no columns.
    return hasattr(source, "__arrow_c_stream__") and not hasattr(source, "to_list") and not hasattr(source, "to_pylist")


def _is_open(source: object) -> bool:
    return hasattr(source, "read")


def _of_table(source: Any, part: str) -> Captions:
    if hasattr(source, "select_columns"):
        chosen = source.select_columns(list(_chosen(source.column_names, part)))
        return _of_columns(source.column_names, chosen.with_format(None).iter(batch_size=_CHUNK), part)
    if hasattr(source, "iterrows"):
        frame = source.reset_index() if _ID not in source.columns and source.index.name == _ID else source
        columns = {name: frame[name].to_list() for name in _chosen(list(map(str, frame.columns)), part)}
        return _of_columns(list(columns), [columns], part)
    with of_extra("parquet", "captions in an Arrow table"):
        import pyarrow
    reader = pyarrow.RecordBatchReader.from_stream(source)
    return _of_columns(reader.schema.names, (_lists(batch) for batch in reader), part)


def _lists(batch: Any) -> Mapping[str, list[object]]:
    wanted = [name for name in (_ID, *_CAPTIONS) if name in batch.schema.names]
    return {name: batch.column(name).to_pylist() for name in wanted}


def _of_columns(names: Sequence[str], batches: Iterable[Mapping[str, Iterable[Any]]], part: str) -> Captions:
    """The captions in two of these columns, whose values come batch by batch."""
    ids, texts = _chosen(names, part)
    builder = CaptionsBuilder()
    for batch in batches:
        columns = list(batch[ids]), list(batch[texts])
        if len(columns[0]) != len(columns[1]):
            raise DataError(
                f"{part}: the column {ids} has {len(columns[0]):,} values, {texts} has {len(columns[1]):,}; give one "
                "per row in each"
            )
        builder.extend(*columns)
    return builder.finish()


def _chosen(names: Sequence[str], part: str) -> tuple[str, str]:
    """The columns of image ids and of captions."""
    given = [name for name in _CAPTIONS if name in names]
    if _ID not in names or len(given) != 1:
        raise DataError(
            f"{part}: the table has the columns {', '.join(map(str, names))}; it needs image_id, and one of caption (a "
            "string) and captions (a list of strings): rename those that hold them"
        )
    return _ID, given[0]


def _of_items(items: Iterator[Any], part: str) -> Captions:
    """The captions of rows, or of images by their positions."""
    first: Any = next(items, None)
    rows = isinstance(first, Mapping)
    if rows:
        _chosen(list(first), f"{part}, row 0")
    elif first is not None and not isinstance(first, str) and not isinstance(first, Iterable):
        raise DataError(f"{part}: item 0 is of type {type(first).__name__}; {ACCEPTED}")
    items = chain(() if first is None else (first,), items)
    builder, start = CaptionsBuilder(), 0
    while chunk := list(islice(items, _CHUNK)):
        if rows:
            builder.extend(*map(list, zip(*(_row(row, start + n, part) for n, row in enumerate(chunk)), strict=True)))
        else:
            builder.extend(list(range(start, start + len(chunk))), chunk)
        start += len(chunk)
    captions = builder.finish()
    return captions if rows else captions.named(f"{part} {BY_PLACE}")


def _row(row: Any, number: int, part: str) -> tuple[Any, Any]:
    if not isinstance(row, Mapping):
        raise DataError(f"{part}: row {number} is of type {type(row).__name__}, others are mappings; {ACCEPTED}")
    try:
        return row[_ID], row["caption"] if "caption" in row else row["captions"]
    except KeyError as missing:
        raise DataError(
            f"{part}: row {number} has no {missing.args[0]!r}, only {', '.join(map(repr, row))}; each row needs "
            "'image_id' and 'caption' (or 'captions')"
        ) from None
