"""The bytes of files that are read from their start to their end, decompressed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sacrecap.data.partitioned.files import file_system, import_pyarrow
from sacrecap.data.partitioned.part import BadRow, Raw
from sacrecap.data.source import compression
from sacrecap.errors import DataError, SacrecapError

if TYPE_CHECKING:
    import pyarrow

    from sacrecap._core import RowsOfText

_MAGIC = 6
"""Bytes of a file that tell how it is compressed."""
_BEGINNING = 1 << 16
"""Bytes of a file that tell what it is."""
BOM = b"\xef\xbb\xbf"
"""Byte-order mark of UTF-8, which some programs write."""


@contextlib.contextmanager
def opened(url: str) -> Iterator[pyarrow.NativeFile]:
    """The file's bytes in order, without gzip, bzip2, xz or zstd around them, and without a byte-order mark.

    Raises:
        DataError: the file is not there, or its compressed data is broken or ends early, now or as it is read.
    """
    import lzma

    pyarrow = import_pyarrow()
    with contextlib.ExitStack() as stack:
        source: Any = stack.enter_context(file_system(url).open(url))
        kind = _compression(source)
        try:
            if kind == "xz":
                source = stack.enter_context(pyarrow.PythonFile(stack.enter_context(lzma.LZMAFile(source)), mode="r"))
            elif kind is not None:
                source = stack.enter_context(pyarrow.CompressedInputStream(source, kind.replace("ip2", "2")))
            yield source
        except SacrecapError:
            raise
        except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
            if kind is None:
                raise DataError(f"{url}: cannot be read: {error}") from None
            reason = str(error).strip().partition("\n")[0]
            raise DataError(f"{url}: broken {kind} data ({reason}); write or download the file again") from None


def is_plain(url: str) -> bool:
    """Whether the file is not compressed, so that it can be read from any place. Raises `DataError` if it is gone."""
    with file_system(url).open(url) as source:
        return _compression(source) is None


def _compression(source: Any) -> str | None:
    """How the file is compressed, which its first bytes tell; it is at its start again."""
    start = bytes(source.read(_MAGIC))
    source.seek(0)
    return compression(start)


def beginning(url: str) -> bytes:
    """The first bytes of a file, decompressed, without a byte-order mark."""
    with opened(url) as source:
        return bytes(source.read(_BEGINNING)).removeprefix(BOM)


def raw(found: RowsOfText, names: Sequence[str], file: str) -> Raw:
    """Rows of text as a batch of Arrow."""
    import numpy as np
    import pyarrow

    numbers = np.frombuffer(found.numbers, dtype="<u8").astype(np.int64)
    arrays = [_array(len(numbers), *found.buffers(place)) for place in range(len(names))]
    batch = pyarrow.RecordBatch.from_arrays(arrays, names=list(names))
    return Raw(numbers, batch, [BadRow(file, *row) for row in found.bad])


def _array(length: int, has_lists: bool, buffers: Sequence[bytes | None]) -> pyarrow.Array:
    """A column out of the buffers of `RowsOfText`."""
    import pyarrow

    valid, offsets, *texts = [None if own is None else pyarrow.py_buffer(own) for own in buffers]
    if not has_lists:
        return pyarrow.Array.from_buffers(pyarrow.large_string(), length, [valid, offsets, *texts])
    count = len(buffers[3] or b"") // 8 - 1
    values = pyarrow.Array.from_buffers(pyarrow.large_string(), count, texts)
    lists = pyarrow.large_list(pyarrow.large_string())
    return pyarrow.Array.from_buffers(lists, length, [valid, offsets], children=[values])
