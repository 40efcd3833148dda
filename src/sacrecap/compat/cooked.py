"""Captions as counts of n-grams. They are counted only when a program reads them: scoring uses the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

Ngram = tuple[str, ...]


class Cooked(Mapping[Ngram, int]):
    """How often a caption holds each n-gram, up to `n` words; words are split at white space."""

    __slots__ = ("_counts", "n", "text")

    def __init__(self, text: str, n: int) -> None:
        self.text = text
        self.n = n
        self._counts: dict[Ngram, int] | None = None

    @property
    def counts(self) -> dict[Ngram, int]:
        """The counts, in the order in which the n-grams are met: all words first."""
        if self._counts is None:
            words = self.text.split()
            self._counts = {}
            for order in range(1, self.n + 1):
                for end in range(order, len(words) + 1):
                    ngram = tuple(words[end - order : end])
                    self._counts[ngram] = self._counts.get(ngram, 0) + 1
        return self._counts

    def __getitem__(self, ngram: Ngram) -> int:
        return self.counts[ngram]

    def __iter__(self) -> Iterator[Ngram]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"<n-grams of {self.text!r}>"


def precook(text: str, n: int = 4) -> Cooked:
    """A caption's n-grams up to `n` words."""
    return Cooked(text, n)


cook_test = precook


def cook_refs(refs: Sequence[str], n: int = 4) -> list[Cooked]:
    """The n-grams of each reference of an image."""
    return [Cooked(caption, n) for caption in refs]


def add(counts: dict[Ngram, float], references: Iterable[Sequence[Cooked]]) -> None:
    """Counts each n-gram once for each image whose references have it."""
    for captions in references:
        for ngram in set().union(*captions):
            counts[ngram] += 1
