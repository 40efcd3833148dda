"""What rewards of captions have in common: a mixture of metrics and penalties, and how trainers call it.

A mixture is written in the notation of `sacrecap.metrics.weighted_sum`, `cider-d + 2*self-cider - 0.05*words`; a minus
sign between blanks subtracts a term.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from sacrecap.choices import TOKENIZERS, Tokenizer
from sacrecap.errors import UsageError, accepted_name, naming, warn
from sacrecap.metrics import Metric, SelfCider
from sacrecap.metrics.cider import frequencies_for
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.weighted_sum import Weight, check_distinct, read_term, terms, write_term
from sacrecap.parameters import split
from sacrecap.resources.needs import Given, Needs
from sacrecap.rewards.completions import LOG_METRIC, Completion, CompletionBatch, CompletionReader, Text, ways_of
from sacrecap.rewards.guards import Guards, Watch, repetition

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap._core import Captions
    from sacrecap.corpus.corpus import CaptionSource


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


_SEVERAL = 2
"""Captions without a reward of which the user is told."""


class MetricReward(ABC):
    """Rewards of captions by a mixture of metrics and penalties: higher is better."""

    usual: ClassVar[str]
    """The reward where none is named."""
    _watch: Watch

    def __init__(
        self,
        references: CaptionSource | None,
        reward: str | Metric | Mapping[str, float] | None = None,
        *,
        tokenizer: Tokenizer = "ptb",
        image_column: str = "image_id",
        threads: int = 1,
        needs: Needs | Mapping[str, object] | None = None,
        reference_column: str | None = None,
        text: Text | None = None,
        end: bool | None = None,
        ends: int | Collection[int] | None = None,
        num_generations: int | None = None,
        missing: float | None = None,
        **keywords: Unpack[Given],
    ) -> None:
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        self._mixture = mixture_of(self.usual if reward is None else reward)
        self.tokenizer = tokenizer
        self.threads = threads
        self.num_generations = num_generations
        self.missing = missing
        self._unrewarded = 0
        """Captions in a row that had no reward; −1 once it was told of."""
        ids = () if ends is None else (ends,) if isinstance(ends, int) else tuple(ends)
        self._reading = CompletionReader(tokenizer, threads, image_column, reference_column, ways_of(text), ids)
        self.last: Guards | None = None
        """Figures of the last call: see [`Guards`][sacrecap.rewards.Guards]."""
        self._prepare(references, Needs.of(needs, keywords, threads=threads), end)

    @abstractmethod
    def _prepare(self, references: CaptionSource | None, needs: Needs, end: bool | None) -> None:
        """Takes the references, and makes the scorers; `end` as for `CaptionReward`."""

    def _watched(self, references: Mapping[str, Sequence[str]], captions: Captions | None, needs: Needs) -> Watch:
        """What looks at the completions, with the document frequencies of the references if there are some."""
        weighs = "document_frequency" in needs or (captions is not None and captions.image_count > 1)
        ready = ready_needs(SelfCider(), captions, self.tokenizer, needs) if weighs else None
        return Watch(references, self.tokenizer, ready)

    @abstractmethod
    def rewards(self, batch: CompletionBatch, groups: Sequence[Sequence[int]] | None = None) -> npt.NDArray[np.float64]:
        """(N,) rewards of the captions of a batch by metrics, where groups are rewarded with the rows of each group."""

    @abstractmethod
    def _groups(self, batch: CompletionBatch, columns: Mapping[str, object]) -> list[list[int]] | None:
        """The rows of each group of a batch, where they are told."""

    @property
    def __name__(self) -> str:
        """The name for trainers' logs, an identifier: `sacrecap_cider_d_rouge_l`."""
        terms, penalties = self._mixture
        joined = "_".join([*(term.metric.key for term in terms), *penalties])
        return "sacrecap_" + "".join(sign if sign.isalnum() else "_" for sign in joined).strip("_")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._mixture)!r})"

    def __call__(
        self, completions: Iterable[Completion], image_ids: Iterable[object] | None = None, **columns: object
    ) -> list[float | None]:
        """Rewards of captions.

        Args:
            completions: captions, or lists of chat messages whose last one is the caption; None counts as an empty one.
            image_ids: the image id of each completion; by default the column that `image_column` names.
            **columns: what a trainer passes. `finished` (of each completion whether it came to its end), `is_truncated`
                (the contrary, of ms-swift) or `completion_ids` (with `ends`; of TRL) say which completions are whole;
                without them all are. TRL's `log_metric` gets the figures of `last`.

        Returns:
            One number per caption, in the metrics' own ranges times their weights; `missing` for a caption without a
            reward: no metric has a score for it, or a judge did not answer, or a metric has scores for others of its
            image. A metric that scores no caption of an image is left out for all of them.

        Raises:
            DataError: an image without references, a completion without text, unequal numbers of completions and
                ids; or, if groups are rewarded, a batch without whole groups.
            UsageError: no image ids; or groups are rewarded, and nobody says how large they are.
        """
        batch = self._reading.batch(completions, image_ids, columns)
        groups = self._groups(batch, columns)
        penalties = np.zeros(len(batch.tokens))
        finished = batch.finished or [True] * len(batch.tokens)
        for name, weight in self._mixture.penalties.items():
            rows = zip(batch.tokens, finished, strict=True)
            penalties += weight * np.array([PENALTIES[name](words, over) for words, over in rows], dtype=np.float64)
        rewards = self.rewards(batch, groups) + penalties
        missing = np.isnan(rewards)
        self.last = replace(
            self._watch.look(batch, groups), unscored=float(missing.mean()) if len(missing) else math.nan
        )
        self._tell_of_missing(missing)
        write = columns.get(LOG_METRIC)
        if callable(write):
            self.last.log(write)
        return [self.missing if math.isnan(reward) else reward for reward in rewards.tolist()]

    def _tell_of_missing(self, missing: npt.NDArray[np.bool_]) -> None:
        """Warns, once, where no caption has a reward: of a batch, or of several that came alone."""
        if self._unrewarded < 0 or not len(missing):
            return
        self._unrewarded = self._unrewarded + len(missing) if missing.all() else 0
        if self._unrewarded >= _SEVERAL:
            warn(
                f"none of the last {self._unrewarded:,} captions has a reward by {self._mixture}: what rates them does "
                "not answer, refuses, or its answers cannot be read. Nothing is learned so; look at what it says"
            )
            self._unrewarded = -1
