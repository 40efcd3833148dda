"""Arrow files: the file format (feather), which is cut, and the stream format, which is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from capeval.data.partitioned.files import Found, file_system, import_pyarrow
from capeval.data.partitioned.parquet import broken, paths
from capeval.data.partitioned.text import opened
from capeval.errors import DataError

if TYPE_CHECKING:
    import pyarrow

    from capeval.data.partitioned.parts import Part

_MAGIC = b"ARROW1"


def record_batches(found: Found) -> list[tuple[int, int]] | None:
    """Rows, which are not known yet, and about the bytes of each record batch; None for a stream."""
    pyarrow = import_pyarrow()
    with broken(found.url, "arrow"), file_system(found.url).open(found.url) as source:
        if source.read(len(_MAGIC)) != _MAGIC:
            return None
        file = pyarrow.ipc.open_file(source)
        count = file.num_record_batches
        return [(0, found.bytes // count)] * count
