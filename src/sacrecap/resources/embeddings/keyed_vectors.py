"""gensim's own format (`.kv`): a pickle, and next to it `.npy` files of its large arrays.

A pickle can run any code when it is read. It is therefore first read by a reader that accepts only what
`KeyedVectors` consists of, and given to gensim only if nothing else is in it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from typing import Any

from sacrecap.data.source import reading
from sacrecap.errors import DataError, MissingDependencyError, of_extra
from sacrecap.resources.embeddings.vector_table import ArrayTable

_ALLOWED = {
    "gensim.models.keyedvectors": {"KeyedVectors"},
    "numpy": {"dtype", "ndarray"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "_codecs": {"encode"},
}


class _Inspector(pickle.Unpickler):
    """Reads a pickle, but only what `KeyedVectors` needs."""

    def find_class(self, module: str, name: str) -> Any:
        if name not in _ALLOWED.get(module, ()):
            raise pickle.UnpicklingError(f"it wants {module}.{name}, which no KeyedVectors has")
        return super().find_class(module, name)


def read(path: str) -> ArrayTable:
    """The table in the file; its vectors are mapped into memory if they are in a separate file.

    Raises:
        MissingDependencyError: gensim is not installed.
        DataError: it was not written by `KeyedVectors.save`.
    """
    with of_extra("gensim", f"reading {path}, a gensim file,"):
        from gensim.models import KeyedVectors
    try:
        with reading(path), open(path, "rb") as file:
            _Inspector(file).load()
        stored = KeyedVectors.load(path, mmap="r")
        words, vectors = list(stored.index_to_key), stored.vectors
    except (DataError, MissingDependencyError):
        raise
    except Exception as error:  # noqa: BLE001  damaged pickles raise anything
        raise DataError(
            f"{path}: cannot be read as gensim's KeyedVectors ({error}); save the vectors by model.wv.save(…) or "
            "model.wv.save_word2vec_format(…)"
        ) from None
    return ArrayTable(path, words, vectors, _checksum(path))


def _checksum(path: str) -> str:
    digest = hashlib.sha256()
    for part in (path, f"{path}.vectors.npy"):
        if os.path.exists(part):
            with open(part, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()[:12]
