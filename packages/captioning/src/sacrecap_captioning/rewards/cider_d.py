"""CIDEr-D on ids, the reward of self-critical training: by the native scorer on a CPU, by tensor operations on a GPU.

Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), section 3.
The end of a caption counts as a word, so that the captioner learns to end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap.metrics import CiderD
from sacrecap.rewards.device import TensorCiderDReward
from sacrecap.rewards.host import CiderDReward
from sacrecap_captioning.rewards.base import TrainingCaptions
from sacrecap_captioning.rewards.check import check_counts, padded
from sacrecap_captioning.vocabulary import END


class CiderDOfIds:
    """CIDEr-D of samples by the native scorer, with the references of the training split encoded once.

    Raises:
        DataError: the document frequencies are of one image, of another vocabulary, or lack the end.
        UsageError: they are keyed by words.
    """

    on_host = True

    def __init__(self, training: TrainingCaptions, metric: CiderD, *, threads: int = 1) -> None:
        references, counts = _counted(training)
        self._reward = CiderDReward(counts, end_of_sentence=END, n=metric.n, sigma=metric.sigma, threads=threads)
        self._references = self._reward.encode(references)

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """(N,) from 0 to 10."""
        scores = self._reward(words.numpy(), self._references[images.tolist()])
        return torch.tensor(scores, dtype=torch.float32)


class CiderDOnDevice:
    """The same by tensor operations, with words, references and rewards on the device; nothing waits for it.

    Raises:
        DataError: the document frequencies are of one image, of another vocabulary, or lack the end.
        UsageError: they are keyed by words.
    """

    on_host = False

    def __init__(self, training: TrainingCaptions, metric: CiderD, device: torch.device | str) -> None:
        references, counts = _counted(training)
        self._reward = TensorCiderDReward(counts, end_of_sentence=END, n=metric.n, sigma=metric.sigma, device=device)
        self._references = self._reward.encode(references)

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """(N,) from 0 to 10."""
        return self._reward(words, self._references[images])


def _counted(training: TrainingCaptions) -> tuple[list[npt.NDArray[np.int64]], DocumentFrequency]:
    """The references of each image, (R, T) ids, and the document frequencies that weigh them."""
    references = [padded(group) for group in training.ids]
    counts = training.document_frequency or DocumentFrequency.from_token_ids(references, end_of_sentence=END)
    check_counts(counts, training)
    return references, counts
