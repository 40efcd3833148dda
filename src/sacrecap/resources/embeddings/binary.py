"""word2vec's binary format: the line `WORDS DIMENSION`, then for each word its text, a space, and its float32 numbers.

Some writers end each vector with a line feed.
"""

from __future__ import annotations

import math
import mmap
from typing import TYPE_CHECKING

from sacrecap.errors import DataError
from sacrecap.resources.embeddings.index import Entries
from sacrecap.resources.embeddings.vector_table import not_finite, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST_WORD = 10_000


def scan(name: str, data: mmap.mmap, start: int, declared: tuple[int, int]) -> Entries:
    """Finds the positions of the words; ``start`` is the end of the first line.

    Raises:
        DataError: the file ends before the declared number of words, or goes on after it; NaN or infinity.
    """
    import numpy as np

    count, dimension = declared
    entries = Entries("binary", dimension)
    size = 4 * dimension
    for number in range(count):
        while data[start : start + 1] == b"\n":
            start += 1
        space = data.find(b" ", start, start + _LONGEST_WORD)
        end = space + 1 + size
        if space < 0 or end > len(data):
            raise _truncated(name, declared, number)
        # One sum shows whether all are finite: in float64 it cannot overflow.
        if not math.isfinite(np.frombuffer(data[space + 1 : end], "<f4").sum(dtype="f8")):
            raise not_finite(name, f"word {number + 1:,}, {shown(data[start:space])}")
        entries.add(data[start:space], start)
        start = end
    if data[start : start + _LONGEST_WORD].strip(b"\n"):
        raise DataError(
            f"{name}: the first line declares {count:,} words of {dimension} numbers, but the file goes on after them; "
            "download the file again"
        )
    return entries


def vector_at(data: mmap.mmap, start: int, word: bytes, dimension: int) -> NDArray[np.float64] | None:
    """The vector of the entry that begins at ``start``, if it is this word's."""
    import numpy as np

    numbers = start + len(word) + 1
    if data[start:numbers] != word + b" ":
        return None
    return np.frombuffer(data[numbers : numbers + 4 * dimension], "<f4").astype("f8")


def _truncated(name: str, declared: tuple[int, int], number: int) -> DataError:
    return DataError(
        f"{name}: the first line declares {declared[0]:,} words of {declared[1]} numbers, but the file ends within "
        f"word {number + 1:,}; download the file again"
    )
