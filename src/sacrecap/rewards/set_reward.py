"""Diversity as a reward: the captions of a group, sampled for one image, are rewarded together.

    SetReward(references, "cider-d + 2*self-cider")

A caption's share of a metric of sets is the set's loss without it, D(S) − D(S without the caption): the
leave-one-out contribution. So a caption that repeats another one gets little or a negative reward, and a unique one
gets most. Mixtures of accuracy and diversity move a captioner over the plane of both: Wang, Chan, *Describing like
humans: on diversity in image captioning* (CVPR 2019), section 5.3. GRPO samples groups anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import CaptionSource, as_references
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import UsageError, some
from sacrecap.resources.needs import Given, Needs
from sacrecap.rewards.caption_reward import TOKENISED, CaptionReward, ready_needs, row_scores
from sacrecap.rewards.completions import CompletionBatch
from sacrecap.rewards.metric_reward import MetricReward

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap.metrics import Metric

LEAST = 3
"""Least captions per image: without one of them, two are left, the smallest set with a diversity."""


class SetReward(MetricReward):
    """Rates the captions of a group together: shares diversity among them, and adds accuracy if it is in the mixture.

    All captions of an image in a call are its group, in any order. Groups must have at least three captions, so a batch
    of one process must hold whole groups (with TRL: `per_device_train_batch_size` a multiple of `num_generations`).

    Args:
        references: the captions of all training images, as for [`CaptionReward`][sacrecap.rewards.CaptionReward]: words
            are weighted by them.
        reward: a metric of caption sets, or a mixture of such metrics and of metrics of captions:
            `cider-d + 2*self-cider`. `mbleu-4`, for which lower is better, counts negatively.
        tokenizer: of captions and references.
        image_column: the column of the trainer's data set that names the image of each completion.
        threads: number of threads; 0 means one per core.
        needs: what the metrics need in addition to captions.
        **given: the same by keyword.

    Raises:
        DataError: unusable references.
        UsageError: no metric of caption sets among those named, or a metric whose needs are not given.
    """

    def __init__(
        self,
        references: CaptionSource,
        reward: str | Metric | Mapping[str, float] = "self-cider",
        *,
        tokenizer: Tokenizer = "ptb",
        image_column: str = "image_id",
        threads: int = 1,
        needs: Needs | Mapping[str, object] | None = None,
        **given: Unpack[Given],
    ) -> None:
        super().__init__(reward, tokenizer, image_column, threads)
        self._of_sets = [term for term in self.terms if term.metric.scores_sets]
        of_captions = {term.metric.key: term.weight for term in self.terms if not term.metric.scores_sets}
        if not self._of_sets:
            raise UsageError(
                f"{', '.join(of_captions)} scores single captions; use sacrecap.rewards.CaptionReward, or add a metric "
                "of caption sets, such as self-cider"
            )
        merged = Needs.of(needs, given, threads=threads)
        captions = as_references(references)
        self._needs = [ready_needs(term.metric, captions, tokenizer, merged) for term in self._of_sets]
        self._captions = None
        if of_captions:
            self._captions = CaptionReward(captions, of_captions, tokenizer=tokenizer, threads=threads, needs=merged)

    def rewards(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        """(N,) rewards of the captions of a batch; `UsageError` for a group of one or two."""
        rewards = np.zeros(len(batch.images))
        if self._captions is not None:
            rewards += self._captions.rewards(batch)
        if batch.images:
            rewards += self._shares(batch)
        return rewards

    def _shares(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        """(N,) weighted leave-one-out contributions."""
        groups = batch.by_image()
        small = [image for image, rows in groups.items() if len(rows) < LEAST]
        if small:
            raise UsageError(
                f"a group has at least {LEAST} captions, and {some(small)} {'have' if len(small) > 1 else 'has'} fewer "
                "in this batch; sample more captions per image, or make the batch of a process hold whole groups"
            )
        sets: dict[str, list[str]] = {}
        for number, rows in enumerate(groups.values()):
            sets[f"{number:08} whole"] = [batch.text(row) for row in rows]
            for left in rows:
                sets[f"{number:08} without {left:08}"] = [batch.text(row) for row in rows if row != left]
        [corpus] = encode_sets({"sets": sets}, tokenizer=TOKENISED, threads=self.threads).values()
        corpus.tokenizer = self.tokenizer  # it has cut these captions before
        shares = np.zeros(len(batch.images))
        for term, needs in zip(self._of_sets, self._needs, strict=True):
            of = dict(zip(corpus.image_ids, row_scores(corpus, term.metric, needs).tolist(), strict=True))
            for number, rows in enumerate(groups.values()):
                for row in rows:
                    lost = of[f"{number:08} whole"] - of[f"{number:08} without {row:08}"]
                    shares[row] += term.weight * term.sign * lost
        return shares
