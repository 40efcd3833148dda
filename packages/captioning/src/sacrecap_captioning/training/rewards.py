"""What a sampled caption is rewarded with, by name: CIDEr-D on ids, or any other registered metric on words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import CiderD, Metric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.rewards import CaptionReward, CiderDReward
from sacrecap.rewards.completions import CompletionBatch
from sacrecap_captioning.mixture import RETRIEVAL
from sacrecap_captioning.vocabulary import END, Vocabulary


class Reward(Protocol):
    """Rates sampled captions: higher is better."""

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """Rewards of samples.

        Args:
            words: (N, T) ids, padded after their end.
            images: (B,) indices of their images in the training split; the N / B samples of an image are in consecutive
                rows.

        Returns:
            (N,) floats, on the device of the words.
        """


@dataclass(frozen=True)
class TrainingCaptions:
    """The training split, in the form that rewards use.

    Attributes:
        vocabulary: of the captioner.
        references: the tokenised captions of each image.
        objects: labels of each image's objects, for metrics that need them.
        retrieval: the reward of the retrieval model, where one is trained.
    """

    vocabulary: Vocabulary
    references: Sequence[Sequence[Sequence[str]]]
    objects: Sequence[Mapping[str, int]] | None = None
    retrieval: Reward | None = None


def load_reward(name: str, training: TrainingCaptions) -> Reward:
    """The reward of this name: `retrieval`, or a registered metric.

    Raises:
        UsageError: no such metric, one that no single caption can be rewarded with, or no retrieval model is given.
        DataError: there is one training image.
    """
    if name == RETRIEVAL:
        if training.retrieval is None:
            raise UsageError(
                "the reward retrieval needs a trained retrieval model: sacrecap caption retrieval trains one"
            )
        return training.retrieval
    [metric] = parse_metrics(name)
    return CiderDOfIds(training, metric) if isinstance(metric, CiderD) else MetricOfText(training, metric)


class CiderDOfIds:
    """CIDEr-D of samples by the native scorer. The end counts as a word, so that the captioner learns to end.

    Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), sec. 3.

    Raises:
        DataError: there is one image: every weight would be 0.
    """

    def __init__(self, training: TrainingCaptions, metric: CiderD) -> None:
        if len(training.references) < 2:
            raise DataError(
                "the document frequencies are those of one image: every n-gram is in every document, so every reward "
                "is 0; train on more images"
            )
        references = [_ids(training.vocabulary, captions) for captions in training.references]
        counts = DocumentFrequency.from_token_ids(references, end_of_sentence=END)
        self._reward = CiderDReward(counts, end_of_sentence=END, n=metric.n, sigma=metric.sigma, threads=1)
        self._references = self._reward.encode(references)

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """(N,) from 0 to 10."""
        scores = self._reward(words.cpu().numpy(), self._references[images.tolist()])
        return torch.tensor(scores, dtype=torch.float32, device=words.device)


class MetricOfText:
    """A metric of samples, on the words of the vocabulary without the end: a `sacrecap.rewards.CaptionReward`.

    A metric for which lower is better rewards with its negative. Document frequencies are those of the whole training
    split, not of the batch.

    Raises:
        UsageError: the metric scores caption sets, or needs more images' references than a batch has; or it needs
            objects, and there are none.
    """

    def __init__(self, training: TrainingCaptions, metric: Metric) -> None:
        texts = {str(n): [" ".join(tokens) for tokens in group] for n, group in enumerate(training.references)}
        objects = training.objects
        own = None if objects is None else {str(number): labels for number, labels in enumerate(objects)}
        # The captions are tokenised already.
        self._reward = CaptionReward(texts, metric, tokenizer="none", threads=1, objects=own, end=False)
        self._vocabulary = training.vocabulary

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """(N,) in the metric's own range; 0 for all samples of an image that the metric does not score."""
        numbers = images.repeat_interleave(len(words) // len(images)).tolist()  # the image of each sample
        tokens = [self._vocabulary.text(row).split() for row in words.tolist()]
        rewards = self._reward.rewards(CompletionBatch(tokens, list(map(str, numbers))))
        return torch.tensor(np.nan_to_num(rewards), dtype=torch.float32, device=words.device)


def _ids(vocabulary: Vocabulary, captions: Sequence[Sequence[str]]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """(R, T): captions with their ends, which pad them, too."""
    rows = [vocabulary.encode(tokens, len(tokens)) for tokens in captions]
    array = np.full((len(rows), max(map(len, rows), default=0)), END)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array
