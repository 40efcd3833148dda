"""The text formats: a word and its numbers on each line.

GloVe's has nothing else; word2vec's and fastText's begin with a line of two integers, the number of words and the
dimension. A word may hold spaces (as in GloVe's 840B): the last ``dimension`` fields of a line are its numbers.
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

_NUMERALS = b"0123456789+-.eE \t\r\n"


def header(line: bytes) -> tuple[int, int] | None:
    """The number of words and the dimension that a first line declares."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < 12 for field in fields) and int(fields[1]) > 0:
        return int(fields[0]), int(fields[1])
    return None


def trailing_numbers(line: bytes) -> int:
    """Count of the numbers at the end of a line, without its first field."""
    count = 0
    for field in reversed(line.split()[1:]):
        if not _is_number(field):
            break
        count += 1
    return count


def scan(name: str, data: mmap.mmap) -> Entries:
    """Finds the positions of the words.

    Raises:
        DataError: a line has too few or too many numbers, or one that is not finite; or the header's count is wrong.
    """
    data.seek(0)
    first = data.readline()
    declared = header(first)
    dimension = declared[1] if declared else trailing_numbers(first)
    start = len(first) if declared else 0
    number = 1 if declared else 0
    data.seek(start)
    entries = Entries("text", dimension)
    for line in iter(data.readline, b""):
        number += 1
        if line.strip():
            entries.add(_word(name, number, line, dimension), start)
        start += len(line)
    if declared and declared[0] != len(entries):
        raise DataError(
            f"{name}: the first line declares {declared[0]:,} words, but {len(entries):,} lines follow; download"
            " the file again"
        )
    return entries


def vector_at(name: str, data: mmap.mmap, start: int, word: bytes, dimension: int) -> NDArray[np.float64] | None:
    """The vector on the line that begins at ``start``, if it is this word's."""
    import numpy as np

    end = data.find(b"\n", start)
    fields = data[start : end if end >= 0 else len(data)].rsplit(None, dimension)
    if fields[0] != word:
        return None
    try:
        vector = np.array([float(field) for field in fields[1:]])
    except ValueError as error:
        raise DataError(f"{name}: word {word.decode(errors='replace')!r}: {error}; download the file again") from None
    if not np.isfinite(vector).all():
        raise not_finite(name, f"word {word.decode(errors='replace')!r}")
    return vector


def _word(name: str, number: int, line: bytes, dimension: int) -> bytes:
    """The word of a line; its numbers are counted and checked, but not yet parsed."""
    word, _, values = line.rstrip().partition(b" ")
    if word and values.count(b" ") == dimension - 1 and not values.translate(None, _NUMERALS):
        return word
    fields = line.rsplit(None, dimension)
    numbers = trailing_numbers(line)
    if any(not math.isfinite(float(field)) for field in line.split()[1:][-numbers:] if numbers):
        raise not_finite(name, f"line {number:,}, word {shown(word)}")
    if numbers != dimension or len(fields) != dimension + 1:
        raise DataError(
            f"{name}: line {number:,}: {shown(word)} has {numbers} numbers, the lines before it {dimension}; a file of"
            " word vectors has the same number on every line: download the file again, or correct the line"
        )
    return fields[0]


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
