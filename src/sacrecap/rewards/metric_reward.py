"""What rewards of captions have in common: a mixture of metrics and penalties, and how trainers call it.

A mixture is written in the notation of `sacrecap.metrics.weighted_sum`, `cider-d + 2*self-cider - 0.05*words`; a minus
sign between blanks subtracts a term.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from sacrecap._core import Captions
from sacrecap.choices import TOKENIZERS, Tokenizer
from sacrecap.corpus.corpus import CaptionSource, as_references, tokenize
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import DataError, UsageError, accepted_name, naming, some, warn
from sacrecap.metrics import CiderD, Metric, SelfCider
from sacrecap.metrics.cider import frequencies_for
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.weighted_sum import Weight, check_distinct, read_term, terms, write_term
from sacrecap.parameters import split
from sacrecap.resources.needs import Given, Needs
from sacrecap.rewards.completions import END, LOG_METRIC, Completion, CompletionBatch, CompletionReader, Text, ways_of
from sacrecap.rewards.guards import Guards, Watch, repetition, row_scores
from sacrecap.rewards.host import CiderDOfWords

if TYPE_CHECKING:
    from typing_extensions import Unpack

TOKENISED: Final = "none"
"""The tokenizer for captions that are tokenised already."""
WITH_END = frozenset({"bleu", "cider-d", "cider-paper"})
"""Families of metrics in which the end of a caption counts as a word."""
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
    """The metrics and penalties of a reward with their weights: of a metric, its name, `{name: weight}`, or a weighted
    sum.

    Raises `UsageError` for text of another form, an unknown metric, one that is named twice, a group of several, no
    metric at all, or a weight that is not a number other than 0.
    """
    if isinstance(reward, Metric):
        return RewardTerms((Term(reward, 1.0),), {})
    where = f"reward {reward!r}"
    weights: Iterable[tuple[str, Weight | float]]
    if isinstance(reward, Mapping):
        weights = reward.items()
    else:
        expressions = []
        for added in terms(reward):
            first, *subtracted = (part.strip() for part in split(added, lambda piece, _: piece == "-"))
            expressions += [first] if first or not subtracted else []
            expressions += [f"-{part}" if "*" in part.partition("(")[0] else f"-1*{part}" for part in subtracted]
        weights = [read_term(expression, where) for expression in expressions]
    numbers: list[tuple[str, float]] = []
    for name, weight in weights:
        number: object = weight.end if isinstance(weight, Weight) and weight.start == weight.end else weight
        if not isinstance(number, (int, float)) or isinstance(number, bool) or number == 0 or not math.isfinite(number):
            raise UsageError(f"{where}: a weight is a number other than 0, got {weight}")
        numbers.append((name, float(number)))
    penalties = {name: number for name, number in numbers if name in PENALTIES}
    weighted: list[Term] = []
    for name, number in numbers:
        if name not in PENALTIES:
            with naming(f"{where}: "):
                metrics = parse_metrics(name)
            if len(metrics) > 1:
                raise UsageError(f"{where}: {name} is a group of {len(metrics)} metrics; name each with its weight")
            weighted.append(Term(metrics[0], number))
    check_distinct([term.metric.key for term in weighted] + [name for name, _ in numbers if name in PENALTIES], where)
    if not weighted:
        raise UsageError("no reward given; examples: cider-d, cider-d + 0.5*rouge-l, cider-d - 0.1*words")
    return RewardTerms(tuple(weighted), penalties)


WeightedScores = tuple[bool, npt.NDArray[np.float64]]
"""What a term gives each caption, times its weight, and whether scores of it are missing by chance."""


def summed(terms: Iterable[WeightedScores], groups: Iterable[Sequence[int]], number: int) -> npt.NDArray[np.float64]:
    """The rewards of captions, from the terms of a mixture; NaN where there is none.

    The captions of a group are compared with each other. A term that has a score for none of them (SPICE of colours,
    where no reference names one) is left out for all. One that has no score for some of them, or whose score is missing
    by chance, as where a judge is asked, leaves these without a reward: without it they would only seem worse than the
    others.
    """
    total, is_scored = np.zeros(number), np.zeros(number, dtype=bool)
    rows = [np.array(group, dtype=np.intp) for group in groups]
    for is_by_chance, scores in terms:
        missing = np.isnan(scores)
        is_scored |= ~missing
        counted = scores.copy()
        for group in [] if is_by_chance else rows:
            if missing[group].all():
                counted[group] = 0.0
        total += counted
    return np.where(is_scored, total, np.nan)


def ready_needs(metric: Metric, references: Captions | None, tokenizer: Tokenizer, needs: Needs) -> Needs:
    """The needs of a metric, with document frequencies of all references if none are given.

    Raises `UsageError` for something that the metric needs and is not given.
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


