"""Arrow files: the file format (feather), which is cut where it is on this machine, and the stream format."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sacrecap.data.partitioned.files import Found, Local, file_system, import_pyarrow
from sacrecap.data.partitioned.parquet import CHANGED, broken
from sacrecap.data.partitioned.part import Part, Raw
from sacrecap.data.partitioned.text import opened
from sacrecap.data.rows import paths
from sacrecap.errors import DataError

if TYPE_CHECKING:
    import pyarrow


_MAGIC = b"ARROW1"


def record_batches(found: Found) -> list[tuple[int, int]] | None:
    """Rows and about the bytes of each record batch; None for a file that is read from its start to its end."""
    files = file_system(found.url)
    with broken(found.url, "arrow"), files.open(found.url) as source:
        if source.read(len(_MAGIC)) != _MAGIC or not isinstance(files, Local):
            return None
    with opened_file(found.url) as file:
        count = file.num_record_batches
        return [(file.get_batch(number).num_rows, found.bytes // count) for number in range(count)]


def read(part: Part, choose: Callable[[list[str]], list[str]], rows: int) -> Iterator[Raw]:
    """The part's batches. See `sacrecap.data.partitioned.parquet.read`."""
    import numpy as np

    number = part.before + 1
    with broken(part.file, "arrow"):
        top: list[str] = []
        for whole in _batches(part):
            if whole.num_rows and not top:
                wanted = choose([path for field in whole.schema for path in paths(field)])
                top = list(dict.fromkeys(_outer(name, whole.schema.names) for name in wanted))
            # Unlike those of Parquet, these bytes are taken as they are: a damaged file must not lead outside them.
            chosen = whole.select(top)
            chosen.validate(full=True)
            for start in range(0, chosen.num_rows, rows):
                batch = chosen.slice(start, rows)
                yield Raw(np.arange(number, number + batch.num_rows), batch, [])
                number += batch.num_rows


def _outer(path: str, names: Sequence[str]) -> str:
    """The column in which a path leads."""
    return path if path in names else path.partition(".")[0]


def _batches(part: Part) -> Iterator[Any]:
    """The record batches of a part."""
    pyarrow = import_pyarrow()
    if part.first is not None:
        with opened_file(part.file) as file:
            if file.num_record_batches < (part.end or 0):
                raise DataError(f"{part.file}: {CHANGED}")
            for number in range(part.first, part.end or 0):
                yield file.get_batch(number)
        return
    with opened(part.file) as source, broken(part.file, "arrow"):
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
    pyarrow = import_pyarrow()
    files = file_system(url)
    with broken(url, "arrow"):
        source = pyarrow.memory_map(url.removeprefix("file://")) if isinstance(files, Local) else files.open(url)
        with source:
            yield pyarrow.ipc.open_file(source)
