"""A corpus among word vectors: which of its words and objects have a vector, for the metrics that compare meanings."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from capeval import _core
from capeval.errors import LACKS_OBJECTS, DataError, UsageError, some, warn
from capeval.resources.content_words import FUNCTION_WORDS, is_content, script_words

if TYPE_CHECKING:
    from capeval.corpus.corpus import Corpus
    from capeval.metrics import Metric, Vifidel
    from capeval.metrics.embedding import EmbeddingMetric
    from capeval.metrics.vifidel.explanation import Explanation
    from capeval.resources.embeddings import Embeddings

Labels: TypeAlias = "Mapping[str, float] | Iterable[str]"
ObjectSource: TypeAlias = "Mapping[str, Labels] | Mapping[int, Labels] | str | PathLike[str]"
EmbeddingSource: TypeAlias = "str | PathLike[str] | Embeddings"

LONGEST_MOVED = 2_000
"""The longest sentence, in tokens, whose words are moved: the problem grows with the product of the lengths."""

_UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class EmbeddedCorpus:
    """A corpus, cut into words as the metric wants it, with the vectors of its words and the objects of its images."""

    corpus: _core.Corpus
    embedded: _core.Embedded
    words: list[str]
    """What each row of the vectors is the vector of."""
    labels: list[tuple[str, ...]] | None
    """Labels of each image, where there are objects."""
    source: str
    """Name and checksum of the vectors."""

    def explain(self, metric: Vifidel, image: int) -> Explanation:
        """VIFIDEL's plan for the image of this number."""
        import numpy as np

        from capeval.metrics.vifidel.explanation import Explanation

        found = self.embedded.explain_vifidel(self.corpus, metric.kernel_parameters(), image)
        labels = self.labels[image] if self.labels is not None else ()
        shape = (len(found["objects"]), len(found["words"]))
        known, total = found["coverage"]
        numbers: dict[str, Any] = {
            name: np.frombuffer(found[name]).copy()
            for name in ("object_weights", "word_weights", "object_importance", "word_importance", "cost", "plan")
        }
        numbers |= {name: numbers[name].reshape(shape) for name in ("cost", "plan")}
        return Explanation(
            objects=tuple(labels[number] for number in found["objects"]),
            words=self._spell(found["words"]),
            reference_words=tuple(map(self._spell, found["reference_words"])),
            distance=found["distance"],
            score=found["score"],
            coverage=known / total if total else 1.0,
            **numbers,
        )

    def _spell(self, rows: list[int]) -> tuple[str, ...]:
        return tuple(self.words[row] for row in rows)


def embed(
    corpus: Corpus,
    metrics: Iterable[Metric],
    *,
    embeddings: EmbeddingSource | None,
    objects: ObjectSource | None,
    threshold: float | None,
    threads: int,
) -> dict[str, EmbeddedCorpus]:
    """For each metric that compares meanings, by key, the corpus as it sees it; metrics that see the same share it.

    Raises:
        UsageError: a metric needs objects, and there are none; or one combines metrics that see different words.
        DataError: objects or vectors are unusable, or a sentence is too long.
    """
    views: dict[tuple[bool, EmbeddingSource], EmbeddedCorpus] = {}
    by_key: dict[str, EmbeddedCorpus] = {}
    given: list[dict[str, float]] | None = None
    for metric in metrics:
        parts: list[EmbeddingMetric] = [part for part in metric.parts if part.uses_embeddings]  # type: ignore[misc]
        if not parts:
            continue
        if any(part.uses_objects for part in parts) and objects is None:
            raise UsageError(f"{metric.label} {LACKS_OBJECTS}")
        seen = {(part.script_words, _source(part, embeddings)) for part in parts}
        if len(seen) > 1:
            raise UsageError(f"{metric.label}: its parts are of different words or vectors; score them one by one")
        view = seen.pop()
        if objects is not None and given is None:
            given = objects_of(corpus.image_ids, objects, threshold)
        if view not in views:
            _check_length(corpus, metric)
            cut = _by_script(corpus, threads) if view[0] else corpus._core
            views[view] = _embedded(cut, given, view[1], scripted=view[0])
        by_key[metric.key] = views[view]
    return by_key


