"""The vectors inside the package: made from WordNet by `models/word-vectors`.

`default.npz` holds the words, one 8-bit integer vector per word, and one factor per word that scales it to length 1.
"""

from __future__ import annotations

import hashlib
import io
from importlib.resources import files

from sacrecap.resources.embeddings.vector_table import ArrayTable

FILE = "default.npz"


def read() -> ArrayTable:
    """The table of the package's own vectors, each of length 1 except for rounding."""
    import numpy as np

    content = files("sacrecap.resources.embeddings").joinpath(FILE).read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode().split("\n")
        vectors = arrays["vectors"].astype("f4") * arrays["scales"][:, None]
    return ArrayTable("default", words, vectors, hashlib.sha256(content).hexdigest()[:12])
