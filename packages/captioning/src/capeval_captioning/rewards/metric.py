"""Any registered metric as a reward: ids become text, and capeval scores it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from capeval.corpus.corpus import Corpus
from capeval.corpus.document_frequency import DocumentFrequency
from capeval.errors import UsageError
from capeval.metrics import Metric
from capeval.scoring.score import count
from capeval_captioning.rewards.base import TrainingCaptions

_TOKENIZER = "none"
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
        if any(part.uses_objects and "objects" in part.needs for part in metric.parts) and training.objects is None:
            raise UsageError(f"{metric.key} needs the objects of each image, and these images have none")
        self.metric = metric
        self._sign = -1.0 if metric.lower_is_better else 1.0
        self._training = training
        self._texts = [[" ".join(tokens) for tokens in group] for group in training.references]
        self._threads = threads
        self._counts: DocumentFrequency | None = None
        if any(part.uses_document_frequency for part in metric.parts):
            stem = any(part.uses_stems for part in metric.parts)
            texts = {str(image): group for image, group in enumerate(self._texts)}
            self._counts = DocumentFrequency.build(texts, tokenizer=_TOKENIZER, stem=stem)

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """(N,) in the metric's own range."""
        numbers = images.repeat_interleave(len(words) // len(images)).tolist()  # the image of each sample
        names = [f"{row:06}" for row in range(len(numbers))]  # a sample is what a corpus calls an image
        references = {name: self._texts[image] for name, image in zip(names, numbers, strict=True)}
        candidates = dict(zip(names, map(self._training.vocabulary.text, words.tolist()), strict=True))
        corpus = Corpus(references, candidates, tokenizer=_TOKENIZER, threads=self._threads)
        objects = self._training.objects
        counted = count(
            corpus,
            (self.metric,),
            document_frequency=self._counts,
            objects=None if objects is None else dict(zip(names, (objects[image] for image in numbers), strict=True)),
            threads=self._threads,
        )
        scores = np.frombuffer(counted.statistics[0].row_scores(), dtype="<f8")
        return torch.tensor(self._sign * scores, dtype=torch.float32)
