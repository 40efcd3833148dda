"""What rewards of captions have in common: a mixture of metrics and penalties, how trainers call it, and its guards.

A mixture is written in the notation of `sacrecap.metrics.weighted_sum`, `cider-d + 2*self-cider - 0.05*words`; a minus
sign between blanks subtracts a term.

Guards are figures that show when a policy games its reward instead of describing images, beside the band of people's
captions. A policy that is rewarded by CIDEr-D alone ends with a few captions for all images: Wang, Chan, *Describing
like humans: on diversity in image captioning* (CVPR 2019). Each of these captions is well formed, so that only figures
of several images show it: `distinct`, `vocabulary` and `between`.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from sacrecap.choices import TOKENIZERS, Tokenizer
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import UsageError, accepted_name, naming, warn
from sacrecap.metrics import Metric, SelfCider
from sacrecap.metrics.cider import frequencies_for
from sacrecap.metrics.registry import parse_metrics
from sacrecap.metrics.weighted_sum import Weight, check_distinct, read_term, terms, write_term
from sacrecap.parameters import split
from sacrecap.resources.needs import Given, Needs
from sacrecap.rewards.completions import LOG_METRIC, Completion, CompletionBatch, CompletionReader, Text, ways_of
from sacrecap.scoring.score import count

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap._core import Captions
    from sacrecap.corpus.corpus import CaptionSource, Corpus


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


RECENT = 256
"""Captions whose means are compared with people's."""
IMAGES = 64
"""Images, the last ones, whose captions are compared with each other."""
SHARE = 0.1
"""How much above people's a share may be: repetition, empty, bad endings, unfinished."""
PART = 0.5
"""The least part of people's variety: distinct, vocabulary, within, between."""
OPEN = frozenset(
    "a an the this that these those his her its their my your our some another each every no and or but while as with "
    "of in on at by for from to into onto over under near through along across behind between against off up next is "
    "are was were has have who which whose".split()
)
"""Words with which no English caption ends."""


@dataclass(frozen=True)
class Guards:
    """Figures of a call, and of the captions of the last 64 images; NaN where there is nothing to measure."""

    words: float
    """Mean number of words per caption."""
    repetition: float
    """Mean share of a caption's pairs of words that occurred in it before, 0 to 1."""
    empty: float
    """Share of captions without a word, 0 to 1; a completion that is None is one."""
    bad_endings: float = 0.0
    """Share of captions whose last word is an article, a preposition or the like, in English, 0 to 1."""
    unfinished: float = float("nan")
    """Share of completions that were cut before their end; NaN where the trainer does not say."""
    distinct: float = float("nan")
    """Share of different captions among one of each of the last 64 images, 0 to 1."""
    vocabulary: float = float("nan")
    """Number of different words in these."""
    between: float = float("nan")
    """Self-CIDEr of these, 0 to 1: how unlike captions of different images are."""
    within: float = float("nan")
    """Mean Self-CIDEr of the groups of the call, 0 to 1; NaN where groups are not told."""
    unscored: float = float("nan")
    """Share of captions without a reward, as where a judge refused, 0 to 1."""

    def log(self, write: Callable[[str, float], object]) -> None:
        """Logs each figure that is known, as `sacrecap/words`, `sacrecap/between` and so on."""
        for name, value in asdict(self).items():
            if not math.isnan(value):
                write(f"sacrecap/{name}", value)


class _Caption(NamedTuple):
    """Figures of one caption."""

    words: float
    repetition: float
    empty: float
    bad_endings: float
    unfinished: float

    @classmethod
    def of(cls, tokens: Sequence[str], finished: bool | None) -> _Caption:
        bad = bool(tokens) and tokens[-1] in OPEN
        cut = float("nan") if finished is None else float(not finished)
        return cls(len(tokens), repetition(tokens), not tokens, bad, cut)


