"""Word vectors by name or file, and captions with the vectors of their words and of the labels of objects.

Nothing is read before the first vector, dimension or checksum is asked for. Metrics that compare meanings use one view
of captions: a native corpus, with the vectors of its content words and the objects of its images. The function words
are the 318 of scikit-learn's English stop list (BSD-3-Clause, scikit-learn developers), which the published VIFIDEL
script removes, so that one list serves both of the metric's variants. The list has oddities: `fire`, `side` and `two`
are in it.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

from sacrecap import _core
from sacrecap.data.source import in_cache
from sacrecap.data.testsets import save
from sacrecap.errors import DataError, did_you_mean
from sacrecap.resources.embeddings.vector_files import VectorTable, read_vectors, table_of_arrays
from sacrecap.resources.needs import WorkShare

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs

DEFAULT = "default"
"""The name of the vectors inside the package, made from WordNet by `models/word-vectors`."""
NAMES = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    *(f"glove-twitter-{dimension}" for dimension in (25, 50, 100, 200)),
    *(f"glove-wiki-gigaword-{dimension}" for dimension in (50, 100, 200, 300)),
    "word2vec-google-news-300",
)
"""English word vectors of gensim's data repository; they are fetched into the user's cache folder."""
_PUBLISHED = "https://github.com/piskvorky/gensim-data/releases/download/{name}/{name}.gz"
_LINKING_WORDS = frozenset(["a", "an", "and", "at", "for", "from", "in", "of", "on", "or", "the", "to", "with"])
"""Words of compound labels that need no vector."""
FUNCTION_WORDS = frozenset(
    files("sacrecap.resources.english").joinpath("function_words.txt").read_text("utf-8").split()
)
_CONTRACTIONS = frozenset(["n't", "'s", "'m", "'re", "'ve", "'ll", "'d", "'em", "ca", "wo"])
"""Parts that the tokenizer makes of contractions such as `can't` and `it's`."""

_SCRIPT_WORD = re.compile(r"\w\w+")
_UNKNOWN = -1
EmbeddingSource: TypeAlias = "str | os.PathLike[str] | Embeddings"


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
    content = [piece for piece in pieces if piece.lower() not in _LINKING_WORDS] if len(pieces) > 1 else []
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


def is_content(token: str) -> bool:
    """Whether a token is a content word: it has a letter or a digit, and is not a function word."""
    word = token.lower()
    return word not in FUNCTION_WORDS and word not in _CONTRACTIONS and any(map(str.isalnum, word))


def script_words(text: str) -> list[str]:
    """The words of the published script: runs of two or more word characters, in lower case."""
    return _SCRIPT_WORD.findall(text.lower())


@dataclass(frozen=True, eq=False)
class EmbeddedCorpus:
    """A corpus, cut into words as a metric wants it, with the vectors of its words and the objects of its images."""

    corpus: _core.Corpus
    embedded: _core.Embedded
    words: list[str]
    """The word of each row of the vectors."""
    labels: list[tuple[str, ...]] | None
    """Labels of each image, if there are objects."""
    source: str
    """Name of the vectors."""
    checksum: str

    def spell(self, rows: Sequence[int]) -> tuple[str, ...]:
        """The words or labels of these rows of the vectors."""
        return tuple(self.words[row] for row in rows)


def embed(
    corpus: Corpus,
    needs: Needs,
    source: EmbeddingSource,
    objects: Callable[[], list[dict[str, int]] | None],
    *,
    scripted: bool,
    detected: bool,
) -> EmbeddedCorpus:
    """The corpus with these vectors; made once per corpus, for all metrics with the same view.

    `objects` gives those of the images, if there are any, which may be `detected`. `scripted`: captions are cut into
    words like in VIFIDEL's published script. Raises `DataError` if objects or vectors are unusable.
    """

    def view() -> EmbeddedCorpus:
        labels, cut = objects(), corpus._core
        if scripted:
            texts: tuple[dict[str, list[str]], dict[str, list[str]]] = {}, {}
            for image in corpus.image_ids:
                for of_images, captions in zip(texts, corpus.given(image), strict=True):
                    of_images[image] = [" ".join(script_words(caption)) for caption in captions]
            candidates, references = texts
            cut = _encode(references, candidates, needs.threads)
        tell = needs.progress or (lambda _: None)
        tell(WorkShare(0, "reading word vectors"))
        with_vectors = embedded(cut, labels, source, scripted=scripted)
        tell(WorkShare(1, "reading word vectors"))
        return with_vectors

    key = "embedded", source if isinstance(source, str) else id(source), scripted, detected
    return needs.once(key, view, of=corpus)


def embed_texts(
    caption: Sequence[str],
    references: Sequence[Sequence[str]],
    objects: Mapping[str, int],
    source: EmbeddingSource,
    *,
    scripted: bool,
) -> EmbeddedCorpus:
    """The same for one image, whose sentences are lists of words."""
    captions = [" ".join(words) for words in references], [" ".join(caption)]
    corpus = _encode({"image": captions[0]}, {"image": captions[1]}, 1)
    return embedded(corpus, [dict(objects)], source, scripted=scripted)


def _encode(references: dict[str, list[str]], candidates: dict[str, list[str]], threads: int) -> _core.Corpus:
    """Captions whose words are blank-separated already."""
    numbers = range(len(references))
    encoded = _core.References(_core.Captions.from_dict(references), numbers, "none", threads)
    return _core.Corpus(encoded, _core.Captions.from_dict(candidates), numbers, threads)


def embedded(
    corpus: _core.Corpus, objects: list[dict[str, int]] | None, source: EmbeddingSource, *, scripted: bool
) -> EmbeddedCorpus:
    """A native corpus with these vectors."""
    embeddings = _opened(source)
    if objects is not None and scripted:  # the published script joins an image's labels to one text
        objects = [_words_of(labels) for labels in objects]
    vocabulary = corpus.vocabulary
    content = [word for word in vocabulary if (word not in FUNCTION_WORDS if scripted else is_content(word))]
    labels = list(dict.fromkeys(label for counts in objects or () for label in counts))
    numbers: dict[tuple[str, ...], int] = {}
    names: list[str] = []

    def row(spelling: tuple[str, ...], name: str) -> int:
        """The row of the vector of a word, or of a label that is found under several."""
        if spelling not in numbers:
            numbers[spelling] = len(names)
            names.append(spelling[0] if len(spelling) == 1 else name)
        return numbers[spelling]

    # A compound without a vector counts as its parts, as if they were written separately; a label stays one item.
    of_words = {
        word: [row((form,), form) for form in spelling] or [_UNKNOWN]
        for word, spelling in zip(content, embeddings.spellings(content), strict=True)
    }
    of_labels = {
        label: row(spelling, label) if spelling else _UNKNOWN
        for label, spelling in zip(labels, embeddings.spellings(labels), strict=True)
    }
    counts_by_label = (
        None
        if objects is None
        else (
            [len(counts) for counts in objects],
            [of_labels[label] for counts in objects for label in counts],
            [float(count) for counts in objects for count in counts.values()],
        )
    )
    vectors, _ = embeddings.find(names)
    terms = [of_words.get(word, []) for word in vocabulary]
    return EmbeddedCorpus(
        corpus,
        _core.Embedded(embeddings.dimension, vectors.astype("<f8", copy=False).tobytes(), terms, counts_by_label),
        names,
        None if objects is None else [tuple(counts) for counts in objects],
        embeddings.name,
        embeddings.checksum[:8],
    )


def _opened(source: EmbeddingSource) -> Embeddings:
    """The embeddings; the last file stays open, so that explanations of several images read it only once."""
    if not isinstance(source, (str, os.PathLike)):
        return open_embeddings(source)
    status = os.stat(source) if os.path.exists(source) else None
    return _open_once(os.fspath(source), status and (status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=1)
def _open_once(path: str, version: tuple[int, int] | None) -> Embeddings:  # noqa: ARG001 (a file that changes is another)
    return open_embeddings(path)


def _words_of(labels: Mapping[str, int]) -> dict[str, int]:
    """The content words of the labels, with how often each is there."""
    counts: Counter[str] = Counter()
    for label, count in labels.items():
        for word in script_words(label):
            if word not in FUNCTION_WORDS:
                counts[word] += count
    return dict(counts)
