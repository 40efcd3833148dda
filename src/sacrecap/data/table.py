"""Parquet and Arrow files, read batch by batch through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sacrecap.errors import DataError, MissingDependencyError

TABLE_FORMATS = ("parquet", "arrow")
"""Names of the formats that are read through pyarrow."""

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_ROWS = 10_000
"""Rows of a Parquet file that are read together."""


def table_format(data: bytes) -> str | None:
    """The table format, recognised from the first bytes of a file."""
    return next((name for magic, name in _MAGIC.items() if data.startswith(magic)), None)


class ArrowRows:
    """The rows of a Parquet or Arrow file: `sacrecap.data.rows.Rows`.

    Parts of a struct are named by paths: the images of a Hugging Face data set are `image.bytes`, which is not read,
    and `image.path`.

    Args:
        data: the whole file.
        format: one of `TABLE_FORMATS`; ``arrow`` is the file (feather) or the stream format.

    Raises:
        DataError: the file is broken, now or as its rows are read.
        MissingDependencyError: pyarrow is not installed.
    """

    def __init__(self, data: bytes, format: str) -> None:
        try:
            import pyarrow
        except ImportError:
            raise MissingDependencyError("reading Parquet and Arrow files", extra="parquet") from None
        self._broken = (pyarrow.ArrowException, OSError, ValueError)
        self._data, self._format = data, format
        try:
            schema = _parquet_file(data).schema_arrow if format == "parquet" else _arrow(data)[0]
        except self._broken as error:
            raise self._not_whole(error) from None
        self.names: list[str] = [path for field in schema for path in paths(field)]

    def batches(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """The values of these columns, as a list per column, batch by batch."""
        try:
            if self._format == "parquet":
                batches = _parquet_file(self._data).iter_batches(batch_size=_ROWS, columns=list(names))
            else:
                batches = _arrow(self._data)[1]
            for batch in batches:
                yield [column(batch, name).to_pylist() for name in names]
        except self._broken as error:
            raise self._not_whole(error) from None

    def _not_whole(self, error: Exception) -> DataError:
        if isinstance(error, DataError):
            return error
        reason = str(error).strip().partition("\n")[0]
        return DataError(f"not a whole {self._format} file ({reason}); write or download it again")


def paths(field: Any) -> list[str]:
    """The columns that a field has: a struct's parts go by paths, as `image.path`."""
    import pyarrow

    if not pyarrow.types.is_struct(field.type):
        return [field.name]
    return [f"{field.name}.{field.type.field(number).name}" for number in range(field.type.num_fields)]


def column(batch: Any, path: str) -> Any:
    """A column of a batch, or of a struct in it."""
    import pyarrow.compute

    if path in batch.schema.names:
        return batch.column(path)
    outer, _, inner = path.partition(".")
    return pyarrow.compute.struct_field(batch.column(outer), inner)


def _parquet_file(data: bytes) -> Any:
    import pyarrow
    from pyarrow import parquet

    return parquet.ParquetFile(pyarrow.py_buffer(data))


def _arrow(data: bytes) -> tuple[Any, Iterator[Any]]:
    """Schema and batches of an Arrow file or stream."""
    import pyarrow

    if not data.startswith(b"ARROW1"):
        stream = pyarrow.ipc.open_stream(data)
        return stream.schema, iter(stream)
    file = pyarrow.ipc.open_file(data)
    return file.schema, map(file.get_batch, range(file.num_record_batches))
