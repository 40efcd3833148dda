"""Captions as token ids: converts arrays, as models have them, to the input of the native core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sacrecap import _core
from sacrecap.errors import DataError

if TYPE_CHECKING:
    import numpy.typing as npt

    TokenIds = npt.NDArray[np.integer] | Sequence[Sequence[int]]


def pack_references(references: Sequence[TokenIds], end_of_sentence: int | None) -> tuple[bytes, list[int], list[int]]:
    """All references as the native core takes them: ids, lengths, references per image."""
    groups = [as_rows(ids, f"references[{number}]") for number, ids in enumerate(references)]
    sizes = [len(group) for group in groups]
    if 0 in sizes:
        raise DataError(f"references[{sizes.index(0)}] is empty: an image needs at least one reference")
    width = max((group.shape[1] for group in groups), default=0)
    groups = [
        ids if ids.shape[1] == width else np.pad(ids, ((0, 0), (0, width - ids.shape[1])), constant_values=-1)
        for ids in (group.astype(np.int64, copy=False) for group in groups)
    ]
    rows = np.concatenate(groups) if groups else np.zeros((0, 0), dtype=np.int64)
    return (*pack(rows, end_of_sentence, "references"), sizes)


def pack(rows: npt.NDArray[np.integer], end_of_sentence: int | None, name: str) -> tuple[bytes, list[int]]:
    """The ids of all rows up to their ends, as little-endian u32, and the rows' lengths."""
    lengths = _first(rows < 0)
    if end_of_sentence is not None:
        # The end of sentence counts as a word; a row that is cut before it has none.
        lengths = np.minimum(lengths, _first(rows == end_of_sentence) + 1)
    token_ids = rows[np.arange(rows.shape[1]) < lengths[:, None]]
    if token_ids.size and token_ids.max() > _core.LARGEST_TOKEN_ID:
        raise DataError(f"{name}: token ids go up to {_core.LARGEST_TOKEN_ID:,}, found {token_ids.max():,}")
    return token_ids.astype("<u4").tobytes(), np.minimum(lengths, rows.shape[1]).tolist()


def _first(marks: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Index of the first mark in each row, or the row's length."""
    if marks.shape[1] == 0:
        return np.zeros(len(marks), dtype=np.intp)
    first: npt.NDArray[np.intp] = np.where(marks.any(axis=1), marks.argmax(axis=1), marks.shape[1])
    return first


def as_rows(ids: TokenIds, name: str) -> npt.NDArray[np.integer]:
    """The ids as an array of rows. Raises `DataError`, with `name` in its message, for another shape or type."""
    try:
        array = np.asarray(ids)
    except ValueError as error:
        raise DataError(f"{name}: rows of different lengths; pad them with the end-of-sentence id") from error
    if array.size == 0 and array.ndim in (1, 2):
        return np.zeros((len(array), 0), dtype=np.int64)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise DataError(
            f"{name}: expected whole numbers of shape (rows, length), got {array.dtype} of shape {array.shape}"
        )
    return array
