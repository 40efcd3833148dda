"""Parquet and Arrow files, read batch by batch through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from capeval._core import Captions, CaptionsBuilder
from capeval.errors import DataError, MissingDependencyError

TABLE_FORMATS = ("parquet", "arrow")
"""Names of the formats that `read_table` reads."""

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}


def table_format(data: bytes) -> str | None:
    """The table format that the first bytes of a file announce."""
    return next((name for magic, name in _MAGIC.items() if data.startswith(magic)), None)


def read_table(data: bytes, format: str) -> Captions:
    """Captions from the columns ``image_id`` and ``caption`` (strings) or ``captions`` (lists of strings).

    Args:
        data: the whole file.
        format: one of `TABLE_FORMATS`; ``arrow`` is the file (feather) or the stream format.

    Raises:
        DataError: the file is broken, lacks a column, or holds something else than captions.
        MissingDependencyError: pyarrow is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingDependencyError("reading Parquet and Arrow files", extra="parquet") from None
    try:
        schema, batches = _parquet(data) if format == "parquet" else _arrow(data)
        columns = _columns(schema.names)
        builder = CaptionsBuilder()
        for batch in batches:
            builder.extend(*(batch.column(name).to_pylist() for name in columns))
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"not a whole {format} file ({reason}); write or download it again") from None
    return builder.finish()


def _columns(names: list[str]) -> tuple[str, str]:
    """Names of the two columns to read."""
    given = [name for name in ("caption", "captions") if name in names]
    if "image_id" not in names or len(given) != 1:
        raise DataError(
            f"the table has the columns {', '.join(names)}; "
            "it needs image_id, and one of caption (a string) and captions (a list of strings)"
        )
    return "image_id", given[0]


def _parquet(data: bytes) -> tuple[Any, Iterator[Any]]:
    """Schema and batches of a Parquet file."""
    import pyarrow
    from pyarrow import parquet

    file = parquet.ParquetFile(pyarrow.py_buffer(data))
    wanted = [name for name in file.schema_arrow.names if name in ("image_id", "caption", "captions")]
    return file.schema_arrow, file.iter_batches(columns=wanted)


def _arrow(data: bytes) -> tuple[Any, Iterator[Any]]:
    """Schema and batches of an Arrow file or stream."""
    import pyarrow

    if not data.startswith(b"ARROW1"):
        stream = pyarrow.ipc.open_stream(data)
        return stream.schema, iter(stream)
    file = pyarrow.ipc.open_file(data)
    return file.schema, map(file.get_batch, range(file.num_record_batches))
