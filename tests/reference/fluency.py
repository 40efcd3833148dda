"""Fluency (Chen and Goodman 1998, section 3; adjusted counts as Heafield et al. 2013), trained anew for every image."""

import math
from collections import Counter
from collections.abc import Sequence

from reference import Scores

Ngram = tuple[str, ...]
START, END, UNKNOWN = "the start", "the end", "any unknown word"  # which no word equals: words have no blanks


def fluency(candidates: Sequence[str], references: Sequence[Sequence[str]], *, n: int = 3, own: bool = False) -> Scores:
    """The mean over captions of (∏ P(w_i | …))^(1 / (m + 1)), by a model of the references of the other images."""
    others = [
        [sentence for k, image in enumerate(references) if own or k != number for sentence in image]
        for number in range(len(candidates))
    ]
    return fluency_by(candidates, others, n=n)


def fluency_by(candidates: Sequence[str], captions: Sequence[Sequence[str]], *, n: int = 3) -> Scores:
    """The same by a model of the captions that are given for each candidate."""
    per_image = []
    for candidate, learnt in zip(candidates, captions, strict=True):
        text = [sentence.split() for sentence in learnt if sentence]
        words = candidate.split()
        per_image.append(Model(text, n).inverse_perplexity(words) if words and text else 0.0)
    return sum(per_image) / len(per_image), per_image


class Model:
    """Interpolated, modified Kneser-Ney of order n."""

    def __init__(self, sentences: Sequence[Sequence[str]], n: int) -> None:
        self.n = n
        self.vocabulary = {word for sentence in sentences for word in sentence} | {END, UNKNOWN}
        marked = [(START, *sentence, END) for sentence in sentences]
        occurrences = Counter(
            sentence[k : k + order]
            for sentence in marked
            for order in range(1, n + 1)
            for k in range(len(sentence) - order + 1)
        )
        del occurrences[(START,)]
        before: Counter[Ngram] = Counter(ngram[1:] for ngram in occurrences if len(ngram) > 1)
        self.adjusted = {
            ngram: times if len(ngram) == n or ngram[0] == START else before[ngram]
            for ngram, times in occurrences.items()
        }
        self.after: dict[Ngram, list[int]] = {}
        for ngram, count in self.adjusted.items():
            self.after.setdefault(ngram[:-1], []).append(count)
        self.discounts = {order: self.estimate(order) for order in range(1, n + 1)}

    def estimate(self, order: int) -> list[float]:
        """D_1, D_2 and D_3+, after a 0 for what was never seen; fixed ones where they cannot be estimated."""
        n1, n2, n3, n4 = (
            sum(count == times for ngram, count in self.adjusted.items() if len(ngram) == order)
            for times in (1, 2, 3, 4)
        )
        if n1 and n2 and n3:
            y = n1 / (n1 + 2 * n2)
            discounts = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
            if all(discount > 0 for discount in discounts):
                return [0.0, *discounts]
        return [0.0, 0.5, 1.0, 1.5]

    def probability(self, word: str, history: Ngram) -> float:
        counts = self.after.get(history, [])
        shorter = self.probability(word, history[1:]) if history else 1 / len(self.vocabulary)
        if not counts:
            return shorter
        discounts = self.discounts[len(history) + 1]
        count = self.adjusted.get((*history, word), 0)
        reserved = math.fsum(discounts[min(other, 3)] for other in counts)
        return (count - discounts[min(count, 3)] + reserved * shorter) / sum(counts)

    def inverse_perplexity(self, words: Sequence[str]) -> float:
        marked = (START, *words, END)
        probabilities = [self.probability(marked[k], marked[max(k - self.n + 1, 0) : k]) for k in range(1, len(marked))]
        return math.exp(math.fsum(map(math.log, probabilities)) / len(probabilities))
