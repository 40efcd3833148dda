"""The position of each word of a scanned file: found by its CRC-32, in a list sorted by it.

A wrong position cannot give a wrong vector: the word there is compared.
"""

from __future__ import annotations

import zlib
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["text", "binary"]


class Entries:
    """Collects the words of a file in their order."""

    def __init__(self, kind: Kind, dimension: int) -> None:
        self.kind: Kind = kind
        self.dimension = dimension
        self._hashes = array("I")
        self._starts = array("Q")

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, word: bytes, start: int) -> None:
        """A word whose entry begins at byte ``start``."""
        self._hashes.append(zlib.crc32(word))
        self._starts.append(start)

    def index(self) -> Index:
        """The index of all words; it keeps the order of equal words, so that the first is found."""
        import numpy as np

        hashes = np.array(self._hashes, dtype="<u4")
        order = np.argsort(hashes, kind="stable")
        return Index(self.kind, self.dimension, hashes[order], np.array(self._starts, dtype="<u8")[order])


@dataclass(frozen=True, eq=False)
class Index:
    """Finds the positions where the entry of a word may begin."""

    kind: Kind
    dimension: int
    hashes: NDArray[np.uint32]
    """(words,) ascending."""
    starts: NDArray[np.uint64]
    """(words,) the position of each."""

    def places(self, word: bytes) -> list[int]:
        """Offsets of the entries with the word's CRC-32: a few at most, in the order of the file."""
        import numpy as np

        hashed = np.uint32(zlib.crc32(word))
        first, last = (int(np.searchsorted(self.hashes, hashed, side)) for side in ("left", "right"))
        return [int(start) for start in self.starts[first:last]]
