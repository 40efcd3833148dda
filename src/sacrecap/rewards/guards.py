"""Figures that show when a policy games its reward instead of describing images, beside the band of people's captions.

A policy that is rewarded by CIDEr-D alone ends with a few captions for all images: Wang, Chan, *Describing like humans:
on diversity in image captioning* (CVPR 2019). Each of these captions is well formed, so that only figures of several
images show it: `distinct`, `vocabulary` and `between`.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import warn
from sacrecap.metrics import Metric, SelfCider
from sacrecap.resources.needs import Needs
from sacrecap.rewards.completions import CompletionBatch
from sacrecap.scoring.score import count

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


def _figures(tokens: Sequence[str], finished: bool | None) -> dict[str, float]:
    """Figures of one caption, as `Guards` has their means."""
    return {
        "words": len(tokens),
        "repetition": repetition(tokens),
        "empty": not tokens,
        "bad_endings": bool(tokens) and tokens[-1] in OPEN,
        "unfinished": float("nan") if finished is None else not finished,
    }


class Watch:
    """Looks at the captions of each call, and warns once of each figure that leaves the band of people's captions:
    references by image, cut by the same tokenizer; none are no band. Self-CIDEr is measured where `needs` have document
    frequencies.
    """

    def __init__(self, references: Mapping[str, Sequence[str]], tokenizer: Tokenizer, needs: Needs | None) -> None:
        self._tokenizer = tokenizer
        self._needs = needs
        self._recent: deque[dict[str, float]] = deque(maxlen=RECENT)
        self._by_image: deque[tuple[str, ...]] = deque(maxlen=min(IMAGES, len(references) or IMAGES))
        self._warned_of: set[str] = set()
        self._bands = self._measured(references) if len(references) >= IMAGES else {}

    def look(self, batch: CompletionBatch, groups: Sequence[Sequence[int]] | None) -> Guards:
        """The figures of a call."""
        finished: Sequence[bool | None] = batch.finished or [None] * len(batch.tokens)
        new = [_figures(words, over) for words, over in zip(batch.tokens, finished, strict=True)]
        self._recent.extend(new)
        self._by_image.extend(tuple(batch.tokens[rows[0]]) for rows in batch.by_image().values())
        within = [[batch.tokens[row] for row in rows] for rows in groups or ()]
        several = {**_variety(self._by_image), **self._self_cider(self._by_image, within)}
        if self._bands and len(self._recent) == RECENT and len(self._by_image) == IMAGES:
            left = []
            for name, value in {**_means(self._recent), **several}.items():
                people, least, most = self._bands[name]
                if name not in self._warned_of and (value < least or value > most):
                    self._warned_of.add(name)
                    left.append(f"{name} is {value:.3g}, people's {people:.3g}")
            if left:
                warn(
                    f"the policy leaves what people write: {'; '.join(left)}. Look at its captions: it may be gaming "
                    "the reward"
                )
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
        """What each figure is among people's captions, and from where to where it may be. An image's captions are its
        group, and any of them stands for it.
        """
        groups = [[text.split() for text in group] for group in references.values()]
        lengths = [len(words) for group in groups for words in group]
        means = _means([_figures(words, True) for group in groups for words in group])
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


def _means(captions: Collection[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure by name; 0 without captions."""
    names = _figures((), None)
    return {name: float(np.mean([figures[name] for figures in captions])) if captions else 0.0 for name in names}


def _variety(captions: Iterable[Sequence[str]]) -> dict[str, float]:
    """How many of these captions of different images differ, and how many words they have."""
    across = [tuple(words) for words in captions]
    if not across:
        return {}
    return {
        "distinct": len(set(across)) / len(across),
        "vocabulary": float(len({w for words in across for w in words})),
    }


def row_scores(corpus: Corpus, metric: Metric, needs: Needs) -> npt.NDArray[np.float64]:
    """The score of each caption of the corpus, or of each set; NaN for one that has none."""
    [counted] = count(corpus, (metric,), needs)
    return np.frombuffer(counted.statistics.row_scores(), dtype="<f8")


def repetition(tokens: Sequence[str]) -> float:
    """The share of a caption's pairs of words that occurred in it before, 0 to 1."""
    pairs = len(tokens) - 1
    return 1 - len(set(pairwise(tokens))) / pairs if pairs > 0 else 0.0
