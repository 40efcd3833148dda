"""Metrics as rewards for training: captions of images in, one number per caption out.

    reward = CaptionReward({"dog.jpg": ["a dog runs", "a brown dog"], …}, "cider-d + 0.5*rouge-l")
    reward(["a dog", "a cat"], ["dog.jpg", "dog.jpg"])                       # [1.31, 0.02]: higher is better
    GRPOTrainer(…, reward_funcs=[reward])                                    # TRL: the data set has a column image_id

Such rewards were first used to train captioners by Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence
training for image captioning* (CVPR 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from sacrecap._core import Captions
from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import CaptionSource, as_references, tokenize
from sacrecap.corpus.sets import encode_sets
from sacrecap.errors import DataError, UsageError, some
from sacrecap.metrics import CiderD
from sacrecap.metrics.cider import frequencies_for
from sacrecap.resources.needs import Given, Needs
from sacrecap.rewards.completions import CompletionBatch
from sacrecap.rewards.metric_reward import MetricReward
from sacrecap.rewards.words import CiderDOfWords
from sacrecap.scoring.count import count

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics import Metric

TOKENISED: Final = "none"
"""The tokenizer for captions that are tokenised already."""


class CaptionReward(MetricReward):
    """Rates captions of images by metrics, with the references of a training split: higher is better.

    References are tokenised once. Document frequencies are those of all references, not of the batch: k captions of a
    single image are weighted as in a corpus of all images. A metric for which lower is better counts negatively.

    Args:
        references: the captions of all training images, `{image id: [caption, …]}` or a path, as for `sacrecap.score`.
        reward: a metric, its name, `{name: weight}`, or a mixture such as `cider-d + 0.5*rouge-l`.
        tokenizer: of captions and references: see [`sacrecap.tokenize`][].
        image_column: the keyword, a column of the trainer's data set, that names the image of each completion.
        threads: number of threads; 0 means one per core. One is fastest for batches of less than a few thousand.
        needs: what the metrics need in addition to captions, as for [`sacrecap.score`][], by image id of `references`.
        **given: the same by keyword.

    Raises:
        DataError: unusable references.
        UsageError: a metric that scores caption sets ([`SetReward`][sacrecap.rewards.SetReward] takes those), a metric
            with a model of all references, or a metric whose needs are not given.
    """

    def __init__(
        self,
        references: CaptionSource,
        reward: str | Metric | Mapping[str, float] = "cider-d",
        *,
        tokenizer: Tokenizer = "ptb",
        image_column: str = "image_id",
        threads: int = 1,
        needs: Needs | Mapping[str, object] | None = None,
        **given: Unpack[Given],
    ) -> None:
        super().__init__(reward, tokenizer, image_column, threads)
        for term in self.terms:
            _check_captions(term.metric)
        captions = as_references(references)
        self._references = tokenised(captions, tokenizer)
        ready = Needs.of(needs, given, threads=threads)
        self._scorers = [self._scorer(term.metric, captions, ready) for term in self.terms]

    def _scorer(self, metric: Metric, references: Captions, needs: Needs) -> CiderDOfWords | _Scorer:
        """The scorer of captions by the metric: if possible, the one that stores weighted references."""
        if isinstance(metric, CiderD) and "document_frequency" not in needs and references.image_count > 1:
            return CiderDOfWords(self._references, metric, self.threads)
        ready = ready_needs(metric, references, self.tokenizer, needs)
        return _Scorer(metric, self._references, references, self.tokenizer, ready)

    def rewards(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        """(N,) rewards of the captions of a batch."""
        absent = [image for image in dict.fromkeys(batch.images) if image not in self._references]
        if absent:
            raise DataError(
                f"no references for {some(absent)}: captions are of images of the training split, which has "
                f"{len(self._references):,} images, such as {next(iter(self._references), 'none')!r}"
            )
        rewards = np.zeros(len(batch.images))
        for term, scorer in zip(self.terms, self._scorers, strict=True):
            if batch.images:
                rewards += term.weight * term.sign * scorer(batch)
        return rewards


class _Scorer:
    """Scores captions by any metric. The captions of an image form a set, so that its references are encoded once."""

    def __init__(
        self, metric: Metric, references: Mapping[str, list[str]], given: Captions, tokenizer: Tokenizer, needs: Needs
    ) -> None:
        self._metric = metric
        self._references = references
        self._given = given
        self._tokenizer = tokenizer
        self._needs = needs

    def __call__(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        """(N,) scores."""
        groups = batch.by_image()
        sets = {image: [batch.text(row) for row in rows] for image, rows in groups.items()}
        references = {image: self._references[image] for image in groups}
        threads = self._needs.threads
        [corpus] = encode_sets({"batch": sets}, references, tokenizer=TOKENISED, threads=threads).values()
        # The captions were cut before; metrics that read the text itself get the original text.
        corpus.tokenizer = self._tokenizer
        said = {image: [batch.caption(row) for row in rows] for image, rows in groups.items()}
        corpus.candidate_captions, corpus.reference_captions = Captions.from_dict(said), self._given
        scores = np.zeros(len(batch.images))
        order = [row for image in corpus.image_ids for row in groups[image]]
        scores[order] = row_scores(corpus, self._metric, self._needs)
        return scores


def row_scores(corpus: Corpus, metric: Metric, needs: Needs) -> npt.NDArray[np.float64]:
    """The score of each caption of the corpus, or of each set; 0 for one that the metric does not score."""
    [counted] = count(corpus, (metric,), needs)
    scores: npt.NDArray[np.float64] = np.frombuffer(counted.statistics.row_scores(), dtype="<f8")
    return np.nan_to_num(scores, nan=0.0)


def tokenised(references: Captions, tokenizer: Tokenizer) -> dict[str, list[str]]:
    """The references by image id, each as its tokens joined by blanks."""
    by_image = references.to_dict()
    tokens = iter(tokenize([caption for group in by_image.values() for caption in group], tokenizer=tokenizer))
    return {image: [" ".join(next(tokens)) for _ in group] for image, group in by_image.items()}


def ready_needs(metric: Metric, references: Captions, tokenizer: Tokenizer, needs: Needs) -> Needs:
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
    if references.image_count < 2:
        raise UsageError(
            f"{metric.key} weights words by how many images have them, and these are the references of one image; give "
            "those of the whole training split, or document frequencies (document_frequency=…)"
        )
    return needs.with_({"document_frequency": frequencies_for([metric], references, tokenizer=tokenizer)})


def _check_captions(metric: Metric) -> None:
    if metric.scores_sets:
        raise UsageError(
            f"{metric.key} scores caption sets, and this reward scores each caption; use sacrecap.rewards.SetReward"
        )
    if any(part.trained_on_references for part in metric.parts):
        raise UsageError(
            f"{metric.key} learns from the references of all images, and a batch has few; name another metric"
        )
