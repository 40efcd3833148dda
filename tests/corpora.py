"""Corpora for tests: small vocabularies, so that n-grams collide; captions are tokenised already.

Hypothesis chooses the vocabulary, the number of images and a seed; the seed fills in the words. A draw for each word
takes twenty times as long, longer than scoring the corpus, and a failing example is as easily read: eight images at
most, fewer after shrinking.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from hypothesis import strategies as st

import sacrecap
from sacrecap import Result, SacrecapWarning
from sacrecap.metrics import Metric
from sacrecap.resources.embeddings import Embeddings, table_of_arrays

WORDS = ("a", "the", "dog", "dogs", "runs", "running", "run", "city", "cities", "happily", "happy")

STEMS = {
    "dogs": "dog",
    "runs": "run",
    "running": "run",
    "city": "citi",
    "cities": "citi",
    "happily": "happili",
    "happy": "happi",
}
"""What Snowball's English stemmer makes of those `WORDS` that it changes."""


_EMBEDDED = (*WORDS, "b", "c", "u", "x", "y", "z", "runs", "along", "beach", "two", "birds", "cats")


def embeddings(words: Sequence[str] = _EMBEDDED, dimension: int = 5) -> Embeddings:
    """Random vectors of these words."""
    vectors = np.random.default_rng(0).normal(size=(len(words), dimension))
    return Embeddings("test", lambda: table_of_arrays("test", words, vectors, "0" * 12))


EMBEDDINGS = embeddings()
LANGUAGE_MODEL = sacrecap.LanguageModel.build({"1": ["a dog runs", "the dog runs on"]}, tokenizer="none")


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
        document_frequency: sacrecap.DocumentFrequency | Sequence[sacrecap.DocumentFrequency] | None = None,
        language_model: sacrecap.LanguageModel | None = None,
        threads: int = 1,
    ) -> Result:
        """Scores without intervals; the warnings about a single image and of unknown words are known."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SacrecapWarning)
            return sacrecap.score(
                *self.by_id,
                metrics,
                tokenizer="none",
                document_frequency=document_frequency,
                language_model=language_model or LANGUAGE_MODEL,
                interval=None,
                objects=self.objects,
                rubric=self.by_id[0],
                embeddings=EMBEDDINGS,
                threads=threads,
            )

    def frequencies(self, *, stem: bool = False, n: int = 4) -> sacrecap.DocumentFrequency:
        return sacrecap.DocumentFrequency.build(self.by_id[0], tokenizer="none", stem=stem, n=n)

    def every_frequency(self) -> tuple[sacrecap.DocumentFrequency, ...]:
        """Of word forms and of stems: each metric takes its own."""
        return self.frequencies(), self.frequencies(stem=True)


seeds = st.integers(0, 2**32 - 1)


def caption(chance: Random, words: Sequence[str] = WORDS, *, least: int = 0, most: int = 9) -> str:
    return " ".join(chance.choices(words, k=chance.randint(least, most)))


def captions(words: Sequence[str] = WORDS, *, least: int = 0, most: int = 9) -> st.SearchStrategy[str]:
    return seeds.map(lambda seed: caption(Random(seed), words, least=least, most=most))


def mixed(chance: Random, sentences: Sequence[str]) -> str:
    """The beginning of one sentence and the end of another."""
    one, other = (chance.choice(sentences).split() for _ in range(2))
    return " ".join(one[: chance.randint(0, len(one))] + other[chance.randint(0, len(other)) :])


@st.composite
def pairs(
    draw: st.DrawFn,
    words: Sequence[str] | st.SearchStrategy[Sequence[str]] = WORDS,
    *,
    shortest: int = 0,
    longest: int = 9,
    least: int = 1,
    most: int = 8,
) -> Pairs:
    """From `least` to `most` images, each of one to five references, in captions of `shortest` to `longest` words."""
    known = draw(words) if isinstance(words, st.SearchStrategy) else words
    images, chance = draw(st.integers(least, most)), Random(draw(seeds))

    def afresh(sentences: Sequence[str] = ()) -> str:
        return caption(chance, known, least=shortest, most=longest)

    def reference() -> str:  # an empty one would be left out
        return caption(chance, known, least=max(shortest, 1), most=longest)

    references = tuple(tuple(reference() for _ in range(chance.randint(1, 5))) for _ in range(images))
    # A candidate near its references is worth more than one drawn afresh: matches of every order occur.
    kinds = (afresh, chance.choice, lambda sentences: mixed(chance, sentences))
    return Pairs(tuple(chance.choice(kinds)(sentences) for sentences in references), references)
