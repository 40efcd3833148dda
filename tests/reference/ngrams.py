"""h_k(s): how often each n-gram occurs in a sentence."""

from collections import Counter
from collections.abc import Sequence

Ngram = tuple[str, ...]


def counts(words: Sequence[str], n: int) -> Counter[Ngram]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))
