"""Parquet and Arrow files; of the latter the file format (feather), which is cut on this machine, and the stream."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sacrecap.data.listing import Found, local_path
from sacrecap.data.partitioned.files import import_pyarrow, open_file
from sacrecap.data.partitioned.part import Part, Raw, RemoteTable
from sacrecap.data.partitioned.text import opened
from sacrecap.data.rows import columns_of, stored, whole
from sacrecap.errors import DataError

if TYPE_CHECKING:
    import pyarrow

_MAGIC = b"ARROW1"
_CHANGED = "has changed since its parts were listed; start again"
_PIECE = 1 << 20
"""Bytes of a column that are read at once."""


def row_groups(url: str) -> list[tuple[int, int]]:
    """Rows and compressed bytes of each row group. Raises `DataError` for a file that is no whole Parquet file."""
    with _opened(url) as file:
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        return [
            (group.num_rows, sum(group.column(place).total_compressed_size for place in range(group.num_columns)))
            for group in groups
        ]


def read_parquet(part: Part, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:
    """The part's batches.

    Args:
        part: row groups of a file.
        choose: the columns to read, of those that there are.
        rows: the most rows of a batch.

    Raises:
        DataError: the file is broken, gone, or not the one that was listed.
    """
    with _opened(part.file) as file:
        if file.metadata.num_row_groups < (part.end or 0):
            raise DataError(f"{part.file}: {_CHANGED}")
        if not part.rows:
            return
        known = [path for field in file.schema_arrow for path in columns_of(field)]
        columns = stored(choose(known), known)
        groups = list(range(part.first or 0, part.end or 0))
        found = file.iter_batches(batch_size=rows, row_groups=groups, columns=columns, use_threads=True)
        last = yield from _numbered(found, part.before)
        if last != part.before + part.rows:
            raise DataError(f"{part.file}: {_CHANGED}")


@contextlib.contextmanager
def _opened(url: str) -> Iterator[Any]:
    """The file, closed in the end; what pyarrow says of it becomes a `DataError` that names it."""
    import_pyarrow()
    from pyarrow import parquet

    with _broken(url, "parquet"), open_file(url) as source:
        # A file here is read piece by piece; elsewhere, all that is needed of a row group is asked for at once.
        here = local_path(url) is not None
        with parquet.ParquetFile(source, pre_buffer=not here, buffer_size=_PIECE if here else 0) as file:
            yield file


def record_batches(found: Found) -> list[tuple[int, int]] | None:
    """Rows and about the bytes of each record batch; None for a file that is read from its start to its end."""
    with _broken(found.url, "arrow"), open_file(found.url) as source:
        if source.read(len(_MAGIC)) != _MAGIC or local_path(found.url) is None:
            return None
    with opened_file(found.url) as file:
        count = file.num_record_batches
        return [(file.get_batch(number).num_rows, found.bytes // count) for number in range(count)]


def read_arrow(part: Part, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:
    """The part's batches. See `read_parquet`."""

    def chosen() -> Iterator[pyarrow.RecordBatch]:
        top: list[str] = []
        for every in _batches(part):
            if every.num_rows and not top:
                known = [path for field in every.schema for path in columns_of(field)]
                top = list(dict.fromkeys(_outer(name, every.schema.names) for name in stored(choose(known), known)))
            # Unlike those of Parquet, these bytes are taken as they are: a damaged file must not lead outside them.
            batch = every.select(top)
            batch.validate(full=True)
            yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))

    with _broken(part.file, "arrow"):
        yield from _numbered(chosen(), part.before)


def read_joined(table: RemoteTable, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:
    """The batches of rows that were joined, whose texts were looked at before. See `read_parquet`."""
    found = table.get()
    yield from _numbered(found.select(choose(found.column_names)).to_batches(max_chunksize=rows), 0)


def _numbered(batches: Iterable[pyarrow.RecordBatch], last: int) -> Generator[Raw, None, int]:
    """The batches with their rows' numbers, after that of the last row before; returns that of the last."""
    import numpy as np

    for batch in batches:
        yield Raw(np.arange(last + 1, last + 1 + batch.num_rows), batch, [])
        last += batch.num_rows
    return last


def _outer(path: str, names: Sequence[str]) -> str:
    """The column in which a path leads."""
    return path if path in names else path.partition(".")[0]


def _batches(part: Part) -> Iterator[Any]:
    """The record batches of a part."""
    pyarrow = import_pyarrow()
    if part.first is not None:
        with opened_file(part.file) as file:
            if file.num_record_batches < (part.end or 0):
                raise DataError(f"{part.file}: {_CHANGED}")
            for number in range(part.first, part.end or 0):
                yield file.get_batch(number)
        return
    with opened(part.file) as source, _broken(part.file, "arrow"):
        start = source.read(8)
        if not start:
            raise DataError(f"{part.file}: the file is empty; write it again, or remove it")
        # A file is a stream between a mark at its start and an index at its end.
        rest = _Rest(b"" if start.startswith(_MAGIC) else start, source)
        yield from pyarrow.ipc.open_stream(pyarrow.PythonFile(rest, mode="r"))
        if rest.ended:
            raise DataError(f"{part.file}: not a whole arrow file (it ends early); write or download it again")


class _Rest:
    """A file of which the first bytes were read."""

    closed = False

    def __init__(self, start: bytes, rest: pyarrow.NativeFile) -> None:
        self._start, self._rest = start, rest
        self.ended = False
        """Whether it had less than was asked for, which happens not to a stream that is ended as it should be."""

    def read(self, size: int) -> bytes:
        """So many bytes, or all that are left."""
        start, self._start = self._start[:size], self._start[size:]
        data = start + bytes(self._rest.read(size - len(start))) if len(start) < size else start
        self.ended |= len(data) < size
        return data


@contextlib.contextmanager
def opened_file(url: str) -> Iterator[Any]:
    """A file of the file format, for any of its batches; on this machine, what is not read takes no memory."""
    pyarrow, path = import_pyarrow(), local_path(url)
    with _broken(url, "arrow"):
        source = pyarrow.memory_map(path) if path is not None else open_file(url)
        with source:
            yield pyarrow.ipc.open_file(source)


@contextlib.contextmanager
def _broken(url: str, format: str) -> Iterator[None]:
    """Turns errors of pyarrow into a `DataError` that names the file."""
    import_pyarrow()
    try:
        with whole(format, f"{url}: "):
            yield
    except FileNotFoundError:
        raise DataError(f"{url}: no such file") from None