def _source(metric: EmbeddingMetric, embeddings: EmbeddingSource | None) -> EmbeddingSource:
    """The metric's own vectors; where it names none, those of the call."""
    named = metric.embeddings != type(metric)().embeddings
    return metric.embeddings if named or embeddings is None else embeddings


def _check_length(corpus: Corpus, metric: Metric) -> None:
    length, image = corpus._core.longest()
    if length > LONGEST_MOVED:
        raise DataError(
            f"image {corpus.image_ids[image]!r}: a sentence of {length:,} words; {metric.label} takes up to "
            f"{LONGEST_MOVED:,} (its work grows with the product of the lengths); shorten it or leave the metric out"
        )


def objects_of(
    image_ids: Sequence[str], source: ObjectSource, threshold: float | None = None
) -> list[dict[str, float]]:
    """The objects of each of the images, in their order.

    Warns where some images have none, and raises `DataError` where all lack them or an image's are unusable.
    """
    named = objects_by_image(source, threshold)
    images = list(dict.fromkeys(image_ids))
    absent = [image for image in images if image not in named]
    if absent and len(absent) == len(images):
        name = str(source) if isinstance(source, (str, PathLike)) else "the objects"
        raise DataError(
            f"{name}: it has objects of {some(list(named))}, of none of the {some(images)} that are scored; "
            "are these files of the same data set?"
        )
    if absent:
        warn(
            f"no objects for {some(absent)}: nothing in the caption is in such an image"
        )
    return [named.get(image, {}) for image in image_ids]


def objects_by_image(source: ObjectSource, threshold: float | None) -> dict[str, dict[str, float]]:
    """Labels with counts, by image id: of a file, or checked. Raises `DataError` where they are unusable."""
    if isinstance(source, (str, PathLike)):
        from capeval.data import read_objects

        return {image: dict(labels) for image, labels in read_objects(source, threshold=threshold).items()}
    if threshold is not None:
        raise UsageError("a threshold is for a file of detections with scores; the objects given here are a mapping")
    return {str(image): counted(labels, f"image {str(image)!r}") for image, labels in source.items()}


def counted(labels: Labels, where: str) -> dict[str, float]:
    """Labels with counts. Raises `DataError` for a label that is no text, or a count that is no positive number."""
    if isinstance(labels, str):
        raise DataError(f"{where}: the objects are one text, {labels!r}; give a list of labels, or labels with counts")
    counts: dict[str, float] = {}
    pairs = labels.items() if isinstance(labels, Mapping) else ((label, 1) for label in labels)
    for label, count in pairs:
        if not isinstance(label, str) or not label.strip():
            raise DataError(f"{where}: the label {label!r} is not a text; labels are words, such as 'dog'")
        number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if not number or not math.isfinite(count) or count < 0:
            raise DataError(f"{where}: the count of {label!r} is {count!r}; it must be a number of at least 0")
        if count > 0:
            counts[label] = counts.get(label, 0) + count
    return counts


def _by_script(corpus: Corpus, threads: int) -> _core.Corpus:
    """The same captions, cut into words as the published script does."""
    candidates, references = {}, {}
    for image in corpus.image_ids:
        candidate, others = corpus.captions(image)
        candidates[image] = [_cut(candidate or "")]
        references[image] = [_cut(other) for other in others]
    return _encode(references, candidates, threads)


def _cut(caption: str) -> str:
    return " ".join(script_words(caption))


def _encode(references: dict[str, list[str]], candidates: dict[str, list[str]], threads: int) -> _core.Corpus:
    """Captions whose words are blank-separated already."""
    numbers = range(len(references))
    encoded = _core.References(_core.Captions.from_dict(references), numbers, "none", threads)
    return _core.Corpus(encoded, _core.Captions.from_dict(candidates), numbers, threads)


