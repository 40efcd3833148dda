"""Text and word2vec files: scanned once; then only the entries of the words are read.

A file is mapped into memory, as is a temporary one with the content of a gzip file, and its words are indexed; a vector
is read when it is looked up.
"""

from __future__ import annotations

import gzip
import hashlib
import mmap
import shutil
import tempfile
import zlib
from typing import TYPE_CHECKING

from sacrecap.data.source import reading
from sacrecap.errors import DataError
from sacrecap.resources.embeddings import binary, text_formats, vector_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sacrecap.resources.embeddings.index import Index

_HEAD = 1 << 20


class ScannedTable:
    """A table over the bytes of a file and the index of its words."""

    def __init__(self, name: str, data: mmap.mmap, index: Index) -> None:
        """``name``: the file's name in messages."""
        self.dimension = index.dimension
        self.checksum = hashlib.sha256(data).hexdigest()[:12]
        self._name = name
        self._data = data
        self._index = index

    def vector(self, word: str) -> NDArray[np.float64] | None:
        encoded = word.encode(errors="replace")
        for start in self._index.places(encoded):
            if self._index.kind == "text":
                vector = text_formats.vector_at(self._name, self._data, start, encoded, self.dimension)
            else:
                vector = binary.vector_at(self._data, start, encoded, self.dimension)
            if vector is not None:
                return vector
        return None


def read(path: str, *, compressed: bool) -> ScannedTable:
    """The table in a text or word2vec file; ``compressed``: it is a gzip file.

    Raises:
        DataError: as `sacrecap.resources.embeddings.vector_file.read`.
    """
    with reading(path):
        data = _inflated(path) if compressed else _mapped(path)
    return ScannedTable(path, data, _scan(path, data))


def _scan(name: str, data: mmap.mmap) -> Index:
    declared = vector_file.kind_of(name, data[:_HEAD])
    if declared is None:
        entries = text_formats.scan(name, data)
    else:
        entries = binary.scan(name, data, data.find(b"\n") + 1, declared)
    if not len(entries):
        raise DataError(f"{name}: no word vectors in it; download the file again")
    return entries.index()


def _inflated(path: str) -> mmap.mmap:
    """The content of a gzip file, in a file that ends with the process."""
    with tempfile.TemporaryFile() as file:
        try:
            with gzip.open(path) as inside:
                shutil.copyfileobj(inside, file, _HEAD)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{path}: broken gzip data ({error}); download the file again") from None
        if not file.tell():
            raise DataError(f"{path}: is empty; accepted: {vector_file.ACCEPTED}")
        file.flush()
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _mapped(path: str) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
