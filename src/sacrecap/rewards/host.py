"""CIDEr-D on token ids, as a reward for reinforcement learning: no strings, no waiting for the GIL.

Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017) score sampled
captions as strings of ids. The arithmetic here is that of `cider-d`; references are encoded once and reused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sacrecap import _core
from sacrecap.corpus.document_frequency import DocumentFrequency, open_frequencies
from sacrecap.corpus.token_ids import as_rows, pack, pack_references
from sacrecap.errors import DataError, UsageError, whole_number
from sacrecap.metrics import CiderD
from sacrecap.rewards.completions import CompletionBatch

if TYPE_CHECKING:
    from sacrecap.corpus.token_ids import TokenIds


class EncodedReferences:
    """References of several images, encoded by [`encode`][sacrecap.CiderDReward.encode]; selecting copies no text."""

    def __init__(self, core: _core.EncodedReferences) -> None:
        self._core = core

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, images: Sequence[int] | npt.NDArray[np.integer]) -> EncodedReferences:
        """The references of these images, in this order (repeats allowed): a training batch from the whole set."""
        numbers = [int(image) for image in images]
        for number in numbers:
            if not 0 <= number < len(self):
                raise UsageError(f"no image {number} among {len(self)} encoded ones")
        return EncodedReferences(self._core.select(numbers))


class CiderDReward:
    """CIDEr-D of sampled captions, in token ids.

    Args:
        document_frequency: counts keyed by token ids, or their name or file:
            [`from_token_ids`][sacrecap.DocumentFrequency.from_token_ids], or an imported pickle of the `-idxs` kind.
            The ids, and whether the end of sentence is among them, must be those of the samples, or rewards fall to 0
            or captions learn bad endings.
        end_of_sentence: the id that ends a caption. It counts as a word, in samples and references alike, as in
            self-critical training, and what follows it is padding. None: there is no such id. Negative ids are padding
            in any case.
        n: the longest n-gram.
        sigma: standard deviation of the length penalty.
        threads: number of threads; 0 means one per core. They end with the call, so the reward is safe after `fork`.

    Raises:
        UsageError: counts keyed by words, or stems; `n` or `sigma` out of range.

    Examples:
        >>> references = [np.array([[4, 5, 6, 0]]), np.array([[7, 8, 0, 0]])]
        >>> reward = sacrecap.CiderDReward(sacrecap.DocumentFrequency.from_token_ids(references))
        >>> reward(np.array([[4, 5, 6, 0], [7, 9, 0, 0]]), references).round(2).tolist()
        [10.0, 1.25]
    """

    def __init__(
        self,
        document_frequency: DocumentFrequency | str | PathLike[str],
        *,
        end_of_sentence: int | None = 0,
        n: int = 4,
        sigma: float = 6.0,
        threads: int = 0,
    ) -> None:
        metric = CiderD(n=n, sigma=sigma)
        frequencies = open_frequencies(document_frequency)
        if frequencies is None:
            raise UsageError(
                "a reward on token ids needs document frequencies of the whole training split: make them with "
                "sacrecap.DocumentFrequency.from_token_ids"
            )
        self.end_of_sentence = end_of_sentence
        self.threads = whole_number("threads", threads)
        self._core = _core.Reward(frequencies._core, metric.n, metric.sigma)

    def encode(self, references: Sequence[TokenIds]) -> EncodedReferences:
        """Encodes references once, to be used in many steps: one (R_i, T) array of ids per image.

        Raises `DataError` for an array of another shape or type, or an image without reference.
        """
        return EncodedReferences(self._core.encode(*pack_references(references, self.end_of_sentence), self.threads))

    def __call__(
        self, sampled: TokenIds, references: Sequence[TokenIds] | EncodedReferences
    ) -> npt.NDArray[np.float64]:
        """Rewards of the samples.

        Args:
            sampled: (N, T) ids, padded after the end of sentence.
            references: one (R_i, T) array of ids per sample, or per image: with N = k · images, the k samples of an
                image are in consecutive rows. Or the result of [`encode`][sacrecap.CiderDReward.encode].

        Returns:
            (N,) float64.

        Raises:
            DataError: wrong shapes or types, or N is not a multiple of the number of images.
        """
        encoded = references if isinstance(references, EncodedReferences) else self.encode(references)
        ids, lengths = pack(as_rows(sampled, "sampled"), self.end_of_sentence, "sampled")
        samples, images = len(lengths), len(encoded)
        if images == 0 or samples % images:
            raise DataError(
                f"{samples} samples for the references of {images} images: the number of samples must be a multiple of "
                "the number of images"
            )
        scores = self._core.score(ids, lengths, encoded._core, self.threads)
        return np.frombuffer(scores, dtype="<f8")

    def scores(
        self, ids: Sequence[int], lengths: Sequence[int], images: Sequence[int], references: EncodedReferences
    ) -> npt.NDArray[np.float64]:
        """(N,) rewards of samples whose ids are concatenated in one list, each with its image's index."""
        chosen = references._core.select(images)
        scores = self._core.score(np.array(ids, dtype="<u4").tobytes(), lengths, chosen, self.threads)
        return np.frombuffer(scores, dtype="<f8")


class CiderDOfWords:
    """`cider-d` with the document frequencies of the references, by the scorer on token ids: words get numbers. The
    scores are the same, and references are not weighted again in every call.
    """

    def __init__(self, references: Mapping[str, Sequence[str]], metric: CiderD, threads: int) -> None:
        self._words: dict[str, int] = {}
        self._number = {image: number for number, image in enumerate(references)}
        groups = []
        for group in references.values():
            rows = [[self._words.setdefault(word, len(self._words)) for word in text.split()] for text in group]
            columns = list(zip_longest(*rows, fillvalue=-1))
            groups.append(np.array(columns, dtype=np.int64).T if columns else np.zeros((len(rows), 0), dtype=np.int64))
        counts = DocumentFrequency.from_token_ids(groups, end_of_sentence=None, n=metric.n)
        self._reward = CiderDReward(counts, end_of_sentence=None, n=metric.n, sigma=metric.sigma, threads=threads)
        self._references = self._reward.encode(groups)

    def __call__(self, batch: CompletionBatch) -> npt.NDArray[np.float64]:
        new: dict[str, int] = {}
        numbers, first = self._words, len(self._words)
        ids = [
            numbers[word] if word in numbers else new.setdefault(word, first + len(new))
            for caption in batch.tokens
            for word in caption
        ]
        lengths = list(map(len, batch.tokens))
        return self._reward.scores(ids, lengths, [self._number[image] for image in batch.images], self._references)
