"""Word Mover's Distance: how far the candidate's words must move to become a reference's words.

Kusner, Sun, Kolkin, Weinberger, *From Word Embeddings To Document Distances* (ICML 2015); as a caption metric:
Kilickaya et al. (EACL 2017) and Madhyastha, Wang, Specia (ACL 2019).

    WMD(c, s) = min_T Σ_ij T_ij ‖x_i − x_j‖^p,  T ≥ 0, row sums d^c, column sums d^s
    score     = pool_j exp(−WMD(c, s_j))

d is the normalised bag of a sentence's content words, x their vectors. The optimum is exact.

Where papers and programs differ: docs/reference/metrics/wmd.md.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import option, some, warn
from sacrecap.metrics.base import Bears, Metric, Ready, Totals
from sacrecap.metrics.declared import parameter
from sacrecap.resources.needs import Needs, WorkShare

if TYPE_CHECKING:
    from sacrecap.resources.embeddings import Embeddings, EmbeddingSource

_UNKNOWN = -1


class EmbeddingMetric(Metric):
    """A metric over word vectors. A parameter names them; `--embeddings` names them for metrics with the default."""

    embeddings: str = parameter("word vectors: a name, or a file of any known format", default="default", kind=str)

    resolved = ("embeddings",)
    takes_objects: ClassVar[bool] = False
    """Whether it is about the objects in images, which are found there if they are not given."""

    @property
    def script_words(self) -> bool:
        """Whether captions are cut into words as VIFIDEL's published script does, whatever the corpus' tokenizer."""
        return False

    @property
    def largest(self) -> float | None:
        return None if self.lower_is_better else self.upper

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Looks up the vectors of the words of the captions, and of the labels of the objects, if there are any."""
        from sacrecap.resources.embeddings import script_words
        from sacrecap.resources.objects_of_images import are_found, objects_of, signature_of_found

        source = self.named_or("embeddings", needs.get("embeddings"))
        finds_objects = self.takes_objects and are_found(needs)

        def read() -> EmbeddedCorpus:
            labels, cut = objects_of(corpus, needs, find=finds_objects), corpus._core
            if self.script_words:
                sides = {
                    image: [[" ".join(script_words(caption)) for caption in side] for side in corpus.given(image)]
                    for image in corpus.image_ids
                }
                candidates, references = ({image: pair[side] for image, pair in sides.items()} for side in (0, 1))
                cut = encode(references, candidates, needs.threads)
            tell = needs.progress or (lambda _: None)
            tell(WorkShare(0, "reading word vectors"))
            with_vectors = embedded(cut, labels, source, scripted=self.script_words)
            tell(WorkShare(1, "reading word vectors"))
            return with_vectors

        # Made once per corpus, for all metrics with the same view.
        key = "embedded", source if isinstance(source, str) else id(source), self.script_words, finds_objects
        view = needs.once(key, read, of=corpus)
        signature = f"embeddings:{view.checksum}", *([signature_of_found(needs)] if finds_objects else [])
        return Ready(view.corpus, (view.embedded,), signature, own=view)

    def coverage(self, statistics: Totals) -> float | None:
        """Share of the content words and labels with a vector, by columns 3 and 4 of the rows; 1 if there are none."""
        known_words, total = statistics.sums()[2:4]
        return known_words / total if total else 1.0

    def warnings(self, ready: Ready, statistics: Totals) -> list[str]:
        """Warns if the score is unreliable because too many words have no vector."""
        share = self.coverage(statistics)
        if share is None or share >= 0.8:
            return []
        have = f"only {share:.0%} of the content words and labels have a vector in {ready.own.source}"
        other = f"give other vectors with {option('embeddings', 'NAME|FILE')}"
        return [f"{self.label}: {have}; the others are left out of the score; {other}"]


