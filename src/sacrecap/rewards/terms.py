"""What a reward is mixed of: metrics and penalties with weights, `cider-d + 2*self-cider - 0.05*words`.

The notation is that of `sacrecap.metrics.weighted_sum`; a minus sign between blanks subtracts a term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sacrecap.errors import UsageError, naming
from sacrecap.metrics import Metric
from sacrecap.metrics.cider import frequencies_for
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.weighted_sum import Weight, check_distinct, read_term, terms, write_term
from sacrecap.parameters import split
from sacrecap.scoring.score import count

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap._core import Captions
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs


def repetition(tokens: Sequence[str]) -> float:
    """The share of a caption's pairs of words that occurred in it before, 0 to 1."""
    pairs = len(tokens) - 1
    return 1 - len(set(pairwise(tokens))) / pairs if pairs > 0 else 0.0


PENALTIES: dict[str, Callable[[Sequence[str], bool], float]] = {
    "words": lambda tokens, _: float(len(tokens)),
    "repetition": lambda tokens, _: repetition(tokens),
    "unfinished": lambda _, finished: float(not finished),
}
"""What a reward can count besides metrics, of the words of a caption and whether it came to its end."""


class Term(NamedTuple):
    """A metric and its weight in a reward."""

    metric: Metric
    weight: float

    @property
    def sign(self) -> float:
        """−1 for a metric for which lower is better, so that a higher reward is always better."""
        return -1.0 if self.metric.lower_is_better else 1.0

    def __str__(self) -> str:
        return write_term(self.metric.key, self.weight)


class RewardTerms(NamedTuple):
    """The terms of a reward."""

    terms: tuple[Term, ...]
    penalties: dict[str, float]
    """Weights of those of `PENALTIES` that are in it."""

    def __str__(self) -> str:
        return " + ".join([*map(str, self.terms), *(write_term(*item) for item in self.penalties.items())])


def mixture_of(reward: str | Metric | Mapping[str, float]) -> RewardTerms:
    """The metrics and penalties of a reward with their weights.

    Args:
        reward: a metric, its name, `{name: weight}`, or a weighted sum such as `cider-d + 0.5*rouge-l - 0.1*words`.

    Raises:
        UsageError: text of another form, an unknown metric, one that is named twice, a group of several, no metric at
            all, or a weight that is not a number other than 0.
    """
    if isinstance(reward, Metric):
        return RewardTerms((Term(reward, 1.0),), {})
    where = f"reward {reward!r}"
    weights = reward.items() if isinstance(reward, Mapping) else [read_term(term, where) for term in _summed(reward)]
    numbers: list[tuple[str, float]] = []
    for name, weight in weights:
        number: object = weight.end if isinstance(weight, Weight) and weight.start == weight.end else weight
        if not isinstance(number, (int, float)) or isinstance(number, bool) or number == 0 or not math.isfinite(number):
            raise UsageError(f"{where}: a weight is a number other than 0, got {weight}")
        numbers.append((name, float(number)))
    terms = tuple(Term(_single_metric(name, where), number) for name, number in numbers if name not in PENALTIES)
    check_distinct([term.metric.key for term in terms] + [name for name, _ in numbers if name in PENALTIES], where)
    if not terms:
        raise UsageError("no reward given; examples: cider-d, cider-d + 0.5*rouge-l, cider-d - 0.1*words")
    return RewardTerms(terms, {name: number for name, number in numbers if name in PENALTIES})


def _summed(reward: str) -> list[str]:
    """The terms of a sum, each with its own sign."""
    expressions = []
    for term in terms(reward):
        first, *subtracted = (part.strip() for part in split(term, lambda piece, _: piece == "-"))
        expressions += [first] if first or not subtracted else []
        expressions += [f"-{part}" if "*" in part.partition("(")[0] else f"-1*{part}" for part in subtracted]
    return expressions


def _single_metric(name: str, where: str) -> Metric:
    """The metric of that name. Raises `UsageError`, beginning with `where`, for an unknown name and for a group."""
    with naming(f"{where}: "):
        metrics = parse_metrics(name)
    if len(metrics) > 1:
        raise UsageError(f"{where}: {name} is a group of {len(metrics)} metrics; name each with its weight")
    return metrics[0]


def row_scores(corpus: Corpus, metric: Metric, needs: Needs) -> npt.NDArray[np.float64]:
    """The score of each caption of the corpus, or of each set; NaN for one that has none."""
    [counted] = count(corpus, (metric,), needs)
    return np.frombuffer(counted.statistics.row_scores(), dtype="<f8")


TermScores = tuple[Sequence[Metric], "npt.NDArray[np.float64]"]
"""The metrics of a part of a mixture, and what they give each caption, times their weights."""


def summed(terms: Iterable[TermScores], groups: Iterable[Sequence[int]], number: int) -> npt.NDArray[np.float64]:
    """The rewards of captions, from the terms of a mixture; NaN where there is none.

    The captions of a group are compared with each other. A term that has a score for none of them (SPICE of colours,
    where no reference names one) is left out for all. One that has no score for some of them, or whose score is missing
    by chance, as where a judge is asked, leaves these without a reward: without it they would only seem worse than the
    others.
    """
    total, is_scored = np.zeros(number), np.zeros(number, dtype=bool)
    rows = [np.array(group, dtype=np.intp) for group in groups]
    for metrics, scores in terms:
        missing = np.isnan(scores)
        is_scored |= ~missing
        is_by_chance = any("judge" in metric.needs for metric in metrics)
        counted = scores.copy()
        for group in [] if is_by_chance else rows:
            if missing[group].all():
                counted[group] = 0.0
        total += counted
    return np.where(is_scored, total, np.nan)


def ready_needs(metric: Metric, references: Captions | None, tokenizer: Tokenizer, needs: Needs) -> Needs:
    """The needs of a metric, with document frequencies of all references if none are given.

    Raises:
        UsageError: something that the metric needs is not given.
    """
    reason = metric.status(needs).hindrance
    if reason is not None:
        raise UsageError(f"{metric.key}: {reason}")
    weighted = [part for part in metric.parts if part.uses_document_frequency]
    if not weighted or "document_frequency" in needs:
        return needs
    if references is None:
        raise UsageError(
            f"{metric.key} weights words by how many images have them, and the references of a batch are few; give "
            "those of the whole training split, or document frequencies (document_frequency=…); of metrics of caption "
            "sets lsa and vendi(kernel=words) weight no words"
        )
    if references.image_count < 2:
        raise UsageError(
            f"{metric.key} weights words by how many images have them, and these are the references of one image; give "
            "those of the whole training split, or document frequencies (document_frequency=…)"
        )
    return needs.with_({"document_frequency": frequencies_for([metric], references, tokenizer=tokenizer)})
