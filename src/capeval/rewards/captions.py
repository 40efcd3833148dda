"""Metrics as rewards for training: captions of images in, one number per caption out.

    reward = CaptionReward({"dog.jpg": ["a dog runs", "a brown dog"], …}, "cider-d + 0.5*rouge-l")
    reward(["a dog", "a cat"], ["dog.jpg", "dog.jpg"])                       # [1.31, 0.02]: higher is better
    GRPOTrainer(…, reward_funcs=[reward])                                    # TRL: the data set has a column image_id

Rewards of this kind trained captioners first in Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training
for image captioning* (CVPR 2017).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from capeval._core import Captions
from capeval.corpus.corpus import TOKENIZERS, CaptionSource, Tokenizer, as_references, tokenize
from capeval.corpus.document_frequency import DocumentFrequency
from capeval.corpus.sets import encode_sets
from capeval.errors import DataError, UsageError, accepted_name, some
from capeval.metrics import CiderD
from capeval.resources.needs import Given, Needs
from capeval.rewards.completions import LOG_METRIC, Batch, Completion, Guards, batch_of
from capeval.rewards.mixture import Term, terms_of
from capeval.rewards.words import CiderDOfWords
from capeval.scoring.count import count

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

    from capeval.metrics import Metric

TOKENISED: Final = "none"
"""The tokenizer of what is tokenised already."""


class CaptionReward:
    """Rates captions of images by metrics, with the references of a training split: higher is better.

    References are tokenised once. Document frequencies are those of all references, not of the batch: k captions of a
    single image are weighed as in a corpus of all images. A metric of which less is better counts negatively.

    Args:
        references: the captions of all training images, `{image id: [caption, …]}` or a path, as `capeval.score` takes.
        reward: a metric, its name, `{name: weight}`, or a mixture such as `cider-d + 0.5*rouge-l`.
        tokenizer: of captions and references: see [`capeval.tokenize`][].
        image_column: the keyword, a column of the trainer's data set, that names the image of each completion.
        threads: number of threads; 0 means one per core. One is fastest for batches of less than a few thousand.
        needs: what the metrics need beside captions, as for [`capeval.score`][], by image id of `references`.
        **given: the same by keyword.

    Raises:
        DataError: unusable references.
        UsageError: a metric that scores caption sets ([`SetReward`][capeval.rewards.SetReward] takes those), one that
            has a model of all references, or one whose needs are not given.
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
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        self.terms = terms_of(reward)
        for term in self.terms:
            _check_captions(term.metric)
        self.tokenizer = tokenizer
        self.image_column = image_column
        self.threads = threads
        self.last: Guards | None = None
        """Figures of the last batch: its words, repetition and empty captions."""
        captions = as_references(references)
        self._references = tokenised(captions, tokenizer)
        ready = Needs.of(needs, given, threads=threads)
        self._scorers = [self._scorer(term.metric, captions, ready) for term in self.terms]

    def _scorer(self, metric: Metric, references: Captions, needs: Needs) -> CiderDOfWords | _Scorer:
        """What scores captions by the metric: the scorer that remembers weighed references, where it can."""
        if isinstance(metric, CiderD) and "document_frequency" not in needs and references.image_count > 1:
            return CiderDOfWords(self._references, metric, self.threads)
        ready = ready_needs(metric, references, self.tokenizer, needs)
        return _Scorer(metric, self._references, references, self.tokenizer, ready)

    @property
    def __name__(self) -> str:
        """What trainers log it under: `capeval_cider_d`."""
        return "capeval_" + name_of(self.terms)

    def __repr__(self) -> str:
        return f"CaptionReward({' + '.join(map(str, self.terms))!r}, {len(self._references):,} images)"

    def __call__(
        self,
        completions: Sequence[Completion],
        image_ids: Sequence[object] | None = None,
        **columns: object,
    ) -> list[float]:
        """Rewards of captions.

        Args:
            completions: captions, or lists of chat messages of which the last one is the caption.
            image_ids: the image of each; by default the column that `image_column` names.
            **columns: whatever else a trainer hands over; `log_metric`, TRL's, gets the figures of `last`.

        Returns:
            A number per caption, in the metrics' own ranges times their weights; 0 where a metric does not score one.

        Raises:
            DataError: an image without references, a completion without text, or other numbers of both.
            UsageError: no image ids.
        """
        batch = batch_of(completions, image_ids, columns, self.image_column, self.tokenizer, self.threads)
        self.last = guarded(batch, columns)
        return list(map(float, self.rewards(batch)))

    def rewards(self, batch: Batch) -> npt.NDArray[np.float64]:
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
                rewards += term.weight * term.sign * np.nan_to_num(scorer(batch), nan=0.0)
        return rewards


