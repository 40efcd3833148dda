"""SS: the beam's best caption, and copies of it in which words are switched for their neighbours.

Wang, Chan (CVPR 2019), section 5.2: a beam of 3, word2vec trained on the training captions, a word's 10 nearest
neighbours weighed by similarity, each word switched with probability p in {0.1 … 0.5}.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap_captioning.decoding.sets.method import ImageBatch, SetMethod, parameter
from sacrecap_captioning.decoding.sets.span import Span
from sacrecap_captioning.decoding.sets.speaker import Speaker

Neighbours = Callable[[str], tuple[Sequence[str], npt.NDArray[np.float64]]]
"""A word's neighbours, and the probability of each (together 1); none of a word without."""


@dataclass(frozen=True)
class SynonymSwitching(SetMethod):
    """Only the wording varies: a switched word may be wrong."""

    name: ClassVar[str] = "ss"
    summary: ClassVar[str] = "the likeliest caption, and copies with words switched for near ones"
    p: Span = parameter(Span(0.1, 0.5), "probability that a word is switched", least=0, most=1)
    neighbours: int = parameter(10, "nearest words that a word is switched for", least=1)
    width: int = parameter(3, "width of the beam that finds the caption", least=1)
    least: int = parameter(5, "times that the training captions must have a word for it to have neighbours", least=1)
    near: Neighbours | None = dataclasses.field(default=None, repr=False, compare=False)
    """Learnt from training captions by `prepared`."""

    def prepared(self, training: Callable[[], Sequence[Sequence[str]]]) -> SynonymSwitching:
        """Learns word vectors from the training captions."""
        return dataclasses.replace(self, near=near_words(training(), self.neighbours, self.least))

    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """See `SetMethod`."""
        if self.near is None:
            raise UsageError("ss learns words' neighbours from training captions; give some")
        best = [beam[0].split() for beam in speaker.beam(images.seen(), images.chances, self.width)]
        return [
            [" ".join(words), *(" ".join(switched(words, p, self.near, chance)) for p in self.p.over(captions - 1))]
            for words, chance in zip(best, images.chances, strict=True)
        ]


def switched(words: Sequence[str], p: float, near: Neighbours, chance: np.random.Generator) -> list[str]:
    """The words, each replaced with probability p by one of its neighbours."""
    result = []
    for word in words:
        others, likelihood = near(word)
        switch = chance.random() < p and len(others) > 0
        result.append(others[chance.choice(len(others), p=likelihood)] if switch else word)
    return result


def near_words(captions: Sequence[Sequence[str]], count: int, least: int) -> Neighbours:
    """Neighbours by cosine in word2vec trained on tokenised captions; always the same for the same captions.

    Raises:
        DataError: no word occurs `least` times.
        MissingDependencyError: gensim is not installed.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise MissingDependencyError("switching synonyms", extra="train") from None
    if not any(captions) or least > _commonest(captions):
        raise DataError(
            f"ss learns synonyms of words that occur {least} times, and the {len(captions):,} training captions have "
            "none; give more captions, or ss(least=…)"
        )
    # One worker: with several, the order of updates, and so the vectors, would differ from run to run. No word is left
    # out for being common (`sample`): captions use few words, and of a small data set nothing would be learnt.
    vectors: Any = Word2Vec(captions, vector_size=100, min_count=least, sample=0, epochs=10, workers=1, seed=1).wv

    @cache
    def near(word: str) -> tuple[Sequence[str], npt.NDArray[np.float64]]:
        found = vectors.most_similar(word, topn=count) if word in vectors else []
        alike = [(other, likeness) for other, likeness in found if likeness > 0]
        weights = np.array([likeness for _, likeness in alike], dtype=np.float64)
        return [other for other, _ in alike], weights / weights.sum()

    return near


def _commonest(captions: Sequence[Sequence[str]]) -> int:
    return max(Counter(word for caption in captions for word in caption).values())
