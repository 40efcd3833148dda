"""Rewards, and the data of the training set that they use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from sacrecap.corpus.document_frequency import DocumentFrequency
from sacrecap_captioning.vocabulary import Vocabulary


class Reward(Protocol):
    """Rates sampled captions: higher is better."""

    on_host: bool
    """Whether it is computed without the device and without Python's lock, so that a thread can run it during the next
    pass."""

    def __call__(self, words: Tensor, images: Tensor) -> Tensor:
        """Rewards of samples.

        Args:
            words: (N, T) ids, padded after their end.
            images: (B,) indices of their images in the training split; the N / B samples of an image are in consecutive
                rows. If `on_host`, both are on the CPU.

        Returns:
            (N,) floats.
        """


@dataclass(frozen=True)
class TrainingCaptions:
    """The training split, in the form that rewards use.

    Attributes:
        vocabulary: of the captioner.
        references: the tokenised captions of each image.
        document_frequency: for the weights of words in `cider-d`: counts of token ids of this vocabulary, including the
            end. None: those of the references.
        objects: labels of each image's objects, for metrics that need them.
        retrieval: (words, images) -> (N,) rewards of the retrieval model, where one is trained.
    """

    vocabulary: Vocabulary
    references: Sequence[Sequence[Sequence[str]]]
    document_frequency: DocumentFrequency | None = None
    objects: Sequence[Mapping[str, int]] | None = None
    retrieval: Reward | None = None

    @property
    def ids(self) -> list[list[list[int]]]:
        """The references in ids, each with its end."""
        return [[self.vocabulary.encode(tokens, len(tokens)) for tokens in group] for group in self.references]
