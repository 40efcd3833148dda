"""Synonyms of words: their neighbours in word vectors that are learnt from captions.

Wang, Chan (CVPR 2019), section 5.2: word2vec trained on the training captions, a word's 10 nearest neighbours weighed
by similarity, each word switched with probability p in {0.1 … 0.5}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sacrecap.errors import DataError, of_extra

Neighbours = Callable[[str], tuple[Sequence[str], npt.NDArray[np.float64]]]
"""A word's neighbours, and the probability of each (together 1); none of a word without."""


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
    with of_extra("train", "switching synonyms"):
        from gensim.models import Word2Vec
    if max(Counter(word for caption in captions for word in caption).values(), default=0) < least:
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
