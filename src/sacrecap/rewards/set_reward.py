"""Diversity as a reward: the captions of a group, sampled for one image, are rewarded together.

    SetReward(references, "cider-d + 2*self-cider", num_generations=8)

With D(S) the diversity of a group S of k captions, each gets a share of it,

    share_i = (k − 1) · (D(S) − D(S without i)).

A caption that repeats another one gets little or a negative share, and a unique one gets most. What is ascended, when
each caption's advantage is its reward less the mean of the others' (RLOO, Kool et al. 2019), is E[D] of k − 1 captions,
with the weight that is written: D(S) is the same for all k, so that it cancels, and the factor k − 1 makes up for the
mean over the k captions. When the mean is over all k, as in GRPO, the whole gradient has the factor (k − 1)/k.
Mixtures of accuracy and diversity move a captioner over the plane of both: Wang, Chan, *Describing like humans: on
diversity in image captioning* (CVPR 2019), section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sacrecap.corpus.corpus import CaptionSource
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import UsageError, warn
from sacrecap.resources.needs import Needs
from sacrecap.rewards.caption_reward import TOKENISED, CaptionReward, references_of, tokenised
from sacrecap.rewards.completions import Completion, CompletionBatch, in_groups, told_group_size, trainer_of
from sacrecap.rewards.metric_reward import MetricReward
from sacrecap.rewards.terms import TermScores, ready_needs, row_scores, summed

if TYPE_CHECKING:
    import numpy.typing as npt


LEAST = 3
"""Least captions of a group: without one of them, two are left, the smallest set with a diversity."""


class SetReward(MetricReward):
    """Rates the captions of a group together: shares diversity among them, and adds accuracy if it is in the mixture.

    A group is `num_generations` consecutive captions of one image, three or more. A weight means the same for groups of
    every size: with it the gradient of E[D] is multiplied, D being the metric of one caption less than a group has.

    Args:
        references: the captions of all training images, as for [`CaptionReward`][sacrecap.rewards.CaptionReward]: words
            are weighted by them. None with `reference_column`, or where the reward is of caption sets alone and weights
            no words (`lsa`, `vendi(kernel=words)`): then it takes completions of any kind, and needs no image ids.
        reward: a metric of caption sets, or a mixture of such metrics with metrics of captions and penalties:
            `cider-d + 2*self-cider`; by default `self-cider`. `mbleu-4`, for which lower is better, counts negatively.
        tokenizer: of captions and references.
        image_column: the column of the trainer's data set that names the image of each completion.
        threads: number of threads; 0 means one per core.
        needs: what the metrics need in addition to captions.
        reference_column: as for `CaptionReward`.
        text: as for `CaptionReward`.
        end: as for `CaptionReward`, of the metrics of captions.
        ends: as for `CaptionReward`.
        num_generations: captions of a group. TRL's trainer tells it; other callers give it here.
        missing: as for `CaptionReward`.
        **keywords: needs by keyword.

    Raises:
        DataError: unusable references.
        UsageError: no metric of caption sets among those named, a metric whose needs are not given, or groups of one or
            two.
    """

    usual = "self-cider"

    def _prepare(self, references: CaptionSource | None, needs: Needs, end: bool | None) -> None:
        reference_column = self._reading.reference_column
        if self.num_generations is not None:
            _check_size(self.num_generations)
        self._of_sets = [term for term in self._mixture.terms if term.metric.scores_sets]
        of_captions = {term.metric.key: term.weight for term in self._mixture.terms if not term.metric.scores_sets}
        if not self._of_sets:
            raise UsageError(
                f"{', '.join(of_captions)} scores single captions; use sacrecap.rewards.CaptionReward, or add a metric "
                "of caption sets, such as self-cider"
            )
        self._alone = references is None and reference_column is None and not of_captions
        captions = None if self._alone else references_of(references, reference_column)
        self._needs = [ready_needs(term.metric, captions, self.tokenizer, needs) for term in self._of_sets]
        self._captions = None
        if of_captions:
            self._captions = CaptionReward(
                captions,
                of_captions,
                tokenizer=self.tokenizer,
                threads=self.threads,
                needs=needs,
                reference_column=reference_column,
                end=end,
            )
        words = {} if captions is None else tokenised(captions.to_dict(), self.tokenizer)
        self._watch = self._watched(words, captions, needs)
        self._warned = False

    def __call__(
        self, completions: Iterable[Completion], image_ids: Iterable[object] | None = None, **columns: object
    ) -> list[float | None]:
        texts = list(completions)
        if self._alone and image_ids is None and columns.get(self._reading.image_column) is None:
            image_ids = [f"group {row // self._size(columns)}" for row in range(len(texts))]
        return super().__call__(texts, image_ids, **columns)

    def rewards(self, batch: CompletionBatch, groups: Sequence[Sequence[int]] | None = None) -> npt.NDArray[np.float64]:
        """(N,) rewards of the captions of a batch by metrics; `groups` are the rows of each group."""
        terms = self._shares(batch, groups) if groups else []
        if self._captions is not None:
            metrics = [term.metric for term in self._mixture.terms]
            terms.append((metrics, self._captions.rewards(batch)))
        return summed(terms, groups or batch.by_image().values(), len(batch.images))

    def _groups(self, batch: CompletionBatch, columns: Mapping[str, object]) -> list[list[int]]:
        size = self._size(columns)
        settings = getattr(trainer_of(columns), "args", None)
        if getattr(settings, "scale_rewards", None) == "group" and not self._warned:
            self._warned = True
            warn(
                'scale_rewards="group", TRL\'s default, divides the rewards of each group by their deviation: the '
                "weights of the mixture do not mean what they say then, and diversity alone is ascended in another "
                'direction; set scale_rewards="none" in GRPOConfig'
            )
        return in_groups(batch, size)

    def _size(self, columns: Mapping[str, object]) -> int:
        """How many captions form a group."""
        size = self.num_generations or told_group_size(columns)
        if size is None:
            raise UsageError(
                "how many captions of an image form a group? Give num_generations=8 (or how many your trainer samples)"
            )
        _check_size(size)
        return size

    def _shares(self, batch: CompletionBatch, groups: Sequence[Sequence[int]]) -> list[TermScores]:
        """(N,) weighted shares of each metric."""
        sets: dict[str, list[str]] = {}
        for number, rows in enumerate(groups):
            sets[f"{number:08} whole"] = [batch.text(row) for row in rows]
            for left in rows:
                sets[f"{number:08} without {left:08}"] = [batch.text(row) for row in rows if row != left]
        [corpus] = encode_sets({"sets": sets}, tokenizer=TOKENISED, threads=self.threads).values()
        corpus.tokenizer = self.tokenizer  # it has cut these captions before
        credits: list[TermScores] = []
        for term, needs in zip(self._of_sets, self._needs, strict=True):
            of = dict(zip(corpus.image_ids, row_scores(corpus, term.metric, needs).tolist(), strict=True))
            shares = np.zeros(len(batch.images))
            for number, rows in enumerate(groups):
                for row in rows:
                    lost = of[f"{number:08} whole"] - of[f"{number:08} without {row:08}"]
                    shares[row] = term.weight * term.sign * (len(rows) - 1) * lost
            credits.append(([term.metric], shares))
        return credits


def _check_size(size: int) -> None:
    if size < LEAST:
        raise UsageError(
            f"a group has at least {LEAST} captions (num_generations), got {size}: without one of them, two are left, "
            "the smallest set with a diversity"
        )
