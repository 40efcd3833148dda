"""Captions with word vectors: which of their words, and of the labels of objects, have a vector.

Metrics that compare meanings use this view of captions: a native corpus, with the vectors of its content words and the
objects of its images. The function words are the 318 of scikit-learn's English stop list (BSD-3-Clause, scikit-learn
developers), which the published VIFIDEL script removes, so that one list serves both of the metric's variants. The list
has oddities: `fire`, `side` and `two` are in it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

from sacrecap import _core
from sacrecap.resources.embeddings import Embeddings, open_embeddings
from sacrecap.resources.needs import WorkShare

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs

FUNCTION_WORDS = frozenset(
    files("sacrecap.resources.english").joinpath("function_words.txt").read_text("utf-8").split()
)

_CONTRACTIONS = frozenset(["n't", "'s", "'m", "'re", "'ve", "'ll", "'d", "'em", "ca", "wo"])
"""Parts that the tokenizer makes of contractions such as `can't` and `it's`."""

_SCRIPT_WORD = re.compile(r"\w\w+")


def is_content(token: str) -> bool:
    """Whether a token is a content word: it has a letter or a digit, and is not a function word."""
    word = token.lower()
    return word not in FUNCTION_WORDS and word not in _CONTRACTIONS and any(map(str.isalnum, word))


def script_words(text: str) -> list[str]:
    """The words of the published script: runs of two or more word characters, in lower case."""
    return _SCRIPT_WORD.findall(text.lower())


EmbeddingSource: TypeAlias = "str | PathLike[str] | Embeddings"

_UNKNOWN = -1


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
    if not isinstance(source, (str, PathLike)):
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
