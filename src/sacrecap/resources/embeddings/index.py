"""The position of each word of a scanned file: found by its CRC-32, in a list sorted by it.

The index of a large file is kept in a file that is mapped into memory: one line of JSON, then the sorted CRC-32 of the
words and the position of each in the data. A wrong position cannot give a wrong vector: the word there is compared.
"""

from __future__ import annotations

import json
import zlib
from array import array
from typing import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["text", "binary"]

_VERSION = 1


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

    def index(self, checksum: str) -> Index:
        """The index of all words; it keeps the order of equal words, so that the first is found."""
        import numpy as np

        hashes = np.array(self._hashes, dtype="<u4")
        order = np.argsort(hashes, kind="stable")
        return Index(self.kind, self.dimension, checksum, hashes[order], np.array(self._starts, dtype="<u8")[order])


class Index:
    """Finds the positions where the entry of a word may begin."""

    def __init__(
        self, kind: Kind, dimension: int, checksum: str, hashes: NDArray[np.uint32], starts: NDArray[np.uint64]
    ) -> None:
        """``hashes`` (words,) ascending, ``starts`` (words,) the position of each."""
        self.kind: Kind = kind
        self.dimension = dimension
        self.checksum = checksum
        self._hashes = hashes
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    def places(self, word: bytes) -> list[int]:
        """Offsets of the entries with the word's CRC-32: a few at most, in the order of the file."""
        import numpy as np

        hashed = np.uint32(zlib.crc32(word))
        first, last = (int(np.searchsorted(self._hashes, hashed, side)) for side in ("left", "right"))
        return [int(start) for start in self._starts[first:last]]

    def write(self, file: IO[bytes]) -> None:
        body = self._hashes.tobytes() + self._starts.tobytes()
        described = {"version": _VERSION, "kind": self.kind, "dimension": self.dimension, "checksum": self.checksum}
        described |= {"words": len(self), "crc": zlib.crc32(body)}
        line = json.dumps(described).encode()
        file.write(line + b" " * (-(len(line) + 1) % 8) + b"\n" + body)

    @classmethod
    def read(cls, path: str) -> Index:
        """Reads an index that `write` wrote.

        Raises:
            ValueError: it is damaged, or of another version.
        """
        import numpy as np

        mapped = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
        line = bytes(mapped[:_LONGEST_HEADER]).partition(b"\n")[0]
        try:
            described = json.loads(line)
            words = described["words"]
            body = mapped[len(line) + 1 :]
            if described["version"] != _VERSION or len(body) != 12 * words or described["crc"] != zlib.crc32(body.data):
                raise ValueError("damaged, or of another version")
            return cls(
                described["kind"],
                described["dimension"],
                described["checksum"],
                body[: 4 * words].view("<u4"),
                np.frombuffer(body[4 * words :], "<u8"),
            )
        except (TypeError, KeyError) as error:
            raise ValueError(f"no index: {error!r}") from None


_LONGEST_HEADER = 1024
