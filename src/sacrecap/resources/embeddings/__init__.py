"""Word vectors by name or file, and the lookup of labels in them.

Nothing is read before the first vector, dimension or checksum is asked for.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.data.remote import save
from sacrecap.data.source import in_cache
from sacrecap.errors import DataError, did_you_mean
from sacrecap.resources.embeddings.vector_files import VectorTable, read_vectors, table_of_arrays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT = "default"
"""The name of the vectors inside the package, made from WordNet by `models/word-vectors`."""
NAMES = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    "glove-twitter-25",
    "glove-twitter-50",
    "glove-twitter-100",
    "glove-twitter-200",
    "glove-wiki-gigaword-50",
    "glove-wiki-gigaword-100",
    "glove-wiki-gigaword-200",
    "glove-wiki-gigaword-300",
    "word2vec-google-news-300",
)
"""English word vectors of gensim's data repository; they are fetched into the user's cache folder."""
_PUBLISHED = "https://github.com/piskvorky/gensim-data/releases/download/{name}/{name}.gz"
_FUNCTION_WORDS = frozenset(["a", "an", "and", "at", "for", "from", "in", "of", "on", "or", "the", "to", "with"])


class Embeddings:
    """Word vectors that are read when they are needed.

    Attributes:
        name: the name with which they were opened; for a file, its name without its folder.
    """

    def __init__(self, name: str, open_table: Callable[[], VectorTable]) -> None:
        """`open_table` is called once, on first use."""
        self.name = name
        self._open = open_table
        self._opened: VectorTable | None = None

    def __repr__(self) -> str:
        return f"Embeddings({self.name!r})"

    def __getstate__(self) -> dict[str, object]:
        """Pickles only the source of the vectors; they are read again on first use."""
        return {**vars(self), "_opened": None}

    @property
    def _table(self) -> VectorTable:
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._table.dimension

    @property
    def checksum(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of the content (of a gzip file: of what is inside)."""
        return self._table.checksum

    def find(self, labels: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The vectors of labels or words, unscaled, as in the file.

        A label is looked up as given, in lower case, joined (`potted plant` as `potted_plant`, `potted-plant`,
        `pottedplant`), in the singular, and as the mean of its parts if every part but function words is known: the
        first of these that the embeddings have counts.

        Returns:
            (labels, dimension) vectors, zeros for unknown labels; (labels,) whether each label is known.

        Raises:
            DataError: the file cannot be read, or is not a file of word vectors.
        """
        import numpy as np

        spellings = self.spellings(labels)
        vectors = np.zeros((len(labels), self.dimension))
        for row, words in enumerate(spellings):
            vectors_of_words = [vector for word in words if (vector := self._table.vector(word)) is not None]
            if vectors_of_words:
                vectors[row] = sum(vectors_of_words[1:], start=vectors_of_words[0]) / len(vectors_of_words)
        return vectors, np.array([bool(words) for words in spellings], dtype=np.bool_)

    def spellings(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """The words under which each label is found: one, or those of its parts; none if it is unknown."""
        return [_spelling(self._table, label) for label in labels]


def open_embeddings(source: str | os.PathLike[str] | Embeddings) -> Embeddings:
    """Embeddings by name (`default`, `word2vec-google-news-300`, …) or by file; open ones are returned unchanged.

    A file is read on first use. If a file of that path exists, it is used, even if a name is spelled the same.

    Raises:
        DataError: there is no such file and no such name.
    """
    if isinstance(source, Embeddings):
        return source
    path = os.fspath(source)
    if path == DEFAULT:
        return Embeddings(DEFAULT, _read_default)
    if os.path.exists(path):
        return Embeddings(os.path.basename(path), partial(read_vectors, path))
    if path in NAMES:
        return Embeddings(path, partial(_read_named, path))
    names = (DEFAULT, *NAMES)
    raise DataError(
        f"{path}: no such file of word vectors, and no such name{did_you_mean(path, names)}; names: {', '.join(names)}"
    )


def _read_default() -> VectorTable:
    """The words, one vector of 8-bit integers per word, and one factor per word that scales it to length 1."""
    import numpy as np

    content = files(__name__).joinpath("default.npz").read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode().split("\n")
        vectors = arrays["vectors"].astype("f4") * arrays["scales"][:, None]
    return table_of_arrays(DEFAULT, words, vectors, hashlib.sha256(content).hexdigest()[:12])


def _read_named(name: str) -> VectorTable:
    """The table of a name, whose file is downloaded unless it is there, in our cache folder or in gensim's.

    Raises `DataError` where it cannot be fetched; the message says which file to fetch by hand.
    """
    folder = in_cache("embeddings")
    gensim_folder = os.environ.get("GENSIM_DATA_DIR", os.path.expanduser("~/gensim-data"))
    path, other_path = (os.path.join(place, name, f"{name}.gz") for place in (folder, gensim_folder))
    if not os.path.exists(path) and os.path.exists(other_path):
        return read_vectors(other_path)
    if not os.path.exists(path):
        url = _PUBLISHED.format(name=name)
        try:
            save(url, path)
        except DataError as error:
            raise DataError(f"{name}: cannot be fetched ({error}); fetch {url} and put it at {path}") from None
    return read_vectors(path)


def _spelling(table: VectorTable, label: str) -> tuple[str, ...]:
    """The first form that the table has, or that of each part; nothing if a part is unknown."""
    pieces = _parts(label)
    for form in _forms(label, pieces):
        if table.vector(form) is not None:
            return (form,)
    # Function words (`bottle of wine`) do not count: many tables lack them.
    content = [piece for piece in pieces if piece.lower() not in _FUNCTION_WORDS] if len(pieces) > 1 else []
    of_parts = [_spelling(table, part) for part in content]
    return tuple(word for words in of_parts for word in words) if all(of_parts) else ()


def _forms(label: str, pieces: list[str]) -> Iterator[str]:
    """The words that may match the label, the best first. Some may come twice."""
    lower = label.lower()
    yield label
    yield lower
    if len(pieces) < 2:
        yield from _core.singulars(lower)
        return
    for joiner in ("_", "-", ""):
        yield joiner.join(pieces)
        yield joiner.join(pieces).lower()
    *before, last = _parts(lower)
    for singular in _core.singulars(last):
        for joiner in (" ", "_", "-", ""):
            yield joiner.join((*before, singular))


def _parts(label: str) -> list[str]:
    """The parts of a label: what spaces, hyphens and underscores separate."""
    return [part for part in re.split(r"[\s_-]+", label) if part]
