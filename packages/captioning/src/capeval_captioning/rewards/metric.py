"""Any registered metric as a reward: ids become text, and capeval scores it."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Tensor

from capeval.corpus.corpus import Corpus
from capeval.corpus.document_frequency import DocumentFrequency
from capeval.errors import UsageError
from capeval.metrics import Metric
from capeval.resources.needs import Needs
from capeval.scoring.count import count
from capeval_captioning.rewards.base import TrainingCaptions

_TOKENIZER: Final = "none"
"""The captions are tokenised already."""


class MetricOfText:
    """A metric of samples, on the words of the vocabulary, the end not among them.

    A metric of which less is better rewards with its negative. Document frequencies are those of the whole training
    split, not of the batch.

    Raises:
        UsageError: the metric scores caption sets, or needs more images' references than a batch has; or it needs
            objects, and there are none.
    """

    on_host = True

    def __init__(self, training: TrainingCaptions, metric: Metric, *, threads: int = 1) -> None:
        if metric.scores_sets:
            raise UsageError(f"{metric.key} scores caption sets, and a reward is of each caption; name another metric")
        if any(part.trained_on_references for part in metric.parts):
            raise UsageError(
                f"{metric.key} learns from the references of all images, and a batch has few; name another metric"
            )
        objects = training.objects
        self._needs = Needs({"objects": None if objects is None else {str(n): own for n, own in enumerate(objects)}})
        reason = metric.unavailable(self._needs)
        if reason is not None:
            raise UsageError(f"{metric.key}: {reason}")
        self.metric = metric
        self._sign = -1.0 if metric.lower_is_better else 1.0
        self._training = training
        self._texts = [[" ".join(tokens) for tokens in group] for group in training.references]
        self._threads = threads
        if any(part.uses_document_frequency for part in metric.parts):
            stem = any(part.uses_stems for part in metric.parts)
            texts = {str(image): group for image, group in enumerate(self._texts)}
            counts = DocumentFrequency.build(texts, tokenizer=_TOKENIZER, stem=stem)
            self._needs = self._needs.with_({"document_frequency": counts})

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """(N,) in the metric's own range; 0 for all samples of an image that the metric does not score."""
        numbers = images.repeat_interleave(len(words) // len(images)).tolist()  # the image of each sample
        names = [f"{row:06}" for row in range(len(numbers))]  # a sample is what a corpus calls an image
        references = {name: self._texts[image] for name, image in zip(names, numbers, strict=True)}
        candidates = dict(zip(names, map(self._training.vocabulary.text, words.tolist()), strict=True))
        corpus = Corpus(references, candidates, tokenizer=_TOKENIZER, threads=self._threads)
        needs = self._needs.with_({}, image_of=dict(zip(names, map(str, numbers), strict=True)), threads=self._threads)
        [counted] = count(corpus, (self.metric,), needs)
        scores = np.frombuffer(counted.statistics.row_scores(), dtype="<f8")
        return torch.tensor(self._sign * np.nan_to_num(scores, nan=0.0), dtype=torch.float32)
