"""The common form of all formats: a table from words to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from sacrecap.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class VectorTable(Protocol):
    """Vectors by word, as in a file."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    @property
    def checksum(self) -> str:
        """First 12 hexadecimal digits of the content's SHA-256."""

    def vector(self, word: str) -> NDArray[np.float64] | None:
        """The vector stored under exactly this word; None if there is none."""


class ArrayTable:
    """A table whose words and vectors are arrays in memory, or mapped into it. If a word is repeated, the first
    counts.
    """

    def __init__(self, name: str, words: Sequence[str], vectors: NDArray[np.generic], checksum: str) -> None:
        """``vectors``: (words, dimension), floating point; ``name``: the file's name in messages."""
        if vectors.ndim != 2 or len(vectors) != len(words) or vectors.dtype.kind != "f":
            raise DataError(
                f"{name}: {len(words):,} words, and vectors of shape {vectors.shape} and type {vectors.dtype};"
                " expected is one row of floating-point numbers for each word"
            )
        if not vectors.size:
            raise DataError(f"{name}: no word vectors in it; write or download the file again")
        self.dimension = int(vectors.shape[1])
        self.checksum = checksum
        self._vectors = vectors
        self._row: dict[str, int] = {}
        for row, word in enumerate(words):
            self._row.setdefault(word, row)
        check_finite(name, words, vectors)

    def vector(self, word: str) -> NDArray[np.float64] | None:
        row = self._row.get(word)
        return None if row is None else self._vectors[row].astype("f8")


def check_finite(name: str, words: Sequence[str], vectors: NDArray[np.generic]) -> None:
    """Raises `DataError` with the first word whose vector holds NaN or infinity; looks at some rows at a time."""
    import numpy as np

    for first in range(0, len(vectors), _BLOCK):
        finite = np.isfinite(vectors[first : first + _BLOCK].astype("f8")).all(axis=1)
        if not finite.all():
            raise not_finite(name, f"word {words[first + int(np.argmin(finite))]!r}")


def shown(word: bytes) -> str:
    """A word in a message."""
    return repr(word[:40].decode(errors="replace"))


def not_finite(name: str, where: str) -> DataError:
    """The error for NaN or infinity in a vector."""
    return DataError(f"{name}: {where}: NaN or infinity in its vector; remove the word, or download the file again")


_BLOCK = 8192
