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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from sacrecap._core import Captions
from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import CaptionSource, as_references, tokenize
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import DataError, UsageError, some, warn
from sacrecap.metrics import CiderD
from sacrecap.resources.needs import Needs
from sacrecap.rewards.completions import END, Completion, CompletionBatch, in_groups, told_group_size, trainer_of
from sacrecap.rewards.guards import row_scores
from sacrecap.rewards.host import CiderDOfWords
from sacrecap.rewards.metric_reward import MetricReward, Term, TermScores, ready_needs, summed

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap.metrics import Metric

TOKENISED: Final = "none"
"""The tokenizer for captions that are tokenised already."""
WITH_END = frozenset({"bleu", "cider-d", "cider-paper"})
"""Families of metrics in which the end of a caption counts as a word."""


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

    def _prepare(self, references: CaptionSource | None, needs: Needs, end: bool | None) -> None:
        for metric in (term.metric for term in self._mixture.terms):
            if metric.scores_sets:
                raise UsageError(
                    f"{metric.key} scores caption sets, and this reward scores each caption; use "
                    "sacrecap.rewards.SetReward"
                )
            if any(part.trained_on_references for part in metric.parts):
                raise UsageError(
                    f"{metric.key} learns from the references of all images, and a batch has few; name another metric"
                )
        captions = references_of(references, self._reading.reference_column)
        words = {} if captions is None else tokenised(captions.to_dict(), self.tokenizer)
        self._terms: list[tuple[Term, bool, CiderDOfWords | _Scorer]] = []
        """The terms of the mixture, whether ends count in each, and its scorer."""
        for term in self._mixture.terms:
            with_ends = counts_ends(term.metric, end, needs)
            scorer = self._scorer(term.metric, captions, words, needs, ends=with_ends)
            self._terms.append((term, with_ends, scorer))
        self._images = None if captions is None else dict.fromkeys(words)
        self._watch = self._watched(words, captions, needs)

    def _scorer(
        self, metric: Metric, captions: Captions | None, words: Mapping[str, list[str]], needs: Needs, *, ends: bool
    ) -> CiderDOfWords | _Scorer:
        """The scorer of captions by the metric: if possible, the one that stores weighted references."""
        if ends:
            words = with_end(words)
        counts_batch = captions is not None and captions.image_count > 1 and "document_frequency" not in needs
        if isinstance(metric, CiderD) and counts_batch:
            return CiderDOfWords(words, metric, self.threads)
        if not ends:
            ready = ready_needs(metric, captions, self.tokenizer, needs)
            return _Scorer(metric, words, captions, self.tokenizer, ready, ends=False)
        # What knows ends reads words alone.
        counted = Captions.from_dict(words) if counts_batch else captions
        return _Scorer(metric, words, counted, TOKENISED, ready_needs(metric, counted, TOKENISED, needs), ends=True)

    def _groups(self, batch: CompletionBatch, columns: Mapping[str, object]) -> list[list[int]] | None:
        """For the guards alone: a batch that holds parts of groups is rewarded all the same."""
        size = self.num_generations or told_group_size(columns)
        try:
            return None if size is None else in_groups(batch, size)
        except DataError:
            return None

    def rewards(self, batch: CompletionBatch, groups: Sequence[Sequence[int]] | None = None) -> npt.NDArray[np.float64]:  # noqa: ARG002
        """(N,) rewards of the captions of a batch by metrics, each on its own."""
        images = self._images
        absent = [] if images is None else [image for image in dict.fromkeys(batch.images) if image not in images]
        if images is not None and absent:
            raise DataError(
                f"no references for {some(absent)}: captions are of images of the training split, which has "
                f"{len(images):,} images, such as {next(iter(images), 'none')!r}"
            )
        if not batch.images:
            return np.zeros(0)
        terms = [
            ([term.metric], term.weight * term.sign * scorer(batch.with_ends() if ends else batch))
            for term, ends, scorer in self._terms
        ]
        return summed(terms, batch.by_image().values(), len(batch.images))


@dataclass(eq=False)
class _Scorer:
    """Scores captions by any metric. The captions of an image form a set, so that its references are encoded once.

    Without `given`, the references are those of the batch.
    """

    metric: Metric
    references: Mapping[str, list[str]]
    source: Captions | None
    tokenizer: Tokenizer
    needs: Needs
    ends: bool

    def __call__(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        """(N,) scores."""
        groups = batch.by_image()
        sets = {image: [batch.text(row) for row in rows] for image, rows in groups.items()}
        of_batch, texts = self.source, self.references
        if of_batch is None:
            of_batch, words = Captions.from_dict(batch.references), tokenised(batch.references, batch.tokenizer)
            texts = with_end(words) if self.ends else words
        references = {image: texts[image] for image in groups}
        threads = self.needs.threads
        [corpus] = encode_sets({"batch": sets}, references, tokenizer=TOKENISED, threads=threads).values()
        # The captions were cut before; metrics that read the text itself get the original text.
        corpus.tokenizer = self.tokenizer
        spoken = {image: [batch.caption(row) for row in rows] for image, rows in groups.items()}
        corpus.candidate_captions, corpus.reference_captions = Captions.from_dict(spoken), of_batch
        scores = np.zeros(len(batch.images))
        order = [row for image in corpus.image_ids for row in groups[image]]
        scores[order] = row_scores(corpus, self.metric, self.needs)
        return scores


def with_end(references: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The references with a last word `END`."""
    return {image: [f"{text} {END}" for text in group] for image, group in references.items()}


def references_of(references: CaptionSource | None, column: str | None) -> Captions | None:
    """The references of a reward, of the images that have some; None where the trainer's data set has them.

    Raises `UsageError` for none or both.
    """
    if (references is None) == (column is None):
        raise UsageError("a reward has references, or a column of the data set that holds them: give one of the two")
    if references is None:
        return None
    captions = as_references(references)
    if 0 not in captions.caption_counts():
        return captions
    return Captions.from_dict({image: texts for image, texts in captions.to_dict().items() if texts})


def tokenised(by_image: Mapping[str, Sequence[str]], tokenizer: Tokenizer) -> dict[str, list[str]]:
    """The references by image id, each as its tokens joined by blanks."""
    tokens = iter(tokenize([caption for group in by_image.values() for caption in group], tokenizer=tokenizer))
    return {image: [" ".join(next(tokens)) for _ in group] for image, group in by_image.items()}


def counts_ends(metric: Metric, end: bool | None, needs: Needs) -> bool:
    """Whether the end of a caption is a word of this metric.

    Raises:
        UsageError: it should be one, and the document frequencies that are given count none.
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
