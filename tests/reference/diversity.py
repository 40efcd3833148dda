"""Caption sets: spectra, mBLEU, Div-n, in float64 and the words of the papers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from reference import bleu
from reference.ngrams import Ngram, counts

Frequencies = Mapping[Ngram, int]


def spread(singular_values: Sequence[float]) -> float:
    """−log_m(σ_1 / Σσ_i); 0 for one caption, or where all are 0."""
    largest, total = max(singular_values), sum(singular_values)
    if len(singular_values) < 2 or largest == 0:
        return 0.0
    return -math.log(largest / total) / math.log(len(singular_values))


def of_kernel(kernel: np.ndarray) -> float:
    """Through the singular values of the matrix; what is below its rounding is 0."""
    values = np.linalg.svd(kernel, compute_uv=False)
    values[values < 1e-14 * len(values) * values.max(initial=0)] = 0
    return spread(np.sqrt(values).tolist())


def vendi(kernel: np.ndarray) -> float:
    """exp(−tr(K/n ln K/n)) of the n captions that are similar to themselves, K with ones on its diagonal."""
    own = np.flatnonzero(kernel.diagonal())
    if not len(own):
        return 0.0
    roots = np.sqrt(kernel.diagonal()[own])
    values = np.linalg.svd(kernel[np.ix_(own, own)] / np.outer(roots, roots), compute_uv=False)
    shares = values[values > 0] / values.sum()
    return math.exp(-sum(share * math.log(share) for share in shares))


def vectors(captions: Sequence[str], documents: int, frequency: Frequencies, n: int) -> list[dict[Ngram, float]]:
    """TF-IDF weights of the n-grams of order n."""
    return [
        {
            gram: times * (math.log(documents) - math.log(max(1, frequency.get(gram, 0))))
            for gram, times in found.items()
        }
        for found in (counts(caption.split(), n) for caption in captions)
    ]


def norm(vector: Mapping[Ngram, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in vector.values()))


def cider_kernel(captions: Sequence[str], documents: int, frequency: Frequencies, n: int = 4) -> np.ndarray:
    """K_ij = 1/N Σ_n cos(gⁿ(c_i), gⁿ(c_j))."""
    kernel = np.zeros((len(captions), len(captions)))
    for order in range(1, n + 1):
        found = vectors(captions, documents, frequency, order)
        for i, a in enumerate(found):
            for j, b in enumerate(found):
                length = norm(a) * norm(b)
                if length:
                    kernel[i, j] += sum(weight * b.get(gram, 0.0) for gram, weight in a.items()) / length / n
    return kernel


def cider_d_kernel(
    captions: Sequence[str], documents: int, frequency: Frequencies, n: int = 4, sigma: float = 6.0
) -> np.ndarray:
    """CIDEr-D of caption i against j for i ≤ j, mirrored; lengths are numbers of bigrams."""
    lengths = [max(len(caption.split()) - 1, 0) for caption in captions]
    kernel = np.zeros((len(captions), len(captions)))
    for order in range(1, n + 1):
        found = vectors(captions, documents, frequency, order)
        for i, a in enumerate(found):
            for j in range(i, len(captions)):
                b = found[j]
                length = norm(a) * norm(b)
                if length:
                    clipped = sum(min(weight, b.get(gram, 0.0)) * b.get(gram, 0.0) for gram, weight in a.items())
                    penalty = math.exp(-((lengths[i] - lengths[j]) ** 2) / (2 * sigma**2))
                    kernel[i, j] += penalty * clipped / length / n
                    kernel[j, i] = kernel[i, j]
    return kernel


def lsa(captions: Sequence[str]) -> float:
    """Singular values of the word–caption count matrix itself."""
    words = sorted({word for caption in captions for word in caption.split()})
    if not words:
        return 0.0
    matrix = np.array([[caption.split().count(word) for caption in captions] for word in words], float)
    values = np.zeros(len(captions))
    found = np.linalg.svd(matrix, compute_uv=False)
    found[found < 1e-12 * found.max()] = 0
    values[: len(found)] = found
    return spread(values.tolist())


def mbleu(captions: Sequence[str], n: int, length: str = "closest") -> float:
    """Mean BLEU-n of each caption against the others; 1 for one caption."""
    if len(captions) < 2:
        return 1.0
    scores = []
    for k, caption in enumerate(captions):
        others = [*captions[:k], *captions[k + 1 :]]
        scores.append(bleu.bleu([caption], [others], n=n, reference=length)[0])
    return sum(scores) / len(scores)


def div(captions: Sequence[str], n: int, over: str = "words") -> float:
    """Distinct n-grams of the set over its words, or over its n-grams."""
    found = [counts(caption.split(), n) for caption in captions]
    below = sum(len(caption.split()) for caption in captions) if over == "words" else sum(map(sum_of, found))
    return len(set().union(*found)) / below if below else 0.0


def sum_of(found: Mapping[Ngram, int]) -> int:
    return sum(found.values())


def document_frequency(sets: Sequence[Sequence[str]]) -> dict[Ngram, int]:
    """In how many sets each n-gram occurs."""
    frequency: dict[Ngram, int] = {}
    for captions in sets:
        for gram in {gram for caption in captions for n in (1, 2, 3, 4) for gram in counts(caption.split(), n)}:
            frequency[gram] = frequency.get(gram, 0) + 1
    return frequency