def check_untrained(metric: Metric) -> None:
    """Raises `UsageError` for a metric of captions that a batch cannot score."""
    if any(part.trained_on_references for part in metric.parts):
        raise UsageError(
            f"{metric.key} learns from the references of all images, and a batch has few; name another metric"
        )


def counts_ends(metric: Metric, end: bool | None, needs: Needs) -> bool:
    """Whether the end of a caption is a word of this metric.

    Raises `UsageError` if it should be one, and the document frequencies that are given count none.
    """
    if end is False or metric.family not in WITH_END:
        return False
    has_frequencies = "document_frequency" in needs and any(part.uses_document_frequency for part in metric.parts)
    if has_frequencies and end:
        raise UsageError(
            f"{metric.key}: the document frequencies that are given count no ends of captions, so that an end would "
            "get the largest weight; leave out one of document_frequency and end=True"
        )
    return not has_frequencies


def tokenised(by_image: Mapping[str, Sequence[str]], tokenizer: Tokenizer) -> dict[str, list[str]]:
    """The references by image id, each as its tokens joined by blanks."""
    tokens = iter(tokenize([caption for group in by_image.values() for caption in group], tokenizer=tokenizer))
    return {image: [" ".join(next(tokens)) for _ in group] for image, group in by_image.items()}


