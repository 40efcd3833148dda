"""Metrics as rewards for training: captions of images in, one number per caption out.

    reward = CaptionReward({"dog.jpg": ["a dog runs", "a brown dog"], …}, "cider-d + 0.5*rouge-l")
    reward(["a dog", "a cat"], ["dog.jpg", "dog.jpg"])                       # [1.31, 0.02]: higher is better
    GRPOTrainer(…, reward_funcs=[reward])                                    # TRL: the data set has a column image_id

Such rewards were first used to train captioners by Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence
training for image captioning* (CVPR 2017).

Diversity is a reward, too: the captions of a group, sampled for one image, are rewarded together.

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

from collections.abc import Iterable, Mapping

from sacrecap.errors import DataError, UsageError, warn
from sacrecap.rewards.completions import Completion, CompletionBatch, in_groups, told_group_size, trainer_of
from sacrecap.rewards.metric_reward import MetricReward, check_untrained


class CaptionReward(MetricReward):
    """Rates captions of images by metrics, with the references of a training split: higher is better.

    References are tokenised once. Document frequencies are those of all references, not of the batch: k captions of a
    single image are weighted as in a corpus of all images. A metric for which lower is better counts negatively.

    The end of a caption counts as a word in BLEU, CIDEr-D and CIDEr, of references and of completions that came to
    their end: a caption that stops too early or is cut loses points, as with Rennie et al., who found captions that
    stop anywhere (`with a`) without it. So these rewards differ from the scores of `sacrecap.score`, which know no end.

    Args:
        references: the captions of all training images, `{image id: [caption, …]}` or a path, as for `sacrecap.score`;
            None with `reference_column`.
        reward: a metric, its name, `{name: weight}`, or a mixture such as `cider-d + 0.5*rouge-l - 0.05*words`; by
            default `cider-d`. Besides metrics there are `words` (their number), `repetition` (share of repeated pairs
            of words) and `unfinished` (1 for a completion that was cut).
        tokenizer: of captions and references: see [`sacrecap.tokenize`][].
        image_column: the keyword, a column of the trainer's data set, that names the image of each completion.
        threads: number of threads; 0 means one per core. One is fastest for batches of less than a few thousand.
        needs: what the metrics need in addition to captions, as for [`sacrecap.score`][], by image id of `references`.
        reference_column: the keyword, a column of the trainer's data set, that holds the references of each completion.
        text: how to find the caption in a completion: `answer`, `after-thinking`, `caption`, `boxed`, `tag:NAME`,
            `json:NAME`, a function, or several.
        end: whether the end counts. By default it does, but not in CIDEr where document frequencies are given, which
            count no ends.
        ends: ids of the tokens that end a completion, as in `tokenizer.eos_token_id`; TRL's trainer tells them.
        num_generations: captions of a group, in consecutive rows, for the guards; TRL's trainer tells it.
        missing: the reward of a caption that has none, as where a judge refuses; None for trainers that leave such
            captions out (TRL, ms-swift), 0 for others.
        **keywords: needs by keyword.

    Raises:
        DataError: unusable references.
        UsageError: a metric that scores caption sets ([`SetReward`][sacrecap.rewards.SetReward] takes those), a metric
            with a model of all references, or a metric whose needs are not given.
    """

    usual = "cider-d"

    def _check(self) -> None:
        for term in self._mixture.terms:
            if term.metric.scores_sets:
                raise UsageError(
                    f"{term.metric.key} scores caption sets, and this reward scores each caption; use "
                    "sacrecap.rewards.SetReward"
                )
            check_untrained(term.metric)

    def _groups(self, batch: CompletionBatch, columns: Mapping[str, object]) -> list[list[int]] | None:
        """For the guards alone: a batch that holds parts of groups is rewarded all the same."""
        size = self.num_generations or told_group_size(columns)
        try:
            return None if size is None else in_groups(batch, size)
        except DataError:
            return None


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

    _has_warned = False

    def _check(self) -> None:
        if self.num_generations is not None:
            self._size({})
        if not any(term.metric.scores_sets for term in self._mixture.terms):
            keys = ", ".join(term.metric.key for term in self._mixture.terms)
            raise UsageError(
                f"{keys} scores single captions; use sacrecap.rewards.CaptionReward, or add a metric of caption sets, "
                "such as self-cider"
            )

    def __call__(
        self, completions: Iterable[Completion], image_ids: Iterable[object] | None = None, **columns: object
    ) -> list[float | None]:
        texts = list(completions)
        if self._is_alone and image_ids is None and columns.get(self._reading.image_column) is None:
            image_ids = [f"group {row // self._size(columns)}" for row in range(len(texts))]
        return super().__call__(texts, image_ids, **columns)

    def _groups(self, batch: CompletionBatch, columns: Mapping[str, object]) -> list[list[int]]:
        size = self._size(columns)
        settings = getattr(trainer_of(columns), "args", None)
        if getattr(settings, "scale_rewards", None) == "group" and not self._has_warned:
            self._has_warned = True
            warn(
                'scale_rewards="group", TRL\'s default, divides the rewards of each group by their deviation: the '
                "weights of the mixture do not mean what they say then, and diversity alone is ascended in another "
                'direction; set scale_rewards="none" in GRPOConfig'
            )
        return in_groups(batch, size)

    def _size(self, columns: Mapping[str, object]) -> int:
        size = told_group_size(columns) if self.num_generations is None else self.num_generations
        if size is None:
            raise UsageError(
                "how many captions of an image form a group? Give num_generations=8 (or how many your trainer samples)"
            )
        if size < LEAST:
            raise UsageError(
                f"a group has at least {LEAST} captions (num_generations), got {size}: without one of them, two are "
                "left, the smallest set with a diversity"
            )
        return size