class _Scorer:
    """Scores captions by any metric. The captions of an image are a set, so that its references are encoded once."""

    def __init__(
        self, metric: Metric, references: Mapping[str, list[str]], given: Captions, tokenizer: Tokenizer, needs: Needs
    ) -> None:
        self._metric = metric
        self._references = references
        self._given = given
        self._tokenizer = tokenizer
        self._needs = needs

    def __call__(self, batch: Batch) -> npt.NDArray[np.float64]:
        """(N,) scores; not a number where there is none."""
        groups = batch.by_image()
        sets = {image: [batch.text(row) for row in rows] for image, rows in groups.items()}
        references = {image: self._references[image] for image in groups}
        threads = self._needs.threads
        [corpus] = encode_sets({"batch": sets}, references, tokenizer=TOKENISED, threads=threads).values()
        # The captions were cut before; metrics that read them themselves get them as they were.
        corpus.tokenizer = self._tokenizer
        said = {image: [batch.caption(row) for row in rows] for image, rows in groups.items()}
        corpus.candidate_captions, corpus.reference_captions = Captions.from_dict(said), self._given
        [counted] = count(corpus, (self._metric,), self._needs)
        scores = np.zeros(len(batch.images))
        order = [row for image in corpus.image_ids for row in groups[image]]
        scores[order] = np.frombuffer(counted.statistics.row_scores(), dtype="<f8")
        return scores


def tokenised(references: Captions, tokenizer: Tokenizer) -> dict[str, list[str]]:
    """The references by image id, each as its tokens joined by blanks."""
    by_image = references.to_dict()
    tokens = iter(tokenize([caption for group in by_image.values() for caption in group], tokenizer=tokenizer))
    return {image: [" ".join(next(tokens)) for _ in group] for image, group in by_image.items()}


def ready_needs(metric: Metric, references: Captions, tokenizer: Tokenizer, needs: Needs) -> Needs:
    """The needs of a metric, with document frequencies of all references where none are given.

    Raises:
        UsageError: something that the metric needs is not given.
    """
    reason = metric.unavailable(needs)
    if reason is not None:
        raise UsageError(f"{metric.key}: {reason}")
    weighted = [part for part in metric.parts if part.uses_document_frequency]
    if not weighted or "document_frequency" in needs:
        return needs
    if references.image_count < 2:
        raise UsageError(
            f"{metric.key} weighs words by how many images have them, and these are the references of one image; give "
            "those of the whole training split, or document frequencies (document_frequency=…)"
        )
    stem = any(part.uses_stems for part in weighted)
    counts = DocumentFrequency.build(references, tokenizer=tokenizer, stem=stem)
    return needs.with_({"document_frequency": counts})


def guarded(batch: Batch, columns: Mapping[str, object]) -> Guards:
    """The figures of a batch, which the trainer's log gets too where it gives a way."""
    guards = Guards.of(batch.tokens)
    write = columns.get(LOG_METRIC)
    if callable(write):
        guards.log(write)
    return guards


def name_of(terms: Sequence[Term]) -> str:
    """The metrics of a reward as an identifier: `cider_d_rouge_l`."""
    joined = "_".join(term.metric.key for term in terms)
    return "".join(sign if sign.isalnum() else "_" for sign in joined).strip("_")


def _check_captions(metric: Metric) -> None:
    if metric.scores_sets:
        raise UsageError(
            f"{metric.key} scores caption sets, and a reward of captions is of each; use capeval.rewards.SetReward"
        )
    if any(part.trained_on_references for part in metric.parts):
        raise UsageError(
            f"{metric.key} learns from the references of all images, and a batch has few; name another metric"
        )
