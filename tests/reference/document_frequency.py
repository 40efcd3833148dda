"""Document frequencies: in the references of how many images an n-gram occurs (CIDEr, eq. 1)."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reference.ngrams import Ngram, counts


def word_form(word: str) -> str:
    return word


@dataclass
class Frequencies:
    documents: int
    of: Counter[Ngram]

    def idf(self, gram: Ngram) -> float:
        """log |I| − log max(1, df)."""
        return math.log(self.documents) - math.log(max(1, self.of[gram]))


def document_frequencies(
    references: Sequence[Sequence[str]], n: int = 4, stem: Callable[[str], str] = word_form
) -> Frequencies:
    of: Counter[Ngram] = Counter()
    for sentences in references:
        seen: set[Ngram] = set()
        for sentence in sentences:
            for order in range(1, n + 1):
                seen |= counts([stem(word) for word in sentence.split()], order).keys()
        of.update(seen)
    return Frequencies(len(references), of)
