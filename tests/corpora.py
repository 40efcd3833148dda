"""Corpora for tests: small vocabularies, so that n-grams collide; captions are tokenised already."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import capeval
from capeval import CapevalWarning, Result
from capeval.metrics import Metric
from capeval.resources.embeddings import Embeddings
from capeval.resources.embeddings.table import ArrayTable

WORDS = ("a", "the", "dog", "dogs", "runs", "running", "run", "city", "cities", "happily", "happy")

STEMS = {
    "dogs": "dog", "runs": "run", "running": "run", "city": "citi", "cities": "citi", "happily": "happili",
    "happy": "happi",
}  # fmt: skip
"""What Snowball's English stemmer makes of those `WORDS` that it changes."""


_EMBEDDED = (*WORDS, "b", "c", "u", "x", "y", "z", "runs", "along", "beach", "two", "birds", "cats")


def embeddings(words: Sequence[str] = _EMBEDDED, dimension: int = 5) -> Embeddings:
    """Random vectors of these words."""
    vectors = np.random.default_rng(0).normal(size=(len(words), dimension))
    return Embeddings("test", lambda: ArrayTable("test", words, vectors, "0" * 12))


EMBEDDINGS = embeddings()


def stem(word: str) -> str:
    return STEMS.get(word, word)


@dataclass(frozen=True)
class Pairs:
    """Candidates and references of the same images, tokenised."""

    candidates: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    @property
    def by_id(self) -> tuple[dict[str, list[str]], dict[str, str]]:
        """As the scorers take them: references and candidates by image id."""
        ids = [f"image-{number}" for number in range(len(self.candidates))]
        references = {image: list(captions) for image, captions in zip(ids, self.references, strict=True)}
        return references, dict(zip(ids, self.candidates, strict=True))

    @property
    def objects(self) -> dict[str, list[str]]:
        """The words of each first reference, as if they were what is in the image."""
        return {image: captions[0].split() for image, captions in self.by_id[0].items()}

    def pick(self, images: Iterable[int]) -> Pairs:
        images = list(images)
        return Pairs(tuple(self.candidates[i] for i in images), tuple(self.references[i] for i in images))

    def score(
        self,
        metrics: str | Metric | Sequence[str | Metric],
        *,
        document_frequency: capeval.DocumentFrequency | None = None,
        threads: int = 1,
    ) -> Result:
        """Scores without intervals; the warnings about a single image and of unknown words are known."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CapevalWarning)
            return capeval.score(
                *self.by_id, metrics, tokenizer="none", document_frequency=document_frequency, interval=None,
                objects=self.objects, embeddings=EMBEDDINGS, threads=threads,
            )  # fmt: skip

    def frequencies(self, *, stem: bool = False, n: int = 4) -> capeval.DocumentFrequency:
        return capeval.DocumentFrequency.build(self.by_id[0], tokenizer="none", stem=stem, n=n)


def captions(words: Sequence[str] = WORDS, *, least: int = 0, most: int = 9) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(words), min_size=least, max_size=most).map(" ".join)


@st.composite
def pairs(draw: st.DrawFn, caption: st.SearchStrategy[str] | None = None, *, least: int = 1, most: int = 8) -> Pairs:
    caption = caption if caption is not None else captions()
    references = draw(
        st.lists(st.lists(caption, min_size=1, max_size=5).map(tuple), min_size=least, max_size=most).map(tuple)
    )
    # A candidate near its references is worth more than one drawn afresh: matches of every order occur.
    candidates = tuple(draw(caption | st.sampled_from(sentences) | mixed(sentences)) for sentences in references)
    return Pairs(candidates, references)


@st.composite
def mixed(draw: st.DrawFn, sentences: Sequence[str]) -> str:
    """The beginning of one sentence and the end of another."""
    one, other = (draw(st.sampled_from(sentences)).split() for _ in range(2))
    return " ".join(one[: draw(st.integers(0, len(one)))] + other[draw(st.integers(0, len(other))) :])