class Wmd(EmbeddingMetric):
    """Exponentiated Word Mover's Distance; corpus score = mean."""

    pool: str = parameter(
        "which reference counts: the nearest, the farthest, or the mean over all",
        default="best",
        choices=("best", "worst", "mean"),
    )
    p: int = parameter("power of the distance between two vectors", default=2, least=1, most=2)
    similarity: bool = parameter("exp(−distance); no gives the distance, for which lower is better", default=True)
    normalise: bool = parameter("scale vectors to unit length first", default=False)

    title = "WMD"
    summary = "The candidate's content words mean what a reference's mean."
    equation = "WMD = max_j exp(−min_T Σ T_ik ‖x_i − x_k‖^p) over the content words i of c and k of s_j"
    source = "Kusner et al., ICML 2015; Madhyastha et al., ACL 2019"
    cites = ("kusner2015wmd", "kilickaya2017reevaluating")
    upper = 1.0
    needs = ("references", "embeddings")
    nothing: ClassVar[dict[str, str]] = {
        "no known content word in the caption": (
            "0; as a distance (2 r)^p, r being the length of the longest vector of a reference's words"
        ),
        "no known content word in any reference": "0; as a distance (2 r)^p of the caption's vectors; 2^p without any",
        "no known content word in one of the references": "that reference is left out",
        "every distance zero": "1; as a distance 0",
    }
    bears = Bears(0.3, 5, 0.3)

    @property
    def lower_is_better(self) -> bool:
        return not self.similarity

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """As for any metric over word vectors; warns of images that are beyond what transport can solve in a minute."""
        ready = super().ready(corpus, needs)
        if beyond := ready.own.embedded.beyond(ready.corpus):
            images = some([corpus.image_ids[place] for place in beyond])
            pairs = "a caption and a reference have more than 4,000,000 pairs of different words"
            warn(f"{self.label} has no score of {images}: {pairs}; shorten one of them")
        return ready


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


def encode(references: dict[str, list[str]], candidates: dict[str, list[str]], threads: int) -> _core.Corpus:
    """Captions whose words are blank-separated already."""
    numbers = range(len(references))
    encoded = _core.References(_core.Captions.from_dict(references), numbers, "none", threads)
    return _core.Corpus(encoded, _core.Captions.from_dict(candidates), numbers, threads)


def embedded(
    corpus: _core.Corpus, objects: list[dict[str, int]] | None, source: EmbeddingSource, *, scripted: bool
) -> EmbeddedCorpus:
    """A native corpus with these vectors."""
    from sacrecap.resources.embeddings import FUNCTION_WORDS, is_content, open_embeddings

    if isinstance(source, (str, os.PathLike)):
        status = os.stat(source) if os.path.exists(source) else None
        embeddings = _open_once(os.fspath(source), status and (status.st_mtime_ns, status.st_size))
    else:
        embeddings = open_embeddings(source)
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
    spelled_words = zip(content, embeddings.spellings(content), strict=True)
    of_words = {word: [row((form,), form) for form in forms] or [_UNKNOWN] for word, forms in spelled_words}
    spelled_labels = zip(labels, embeddings.spellings(labels), strict=True)
    of_labels = {label: row(forms, label) if forms else _UNKNOWN for label, forms in spelled_labels}
    counts_by_label = None
    if objects is not None:
        counts_by_label = (
            [len(counts) for counts in objects],
            [of_labels[label] for counts in objects for label in counts],
            [float(count) for counts in objects for count in counts.values()],
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


@lru_cache(maxsize=1)
def _open_once(path: str, version: tuple[int, int] | None) -> Embeddings:  # noqa: ARG001 (a file that changes is another)
    """The last file stays open, so that explanations of several images read it only once."""
    from sacrecap.resources.embeddings import open_embeddings

    return open_embeddings(path)


def _words_of(labels: Mapping[str, int]) -> dict[str, int]:
    """The content words of the labels, with how often each is there."""
    from sacrecap.resources.embeddings import FUNCTION_WORDS, script_words

    counts: Counter[str] = Counter()
    for label, count in labels.items():
        for word in script_words(label):
            if word not in FUNCTION_WORDS:
                counts[word] += count
    return dict(counts)
