"""ROUGE: the score of an image by formula, the corpus score as mean."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from itertools import combinations

from reference import Scores
from reference.ngrams import counts


def rouge_n(candidates: Sequence[str], references: Sequence[Sequence[str]], *, n: int) -> Scores:
    """Σ_j Σ_k min(h_k(c), h_k(s_j)) / Σ_j Σ_k h_k(s_j)."""

    def image(candidate: str, sentences: Sequence[str]) -> float:
        mine = counts(candidate.split(), n)
        theirs = [counts(sentence.split(), n) for sentence in sentences]
        matches = sum(min(mine[gram], times) for their in theirs for gram, times in their.items())
        total = sum(sum(their.values()) for their in theirs)
        return matches / total if total else 0.0

    return mean(image, candidates, references)


def rouge_l(candidates: Sequence[str], references: Sequence[Sequence[str]], *, beta: float = 1.2) -> Scores:
    """F of R = max_j lcs/|s_j| and P = max_j lcs/|c|; tokens stand between single blanks, so "" is one empty token."""

    def image(candidate: str, sentences: Sequence[str]) -> float:
        mine = candidate.split(" ")
        theirs = [sentence.split(" ") for sentence in sentences]
        common = [longest_common_subsequence(mine, their) for their in theirs]
        recall = max(length / len(their) for length, their in zip(common, theirs, strict=True))
        precision = max(length / len(mine) for length in common)
        return f_measure(precision, recall, beta)

    return mean(image, candidates, references)


def rouge_s(
    candidates: Sequence[str], references: Sequence[Sequence[str]], *, distance: int = 4, beta: float = 2.0
) -> Scores:
    """The same F over ordered word pairs at most `distance` words apart."""

    def pairs(sentence: str) -> Counter[Hashable]:
        places = combinations(enumerate(sentence.split()), 2)
        return Counter((first, second) for (i, first), (j, second) in places if j - i <= distance)

    def image(candidate: str, sentences: Sequence[str]) -> float:
        mine, theirs = pairs(candidate), [pairs(sentence) for sentence in sentences]
        common = [(mine & their).total() for their in theirs]
        if not any(common):
            return 0.0
        recall = max(shared / their.total() for shared, their in zip(common, theirs, strict=True) if shared)
        precision = max(shared / mine.total() for shared in common)
        return f_measure(precision, recall, beta)

    return mean(image, candidates, references)


def f_measure(precision: float, recall: float, beta: float) -> float:
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def longest_common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    @cache
    def length(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        if a[i] == b[j]:
            return 1 + length(i + 1, j + 1)
        return max(length(i + 1, j), length(i, j + 1))

    return length(0, 0)


def mean(
    image: Callable[[str, Sequence[str]], float], candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> Scores:
    per_image = [image(candidate, sentences) for candidate, sentences in zip(candidates, references, strict=True)]
    return sum(per_image) / len(per_image), per_image
