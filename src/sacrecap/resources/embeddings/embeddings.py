"""Embeddings by name or file, and the lookup of labels in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sacrecap.resources.embeddings import lookup
from sacrecap.resources.embeddings.vector_table import VectorTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT = "default"
"""The name of the vectors inside the package."""


class Embeddings:
    """Word vectors that are read when they are needed.

    Attributes:
        name: the name with which they were opened; for a file, its name without its folder.
    """

    def __init__(self, name: str, open_table: Callable[[], VectorTable]) -> None:
        """``open_table`` is called once, on first use."""
        self.name = name
        self._open = open_table
        self._opened: VectorTable | None = None

    def __repr__(self) -> str:
        return f"Embeddings({self.name!r})"

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

        table = self._table
        vectors = np.zeros((len(labels), table.dimension))
        known = np.zeros(len(labels), dtype=np.bool_)
        for row, label in enumerate(labels):
            vector = _vector(table, label)
            if vector is not None:
                vectors[row] = vector
                known[row] = True
        return vectors, known

    def spellings(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """The words under which each label was found: one, or those of its parts; none if it is unknown."""
        return [_spelling(self._table, label) for label in labels]

    def __getstate__(self) -> dict[str, object]:
        """Pickles only the source of the vectors; they are read again on first use."""
        return {**vars(self), "_opened": None}

    @property
    def _table(self) -> VectorTable:
        if self._opened is None:
            self._opened = self._open()
        return self._opened


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
        from sacrecap.resources.embeddings import default

        return Embeddings(DEFAULT, default.read)
    from sacrecap.resources.embeddings import named, vector_file

    if not os.path.exists(path) and path in named.NAMES:
        return Embeddings(path, partial(_read_named, path))
    if not os.path.exists(path):
        raise named.unknown(path)
    return Embeddings(os.path.basename(path), partial(vector_file.read, path))


def _read_named(name: str) -> VectorTable:
    from sacrecap.resources.embeddings import named, vector_file

    return vector_file.read(named.fetch(name))


def _vector(table: VectorTable, label: str) -> NDArray[np.float64] | None:
    vectors = [vector for word in _spelling(table, label) if (vector := table.vector(word)) is not None]
    if not vectors:
        return None
    mean: NDArray[np.float64] = sum(vectors[1:], start=vectors[0]) / len(vectors)
    return mean


def _spelling(table: VectorTable, label: str) -> tuple[str, ...]:
    """The first form that the table has, or that of each part; nothing if a part is unknown."""
    for form in lookup.forms(label):
        if table.vector(form) is not None:
            return (form,)
    of_parts = [_spelling(table, part) for part in lookup.content_parts(label)]
    return tuple(word for words in of_parts for word in words) if all(of_parts) else ()
