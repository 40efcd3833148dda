"""Columns of Arrow as captions, without a Python object per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from capeval import _core

if TYPE_CHECKING:
    import pyarrow


def captions(image_ids: pyarrow.Array, column: pyarrow.Array) -> _core.Captions:
    """Captions of images: an id each, and a text or a list of texts each; nothing is null."""
    import numpy as np
    import pyarrow

    rows = len(image_ids)
    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        return _core.Captions.of_columns(_texts(image_ids), np.arange(rows + 1, dtype="<u8"), _texts(column))
    lists = column.cast(pyarrow.large_list(pyarrow.large_string()))
    first = np.frombuffer(lists.buffers()[1], dtype="<u8")[lists.offset : lists.offset + rows + 1]
    return _core.Captions.of_columns(_texts(image_ids), np.ascontiguousarray(first), _texts(lists.values))


def _texts(column: pyarrow.Array) -> tuple[Any, Any]:
    """Offsets (u64) and UTF-8 of texts."""
    import numpy as np
    import pyarrow

    texts = column.cast(pyarrow.large_string())
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype="<u8")[texts.offset : texts.offset + len(texts) + 1] if len(texts) else [0]
    return np.ascontiguousarray(ends, dtype="<u8"), b"" if data is None else data