def with_end(references: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The references with a last word `END`."""
    return {image: [f"{text} {END}" for text in group] for image, group in references.items()}


@dataclass(eq=False)
class _Scorer:
    """Scores captions by any metric: those of an image are a set, so that its references are encoded once. Without a
    `source`, the references are those of the batch.
    """

    metric: Metric
    references: Mapping[str, list[str]]
    source: Captions | None
    tokenizer: Tokenizer
    needs: Needs
    ends: bool

    def __call__(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        groups = batch.by_image()
        sets = {image: [batch.text(row) for row in rows] for image, rows in groups.items()}
        source, texts = self.source, self.references
        if source is None:
            source, words = Captions.from_dict(batch.references), tokenised(batch.references, batch.tokenizer)
            texts = with_end(words) if self.ends else words
        references = {image: texts[image] for image in groups}
        threads = self.needs.threads
        [corpus] = encode_sets({"batch": sets}, references, tokenizer=TOKENISED, threads=threads).values()
        # The captions were cut before; metrics that read the text itself get the original text.
        corpus.tokenizer = self.tokenizer
        spoken = {image: [batch.caption(row) for row in rows] for image, rows in groups.items()}
        corpus.candidate_captions, corpus.reference_captions = Captions.from_dict(spoken), source
        scores = np.zeros(len(batch.images))
        order = [row for image in corpus.image_ids for row in groups[image]]
        scores[order] = row_scores(corpus, self.metric, self.needs)
        return scores


class MetricReward(ABC):
    """Rewards of captions by a mixture of metrics and penalties: higher is better."""

    usual: ClassVar[str]
    """The reward where none is named."""

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

    def _prepare(self, references: CaptionSource | None, needs: Needs, end: bool | None) -> None:
        """Takes the references, and makes the scorers; `end` as for `CaptionReward`."""
        self._check()
        tokenizer, reference_column = self.tokenizer, self._reading.reference_column
        of_sets = [term for term in self._mixture.terms if term.metric.scores_sets]
        of_captions = [term for term in self._mixture.terms if not term.metric.scores_sets]
        self._is_alone = references is None and reference_column is None and not of_captions
        """Whether completions need neither references nor image ids."""
        captions = None
        if not self._is_alone:
            if (references is None) == (reference_column is None):
                raise UsageError(
                    "a reward has references, or a column of the data set that holds them: give one of the two"
                )
            captions = None if references is None else as_references(references)
            if captions is not None and 0 in captions.caption_counts():
                captions = Captions.from_dict({image: texts for image, texts in captions.to_dict().items() if texts})
        words = {} if captions is None else tokenised(captions.to_dict(), tokenizer)
        self._images = None if captions is None else dict.fromkeys(words)
        self._of_sets = [(term, ready_needs(term.metric, captions, tokenizer, needs)) for term in of_sets]
        for term in of_captions:
            check_untrained(term.metric)
        self._of_captions: list[tuple[Term, bool, CiderDOfWords | _Scorer]] = []
        """Terms of single captions, whether ends count in each, and its scorer."""
        has_frequencies = "document_frequency" in needs
        counts = captions is not None and captions.image_count > 1 and not has_frequencies
        for term in of_captions:
            metric, with_ends = term.metric, counts_ends(term.metric, end, needs)
            texts = with_end(words) if with_ends else words
            if isinstance(metric, CiderD) and counts:
                self._of_captions.append((term, with_ends, CiderDOfWords(texts, metric, self.threads)))
                continue
            source, cut_by = captions, tokenizer
            if with_ends:  # what knows ends reads words alone
                source, cut_by = Captions.from_dict(texts) if counts else captions, TOKENISED
            ready = ready_needs(metric, source, cut_by, needs)
            self._of_captions.append((term, with_ends, _Scorer(metric, texts, source, cut_by, ready, with_ends)))
        is_weighed = counts or has_frequencies
        to_watch = ready_needs(SelfCider(), captions, tokenizer, needs) if is_weighed else None
        self._watch = Watch(words, tokenizer, to_watch)

    @abstractmethod
    def _check(self) -> None:
        """Raises `UsageError` for a mixture, or a size of groups, that is for another reward."""

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
        if self._unrewarded >= 0 and len(missing):
            self._unrewarded = self._unrewarded + len(missing) if missing.all() else 0
        if self._unrewarded > 1:  # of a batch, or of several that came alone
            warn(
                f"none of the last {self._unrewarded:,} captions has a reward by {self._mixture}: what rates them does "
                "not answer, refuses, or its answers cannot be read. Nothing is learned so; look at what it says"
            )
            self._unrewarded = -1
        write = columns.get(LOG_METRIC)
        if callable(write):
            self.last.log(write)
        return [self.missing if math.isnan(reward) else reward for reward in rewards.tolist()]

    def rewards(self, batch: CompletionBatch, groups: Sequence[Sequence[int]] | None = None) -> npt.NDArray[np.float64]:
        """(N,) rewards of the captions of a batch by metrics; `groups` are the rows of each group."""
        number, images = len(batch.images), self._images
        absent = [] if images is None else [image for image in dict.fromkeys(batch.images) if image not in images]
        if images is not None and absent and self._of_captions:
            raise DataError(
                f"no references for {some(absent)}: captions are of images of the training split, which has "
                f"{len(images):,} images, such as {next(iter(images), 'none')!r}"
            )
        of_captions = [
            ("judge" in term.metric.needs, term.weight * term.sign * scorer(batch.with_ends() if ends else batch))
            for term, ends, scorer in (self._of_captions if number else ())
        ]
        by_captions = summed(of_captions, batch.by_image().values(), number)
        if not self._of_sets:
            return by_captions
        weighted = list(self._shares(batch, groups)) if groups else []
        if of_captions:
            weighted.append((any("judge" in term.metric.needs for term in self._mixture.terms), by_captions))
        return summed(weighted, groups or batch.by_image().values(), number)

    def _shares(self, batch: CompletionBatch, groups: Sequence[Sequence[int]]) -> Iterator[WeightedScores]:
        """(N,) weighted shares by each metric of caption sets, as `summed` takes them."""
        sets: dict[str, list[str]] = {}
        for number, rows in enumerate(groups):
            sets[f"{number:08} whole"] = [batch.text(row) for row in rows]
            for left in rows:
                sets[f"{number:08} without {left:08}"] = [batch.text(row) for row in rows if row != left]
        [corpus] = encode_sets({"sets": sets}, tokenizer=TOKENISED, threads=self.threads).values()
        corpus.tokenizer = self.tokenizer  # it has cut these captions before
        for term, needs in self._of_sets:
            of = dict(zip(corpus.image_ids, row_scores(corpus, term.metric, needs).tolist(), strict=True))
            shares = np.zeros(len(batch.images))
            for number, rows in enumerate(groups):
                for row in rows:
                    lost = of[f"{number:08} whole"] - of[f"{number:08} without {row:08}"]
                    shares[row] = term.weight * term.sign * (len(rows) - 1) * lost
            yield "judge" in term.metric.needs, shares
