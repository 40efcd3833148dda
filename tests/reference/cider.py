"""CIDEr (eq. 1 to 3, and the appendix's variants) and CIDEr-D (eq. 4); the corpus score is the mean."""

import math
from collections.abc import Callable, Sequence

from reference import Scores
from reference.document_frequency import Frequencies, document_frequencies, word_form
from reference.ngrams import Ngram, counts

Vector = dict[Ngram, float]
POOLS: dict[str, Callable[[Sequence[float]], float]] = {"mean": lambda values: sum(values) / len(values), "max": max}
WEIGHTS: dict[str, Callable[[int], float]] = {"uniform": lambda n: 1.0, "exponential": math.exp}


def cider(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    n: int = 4,
    only: int = 0,
    stem: Callable[[str], str] = word_form,
    idf: bool = True,
    pool: str = "mean",
    weights: str = "uniform",
    scale: float = 10.0,
    frequencies: Frequencies | None = None,
) -> Scores:
    """`scale` · Σ_n w_n CIDEr_n, where CIDEr_n = `pool` over j of the cosine of gⁿ(c) and gⁿ(s_j)."""
    frequencies = frequencies or document_frequencies(references, stem=stem)
    orders = [only] if only else list(range(1, n + 1))
    share = {order: WEIGHTS[weights](order) for order in orders}
    total = sum(share.values())

    def vector(sentence: str, order: int) -> Vector:
        """g_k(s) = h_k(s) / Σ_l h_l(s) · idf_k."""
        frequency = counts([stem(word) for word in sentence.split()], order)
        length = frequency.total()
        return {gram: times / length * (frequencies.idf(gram) if idf else 1.0) for gram, times in frequency.items()}

    def image(candidate: str, sentences: Sequence[str]) -> float:
        def similarity(order: int) -> float:
            mine = vector(candidate, order)
            theirs = [vector(sentence, order) for sentence in sentences]
            return POOLS[pool]([quotient(dot(mine, their), mine, their) for their in theirs])

        return scale * sum(share[order] / total * similarity(order) for order in orders)

    return mean(image, candidates, references)


def cider_d(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    n: int = 4,
    sigma: float = 6.0,
    frequencies: Frequencies | None = None,
) -> Scores:
    """10 · mean over n and j of exp(−(l(c) − l(s))² / 2σ²) · Σ min(g(c), g(s)) · g(s) / (‖g(c)‖ ‖g(s)‖).

    As the COCO code has it: counts instead of shares, no stems, and l counts bigrams.
    """
    frequencies = frequencies or document_frequencies(references)

    def vector(sentence: str, order: int) -> Vector:
        return {gram: times * frequencies.idf(gram) for gram, times in counts(sentence.split(), order).items()}

    def length(sentence: str) -> int:
        return counts(sentence.split(), 2).total()

    def similarity(candidate: str, sentence: str, order: int) -> float:
        mine, theirs = vector(candidate, order), vector(sentence, order)
        clipped = {gram: min(weight, theirs.get(gram, 0.0)) for gram, weight in mine.items()}
        penalty = math.exp(-((length(candidate) - length(sentence)) ** 2) / (2 * sigma**2))
        return penalty * quotient(dot(clipped, theirs), mine, theirs)

    def image(candidate: str, sentences: Sequence[str]) -> float:
        every = [similarity(candidate, sentence, order) for sentence in sentences for order in range(1, n + 1)]
        return 10 * sum(every) / len(every)

    return mean(image, candidates, references)


def dot(a: Vector, b: Vector) -> float:
    return math.fsum(weight * b.get(gram, 0.0) for gram, weight in a.items())


def quotient(product: float, a: Vector, b: Vector) -> float:
    """The product divided by both norms; 0 where one of them is 0."""
    norms = math.sqrt(dot(a, a)) * math.sqrt(dot(b, b))
    return product / norms if norms else 0.0


def mean(
    image: Callable[[str, Sequence[str]], float], candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> Scores:
    per_image = [image(candidate, sentences) for candidate, sentences in zip(candidates, references, strict=True)]
    return sum(per_image) / len(per_image), per_image
