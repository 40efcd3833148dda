"""The base of all rewards of captions: called like trainers do, with a name for their logs, and figures of a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sacrecap.choices import TOKENIZERS, Tokenizer
from sacrecap.errors import accepted_name
from sacrecap.rewards.completions import LOG_METRIC, Completion, CompletionBatch, Guards, batch_of
from sacrecap.rewards.terms import terms_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.metrics import Metric


class MetricReward(ABC):
    """Rewards of captions by a mixture of metrics: higher is better."""

    def __init__(
        self, reward: str | Metric | Mapping[str, float], tokenizer: Tokenizer, image_column: str, threads: int
    ) -> None:
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        self.terms = terms_of(reward)
        self.tokenizer = tokenizer
        self.image_column = image_column
        self.threads = threads
        self.last: Guards | None = None
        """Figures of the last batch: its words, repetition and empty captions."""

    @abstractmethod
    def rewards(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        """(N,) rewards of the captions of a batch."""

    @property
    def __name__(self) -> str:
        """The name for trainers' logs, an identifier: `sacrecap_cider_d_rouge_l`."""
        joined = "_".join(term.metric.key for term in self.terms)
        return "sacrecap_" + "".join(sign if sign.isalnum() else "_" for sign in joined).strip("_")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' + '.join(map(str, self.terms))!r})"

    def __call__(
        self, completions: Sequence[Completion], image_ids: Sequence[object] | None = None, **columns: object
    ) -> list[float]:
        """Rewards of captions.

        Args:
            completions: captions, or lists of chat messages whose last one is the caption.
            image_ids: the image id of each completion; by default the column that `image_column` names.
            **columns: other arguments that a trainer passes; TRL's `log_metric` gets the figures of `last`.

        Returns:
            One number per caption, in the metrics' own ranges times their weights; 0 for a metric that does not score
            it.

        Raises:
            DataError: an image without references, a completion without text, or unequal numbers of completions and
                ids.
            UsageError: no image ids; or, if groups are rewarded, a group of fewer than three captions.
        """
        batch = batch_of(completions, image_ids, columns, self.image_column, self.tokenizer, self.threads)
        self.last = Guards.of(batch.tokens)
        write = columns.get(LOG_METRIC)
        if callable(write):
            self.last.log(write)
        return list(map(float, self.rewards(batch)))
