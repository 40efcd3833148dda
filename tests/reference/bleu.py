"""BLEU: b · exp(Σ_n log(P_n) / N), counts and lengths pooled over the corpus.

P_n = Σ_k min(h_k(c), max_j h_k(s_j)) / Σ_k h_k(c); b = 1 where the candidate is at least as long as the reference,
else exp(1 − l_S / l_C). The reference length of an image is the closest to the candidate's, the shorter of two equally
close, unless the average or the shortest is asked for.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from reference import Scores
from reference.ngrams import counts


class Image(NamedTuple):
    matches: list[int]
    totals: list[int]
    length: int
    lengths: dict[str, float]


def bleu(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    n: int,
    smoothing: str = "coco",
    k: float = 1.0,
    reference: str = "closest",
    brevity: bool = True,
) -> Scores:
    images = [count(candidate, sentences, n) for candidate, sentences in zip(candidates, references, strict=True)]
    per_image = [pooled([image], n, smoothing, k, reference, brevity) for image in images]
    return pooled(images, n, smoothing, k, reference, brevity), per_image


def count(candidate: str, references: Sequence[str], n: int) -> Image:
    words = candidate.split()
    matches, totals = [], []
    for order in range(1, n + 1):
        mine = counts(words, order)
        theirs = [counts(reference.split(), order) for reference in references]
        matches.append(sum(min(times, max(their[gram] for their in theirs)) for gram, times in mine.items()))
        totals.append(sum(mine.values()))
    lengths = [len(reference.split()) for reference in references]
    closest = min(lengths, key=lambda length: (abs(length - len(words)), length))
    chosen = {"closest": closest, "average": sum(lengths) / len(lengths), "shortest": min(lengths)}
    return Image(matches, totals, len(words), chosen)


def pooled(images: Sequence[Image], n: int, smoothing: str, k: float, which: str, penalised: bool) -> float:
    matches = [sum(image.matches[order] for image in images) for order in range(n)]
    totals = [sum(image.totals[order] for image in images) for order in range(n)]
    length = sum(image.length for image in images)
    reference = sum(image.lengths[which] for image in images)
    if smoothing == "coco":
        # Two tiny constants, 1e-15 above and 1e-9 below every quotient, the lengths' too.
        ratio = (length + 1e-15) / (reference + 1e-9)
        brevity = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
        quotients = [(match + 1e-15) / (total + 1e-9) for match, total in zip(matches, totals, strict=True)]
    else:
        brevity = math.exp(1 - reference / length) if 0 < length < reference else 1.0
        quotients = smoothed(matches, totals, smoothing, k)
    return (brevity if penalised else 1.0) * math.prod(quotients) ** (1 / n)


def smoothed(matches: Sequence[int], totals: Sequence[int], smoothing: str, k: float) -> list[float]:
    """P_n, with what the smoothing says about orders without a match; an order without n-grams has no quotient: 0."""
    quotients = []
    halvings = 0
    for order, (match, total) in enumerate(zip(matches, totals, strict=True), start=1):
        above, below = float(match), float(total)
        if smoothing == "add-k" and order > 1:
            above, below = match + k, total + k
        elif smoothing == "floor" and match == 0:
            above = k
        elif smoothing == "exp" and match == 0 and total > 0:
            halvings += 1
            above = 0.5**halvings
        quotients.append(above / below if below else 0.0)
    return quotients
