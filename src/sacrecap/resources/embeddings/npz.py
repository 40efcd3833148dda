"""NumPy's `.npz` with two arrays: `words` (text) and `vectors` (words × dimension)."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib

from sacrecap.data.source import read_bytes, reading
from sacrecap.errors import DataError
from sacrecap.resources.embeddings.vector_table import ArrayTable


def read(path: str) -> ArrayTable:
    """The table in the file; nothing in it is executed.

    Raises:
        DataError: it lacks an array, or one of them is not what it should be.
    """
    import numpy as np

    try:
        content = read_bytes(path)
        with reading(path), np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            words, vectors = arrays["words"], arrays["vectors"]
    except KeyError as error:
        raise DataError(f"{path}: {error}; a .npz of word vectors has the arrays words and vectors") from None
    except (DataError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(
            f"{path}: cannot be read: {error}; write it by numpy.savez(file, words=…, vectors=…), "
            "words as an array of text"
        ) from None
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise DataError(
            f"{path}: the array words must be text of one dimension, not {words.dtype} of shape {words.shape}"
        )
    texts = np.char.decode(words, "utf-8") if words.dtype.kind == "S" else words
    return ArrayTable(path, texts.tolist(), vectors, hashlib.sha256(content).hexdigest()[:12])
