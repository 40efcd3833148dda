"""Any registered metric as a reward: ids become text, and sacrecap scores it."""

from __future__ import annotations

import torch
from torch import Tensor

from sacrecap.metrics import Metric
from sacrecap.rewards import CaptionReward
from sacrecap.rewards.completions import CompletionBatch
from sacrecap_captioning.rewards.base import TrainingCaptions


class MetricOfText:
    """A metric of samples, on the words of the vocabulary without the end: a `sacrecap.rewards.CaptionReward`.

    A metric for which lower is better rewards with its negative. Document frequencies are those of the whole training
    split, not of the batch.

    Raises:
        UsageError: the metric scores caption sets, or needs more images' references than a batch has; or it needs
            objects, and there are none.
    """

    on_host = True

    def __init__(self, training: TrainingCaptions, metric: Metric, *, threads: int = 1) -> None:
        texts = {str(n): [" ".join(tokens) for tokens in group] for n, group in enumerate(training.references)}
        objects = training.objects
        own = None if objects is None else {str(number): labels for number, labels in enumerate(objects)}
        # The captions are tokenised already.
        self._reward = CaptionReward(texts, metric, tokenizer="none", threads=threads, objects=own)
        self._vocabulary = training.vocabulary

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """(N,) in the metric's own range; 0 for all samples of an image that the metric does not score."""
        numbers = images.repeat_interleave(len(words) // len(images)).tolist()  # the image of each sample
        tokens = [self._vocabulary.text(row).split() for row in words.tolist()]
        return torch.tensor(self._reward.rewards(CompletionBatch(tokens, list(map(str, numbers)))), dtype=torch.float32)