def _embedded(
    corpus: _core.Corpus, objects: list[dict[str, float]] | None, source: EmbeddingSource, *, scripted: bool
) -> EmbeddedCorpus:
    embeddings = _opened(source)
    if objects is not None and scripted:
        objects = [_split_labels(labels) for labels in objects]
    vocabulary = corpus.vocabulary
    content = [word for word in vocabulary if (word not in FUNCTION_WORDS if scripted else is_content(word))]
    labels = list(dict.fromkeys(label for counts in objects or () for label in counts))
    rows = _Rows()
    # A compound that has no vector is its parts, as if they had been written apart; a label is one thing.
    of_words = dict(zip(content, map(rows.of_each, embeddings.spellings(content)), strict=True))
    of_labels = dict(zip(labels, map(rows.of_label, labels, embeddings.spellings(labels)), strict=True))
    given = None
    if objects is not None:
        counted_labels = [item for counts in objects for item in counts.items()]
        given = (
            [len(counts) for counts in objects],
            [of_labels[label] for label, _ in counted_labels],
            [float(count) for _, count in counted_labels],
        )
    vectors, _ = embeddings.find(rows.words)
    terms = [of_words.get(word, []) for word in vocabulary]
    return EmbeddedCorpus(
        corpus,
        _core.Embedded(embeddings.dimension, vectors.astype("<f8", copy=False).tobytes(), terms, given),
        rows.words,
        None if objects is None else [tuple(counts) for counts in objects],
        f"{embeddings.name}({embeddings.checksum})",
    )


class _Rows:
    """Rows of vectors, one for each distinct word or label that is looked up."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def of_each(self, spelling: tuple[str, ...]) -> list[int]:
        """The rows of the words that a word is found as."""
        return [self._number((word,), word) for word in spelling] or [_UNKNOWN]

    def of_label(self, label: str, spelling: tuple[str, ...]) -> int:
        """The row of a label: that of the one word it is found as, or one of its own."""
        if not spelling:
            return _UNKNOWN
        return self._number(spelling, spelling[0] if len(spelling) == 1 else label)

    def _number(self, spelling: tuple[str, ...], name: str) -> int:
        if spelling not in self._numbers:
            self._numbers[spelling] = len(self.words)
            self.words.append(name)
        return self._numbers[spelling]


def _opened(source: EmbeddingSource) -> Embeddings:
    """The embeddings; the last few files stay open, so that explaining image after image reads them once."""
    from capeval.resources.embeddings import open_embeddings

    if not isinstance(source, (str, PathLike)):
        return open_embeddings(source)
    path = os.fspath(source)
    try:
        status = os.stat(path)
    except OSError:
        return _open_once(path, None)
    return _open_once(path, (status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=4)
def _open_once(path: str, version: tuple[int, int] | None) -> Embeddings:  # noqa: ARG001 (a file that changes is another)
    from capeval.resources.embeddings import open_embeddings

    return open_embeddings(path)


def _split_labels(labels: Mapping[str, float]) -> dict[str, float]:
    """The content words of the labels: the published script joins an image's labels to one text."""
    counts: dict[str, float] = {}
    for label, count in labels.items():
        for word in script_words(label):
            if word not in FUNCTION_WORDS:
                counts[word] = counts.get(word, 0) + count
    return counts


def coverage(statistics: _core.Statistics) -> float:
    """Share of the content words and labels that have a vector, counted as often as they occur; 1 where there are none.

    Of the statistics of a metric that compares meanings: score, 1, known, all.
    """
    known, total = statistics.sums()[2:4]
    return known / total if total else 1.0


def explain(
    metric: Vifidel,
    objects: Labels,
    caption: str,
    references: Sequence[str] | None,
    *,
    tokenizer: str,
    embeddings: EmbeddingSource | None,
) -> Explanation:
    """VIFIDEL's plan for one image; see [`capeval.metrics.Vifidel.explain`][]."""
    from capeval.corpus.corpus import tokenize

    if isinstance(references, str):
        raise DataError(f"references are a list of sentences, got one text: {references!r}")
    sentences = [caption, *(references or ())]
    if metric.script_words:
        cut = [_cut(sentence) for sentence in _checked(sentences)]
    else:
        cut = [" ".join(tokens) for tokens in tokenize(sentences, tokenizer=tokenizer)]
    corpus = _encode({"": cut[1:]}, {"": cut[:1]}, 1)
    given = [counted(objects, "explain")]
    view = _embedded(corpus, given, _source(metric, embeddings), scripted=metric.script_words)
    return view.explain(metric, 0)


def _checked(sentences: Sequence[str]) -> Sequence[str]:
    for sentence in sentences:
        if not isinstance(sentence, str):
            raise DataError(f"a caption must be a string, got {sentence!r}")
    return sentences