class Watch:
    """Looks at the captions of each call, and warns once of each figure that leaves the band of the references.

    Args:
        references: people's captions by image, tokenised and joined by blanks; none are no band.
        tokenizer: that cut them, and cuts the completions.
        needs: with the document frequencies of Self-CIDEr; None: it is not measured.
    """

    def __init__(self, references: Mapping[str, Sequence[str]], tokenizer: Tokenizer, needs: Needs | None) -> None:
        self._tokenizer = tokenizer
        self._needs = needs
        self._recent: deque[_Caption] = deque(maxlen=RECENT)
        self._by_image: deque[tuple[str, ...]] = deque(maxlen=min(IMAGES, len(references) or IMAGES))
        self._warned_of: set[str] = set()
        self._bands = self._measured(references) if len(references) >= IMAGES else {}

    def look(self, batch: CompletionBatch, groups: Sequence[Sequence[int]] | None) -> Guards:
        """The figures of a call."""
        finished: Sequence[bool | None] = batch.finished or [None] * len(batch.tokens)
        new = [_Caption.of(words, over) for words, over in zip(batch.tokens, finished, strict=True)]
        self._recent.extend(new)
        self._by_image.extend(tuple(batch.tokens[rows[0]]) for rows in batch.by_image().values())
        within = [[batch.tokens[row] for row in rows] for rows in groups or ()]
        several = {**_variety(self._by_image), **self._self_cider(self._by_image, within)}
        if self._bands and len(self._recent) == RECENT and len(self._by_image) == IMAGES:
            self._warn_of({**_means(self._recent), **several})
        return Guards(**_means(new), **several)

    def _self_cider(
        self, between: Iterable[Sequence[str]], within: Sequence[Sequence[Sequence[str]]]
    ) -> dict[str, float]:
        """Self-CIDEr of a caption per image, and its mean over groups."""
        named = {"between": list(between), **{f"group {number:06}": group for number, group in enumerate(within)}}
        sets = {name: group for name, group in named.items() if len(group) > 1}
        if self._needs is None or not sets:
            return {}
        texts = {name: [" ".join(words) for words in group] for name, group in sets.items()}
        [corpus] = encode_sets({"sets": texts}, tokenizer="none", threads=self._needs.threads).values()
        corpus.tokenizer = self._tokenizer  # it has cut these captions before
        scores = dict(zip(corpus.image_ids, row_scores(corpus, SelfCider(), self._needs).tolist(), strict=True))
        first = scores.pop("between", float("nan"))
        defined = [score for score in scores.values() if not math.isnan(score)]
        return {"between": first, "within": float(np.mean(defined)) if defined else float("nan")}

    def _measured(self, references: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, float, float]]:
        """What each figure is among people's captions, and from where to where it may be.

        An image's captions are its group, and any of them stands for it.
        """
        groups = [[text.split() for text in group] for group in references.values()]
        lengths = [len(words) for group in groups for words in group]
        means = _means(_Caption.of(words, True) for group in groups for words in group)
        draws = random.Random(0)
        samples = []
        for _ in range(5):
            drawn = draws.sample(groups, IMAGES)
            across = [draws.choice(group) for group in drawn]
            within = [group for group in drawn if len(group) > 1]
            samples.append({**_variety(across), **self._self_cider(across, within)})
        low, high = np.quantile(lengths, [0.05, 0.95]).tolist()
        bands = {name: (people, 0.0, people + SHARE) for name, people in means.items()}
        bands["words"] = means["words"], low, high
        for name in samples[0]:
            people = float(np.mean([sample[name] for sample in samples]))
            bands[name] = people, PART * people, float("inf")
        return bands

    def _warn_of(self, figures: Mapping[str, float]) -> None:
        """Says which figures have left their bands and have not been named before."""
        left = []
        for name, value in figures.items():
            people, least, most = self._bands[name]
            if name not in self._warned_of and (value < least or value > most):
                self._warned_of.add(name)
                left.append(f"{name} is {value:.3g}, people's {people:.3g}")
        if left:
            warn(
                f"the policy leaves what people write: {'; '.join(left)}. Look at its captions: it may be gaming the "
                "reward"
            )


def _means(captions: Iterable[_Caption]) -> dict[str, float]:
    """The mean of each figure by name; 0 without captions."""
    columns = list(zip(*captions, strict=True)) or [(0.0,)] * len(_Caption._fields)
    return {name: float(np.mean(column)) for name, column in zip(_Caption._fields, columns, strict=True)}


def _variety(captions: Iterable[Sequence[str]]) -> dict[str, float]:
    """How many of these captions of different images differ, and how many words they have."""
    across = [tuple(words) for words in captions]
    if not across:
        return {}
    return {
        "distinct": len(set(across)) / len(across),
        "vocabulary": float(len({w for words in across for w in words})),
    }


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
