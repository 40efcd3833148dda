"""The base of all rewards of captions: called like trainers do, with a name for their logs, and figures of a batch."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sacrecap.choices import TOKENIZERS, Tokenizer
from sacrecap.errors import accepted_name, warn
from sacrecap.metrics import SelfCider
from sacrecap.resources.needs import Given, Needs
from sacrecap.rewards.completions import LOG_METRIC, Completion, CompletionBatch, CompletionReader, Text, ways_of
from sacrecap.rewards.guards import Guards, Watch
from sacrecap.rewards.terms import PENALTIES, mixture_of, ready_needs

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap._core import Captions
    from sacrecap.corpus.corpus import CaptionSource
    from sacrecap.metrics import Metric


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
