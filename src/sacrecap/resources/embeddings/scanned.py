"""Text and word2vec files: scanned once; then only the entries of the words are read.

A file is mapped into memory and its words are indexed; a vector is read when it is looked up. The index of a large
file, and the content of a large gzip file, are kept in the user's cache folder, under a name that depends on the file's
path, size and time.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from typing import TYPE_CHECKING

from sacrecap.data.atomic import atomic_write
from sacrecap.data.places import in_cache
from sacrecap.data.source import read_bytes, reading
from sacrecap.errors import DataError, warn
from sacrecap.resources.embeddings import binary, text_formats, vector_file
from sacrecap.resources.embeddings.index import Index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALL = 8 << 20
"""A file of fewer bytes is scanned each time: that is faster than using a cache."""

_HEAD = 1 << 20


class ScannedTable:
    """A table over the bytes of a file and the index of its words."""

    def __init__(self, name: str, data: bytes | mmap.mmap, index: Index) -> None:
        """``name``: the file's name in messages."""
        self.dimension = index.dimension
        self.checksum = index.checksum
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
        size = os.stat(path).st_size
    if size < SMALL:
        data = read_bytes(path)
        return ScannedTable(path, data, _scan(path, data))
    cache = _cache_path(path)
    mapped = _mapped(_inflated(path, f"{cache}.vectors") if compressed else path)
    return ScannedTable(path, mapped, _index(path, mapped, f"{cache}.index"))


def _index(path: str, data: mmap.mmap, cache: str) -> Index:
    """The index from the cache if it is valid, else made and cached."""
    try:
        return Index.read(cache)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        warn(f"{cache}: {error}; it is built again")
    index = _scan(path, data)
    try:
        os.makedirs(os.path.dirname(cache), exist_ok=True)
        with atomic_write(cache, "wb") as file:
            index.write(file)
    except (OSError, DataError) as error:
        warn(f"{path}: its index is not cached and will be built again: {error}")
    return index


def _scan(name: str, data: bytes | mmap.mmap) -> Index:
    if not len(data):
        raise DataError(f"{name}: is empty; accepted: {vector_file.ACCEPTED}")
    declared = vector_file.kind_of(name, data[:_HEAD])
    checksum = hashlib.sha256(data).hexdigest()[:12]
    if declared is None:
        entries = text_formats.scan(name, data)
    else:
        entries = binary.scan(name, data, data.find(b"\n") + 1, declared)
    if not len(entries):
        raise DataError(f"{name}: no word vectors in it; download the file again")
    return entries.index(checksum)


def _inflated(path: str, cache: str) -> str:
    """A file in the cache with the content of a gzip file."""
    import gzip
    import shutil
    import zlib

    if not os.path.exists(cache):
        with reading(path):
            os.makedirs(os.path.dirname(cache), exist_ok=True)
        try:
            with gzip.open(path) as inside, atomic_write(cache, "wb") as file:
                shutil.copyfileobj(inside, file, _HEAD)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{path}: broken gzip data ({error}); download the file again") from None
    return cache


def _mapped(path: str) -> mmap.mmap:
    with reading(path), open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _cache_path(path: str) -> str:
    """The path of the cache of a file, without suffix."""
    status = os.stat(path)
    described = f"{os.path.realpath(path)} {status.st_size} {status.st_mtime_ns}"
    return in_cache(f"words-{hashlib.sha256(described.encode()).hexdigest()[:16]}")
