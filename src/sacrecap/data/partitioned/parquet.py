"""Parquet files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sacrecap.data.partitioned.files import Local, file_system, import_pyarrow
from sacrecap.data.partitioned.part import Part, Raw
from sacrecap.data.rows import paths
from sacrecap.errors import DataError, SacrecapError

if TYPE_CHECKING:
    from collections.abc import Callable


def row_groups(url: str) -> list[tuple[int, int]]:
    """Rows and compressed bytes of each row group. Raises `DataError` for a file that is no whole Parquet file."""
    with _opened(url) as file:
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        return [
            (group.num_rows, sum(group.column(place).total_compressed_size for place in range(group.num_columns)))
            for group in groups
        ]


def read(part: Part, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:
    """The part's batches.

    Args:
        part: row groups of a file.
        choose: the columns to read, of those that there are.
        rows: the most rows of a batch.

    Raises:
        DataError: the file is broken, gone, or not the one that was listed.
    """
    import numpy as np

    with _opened(part.file) as file:
        if file.metadata.num_row_groups < (part.end or 0):
            raise DataError(f"{part.file}: {CHANGED}")
        if not part.rows:
            return
        columns = choose([path for field in file.schema_arrow for path in paths(field)])
        groups = list(range(part.first or 0, part.end or 0))
        number = part.before + 1
        for batch in file.iter_batches(batch_size=rows, row_groups=groups, columns=columns, use_threads=True):
            yield Raw(np.arange(number, number + batch.num_rows), batch, [])
            number += batch.num_rows
        if number - 1 - part.before != part.rows:
            raise DataError(f"{part.file}: {CHANGED}")


@contextlib.contextmanager
def _opened(url: str) -> Iterator[Any]:
    """The file, closed in the end; what pyarrow says of it becomes a `DataError` that names it."""
    import_pyarrow()
    from pyarrow import parquet

    files = file_system(url)
    with broken(url, "parquet"), files.open(url) as source:
        # A file here is read piece by piece; elsewhere, all that is needed of a row group is asked for at once.
        here = isinstance(files, Local)
        with parquet.ParquetFile(source, pre_buffer=not here, buffer_size=_PIECE if here else 0) as file:
            yield file


CHANGED = "has changed since its parts were listed; start again"
_PIECE = 1 << 20
"""Bytes of a column that are read at once."""


@contextlib.contextmanager
def broken(url: str, format: str) -> Iterator[None]:
    """Turns errors of pyarrow into a `DataError` that names the file."""
    pyarrow = import_pyarrow()
    try:
        yield
    except SacrecapError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, EOFError) as error:
        if isinstance(error, FileNotFoundError):
            raise DataError(f"{url}: no such file") from None
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{url}: not a whole {format} file ({reason}); write or download it again") from None
