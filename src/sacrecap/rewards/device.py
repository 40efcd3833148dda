"""CIDEr-D as a reward in tensor operations: samples, references and rewards stay on their device.

The value is that of [`sacrecap.CiderDReward`][], computed in another way. n-grams are not looked up: a
caption's n-gram at position i equals another's at position j if the words at i and j are the same and the (n − 1)-grams
after them are equal. So one comparison of all words with all words gives the matches of every order. With c the counts
in sample and reference at each position of the reference, and every distinct n-gram at c_s positions of it,

    min(g(c), g(s))·g(s) = Σ_distinct idf² min(c_c, c_s) c_s = Σ_places idf² min(c_c, c_s),   ‖g‖² = Σ_places idf² c.

The IDF of a sample's n-grams comes from a trie in sorted arrays: the index of an n-gram's beginning and its last word
form the key that a binary search finds. Keys are exact, without hashing.

No operation waits for the device, has a shape that depends on values, or copies to the host. So the host is free, and a
step can be captured in a CUDA graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sacrecap.corpus.token_ids import as_rows, pack_references
from sacrecap.errors import DataError, MissingDependencyError
from sacrecap.metrics import CiderD
from sacrecap.rewards.host import check_whole_groups, counts_of

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise MissingDependencyError("sacrecap.rewards.device", extra="train") from error

if TYPE_CHECKING:
    from os import PathLike

    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.corpus.token_ids import TokenIds

__all__ = ["ReferenceTensors", "TensorCiderDReward"]
__dir__ = __all__.copy

_NO_WORD = -1
"""Padding after the end of a sample."""
_NO_REFERENCE_WORD = -2
"""Padding after the end of a reference; another number, so that padding never matches padding."""
_ROWS = 4096
"""Number of references encoded at once: all their words are compared with each other."""


@dataclass(frozen=True)
class ReferenceTensors:
    """References of B images as tensors on the device; at most R references of T words, C = R·T positions."""

    words: Tensor
    """(B, C) int32."""
    counts: Tensor
    """(B, n, C) int16: count of the n-gram at a position in its reference."""
    weights: Tensor
    """(B, n, C) float32: idf² of the n-gram at a position, divided by the norm of its reference; 0 for no n-gram."""
    lengths: Tensor
    """(B, R) float32: number of bigrams, which the COCO code uses as a caption's length."""
    share: Tensor
    """(B,) float64: weight of a reference in the mean, including CIDEr-D's factor 10 and the mean over orders."""

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, images: Tensor | Sequence[int]) -> ReferenceTensors:
        """The references of these images, in this order, repeats allowed.

        Indices in a tensor on the device are not checked: that would wait for the device.
        """
        device = self.words.device
        numbers = images if isinstance(images, Tensor) else torch.as_tensor(list(images), dtype=torch.int64)
        return ReferenceTensors(*(each.index_select(0, numbers.to(device)) for each in self._tensors()))

    def to(self, device: torch.device | str) -> ReferenceTensors:
        """The same on another device."""
        return ReferenceTensors(*(each.to(device) for each in self._tensors()))

    def _tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        return self.words, self.counts, self.weights, self.lengths, self.share


class TensorCiderDReward:
    """CIDEr-D of sampled captions, in token ids, on a device.

    Args:
        document_frequency: counts keyed by token ids, as for [`sacrecap.CiderDReward`][].
        end_of_sentence: the id that ends a caption and counts as a word; None: there is no such id. Negative ids are
            padding in any case.
        n: the longest n-gram.
        sigma: standard deviation of the length penalty.
        device: the device of samples and rewards.

    Raises:
        UsageError: counts keyed by words, or stems; `n` or `sigma` out of range.
        DataError: counts that cannot be of n-grams: above the number of documents, or of an n-gram without its
            beginning; or they lack the end of sentence.
    """

    def __init__(
        self,
        document_frequency: DocumentFrequency | str | PathLike[str],
        *,
        end_of_sentence: int | None = 0,
        n: int = 4,
        sigma: float = 6.0,
        device: torch.device | str = "cpu",
    ) -> None:
        document_frequency = counts_of(document_frequency)
        metric = CiderD(n=n, sigma=sigma)
        self.n, self.sigma = metric.n, metric.sigma
        self.end_of_sentence = end_of_sentence
        self.device = torch.device(device)
        if end_of_sentence is not None and document_frequency.count([str(end_of_sentence)]) == 0:
            raise DataError(
                f"the document frequencies {document_frequency.source} lack the end of sentence, id {end_of_sentence}: "
                "endings would get the largest possible weight; count them with the same end_of_sentence, or give "
                "end_of_sentence=None to both"
            )
        self._trie = _Trie.of(document_frequency, self.n, self.device)

    def encode(self, references: Sequence[TokenIds] | Sequence[Tensor]) -> ReferenceTensors:
        """Encodes references once, to be used in many steps: one (R_i, T) array or tensor of ids per image.

        Raises `DataError` for an array of another shape or type, or an image without reference.
        """
        groups = [as_rows(_on_host(ids), f"references[{number}]") for number, ids in enumerate(references)]
        pack_references(groups, self.end_of_sentence)  # for its checks
        most = max(map(len, groups), default=0)
        width = max((group.shape[1] for group in groups), default=0)
        ids = np.full((len(groups), most, width), -1, dtype=np.int64)
        for image, group in enumerate(groups):
            ids[image, : len(group), : group.shape[1]] = group
        together = max(_ROWS // max(most, 1), 1)
        parts = [
            self._encode(torch.from_numpy(ids[start : start + together]).to(self.device))
            for start in range(0, max(len(ids), 1), together)
        ]
        words, counts, weights, lengths = (torch.cat(each) for each in zip(*parts, strict=True))
        sizes = torch.tensor([len(group) for group in groups], dtype=torch.float64, device=self.device)
        return ReferenceTensors(words, counts, weights, lengths, 10.0 / (self.n * sizes))

    def _encode(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Words, counts, weights and lengths of (B, R, T) references."""
        images, references, places = ids.shape
        words, lengths = _ended(ids.flatten(0, 1), self.end_of_sentence, _NO_REFERENCE_WORD)  # (B·R, T)
        counts, weights = [], []
        for count, square in self._counted(words, lengths):  # (B·R, T − k)
            norm = (count * square).sum(1, keepdim=True).sqrt()  # (B·R, 1)
            missing = (0, places - count.shape[1])
            counts.append(torch.nn.functional.pad(count, missing))
            weights.append(torch.nn.functional.pad(torch.where(norm > 0, square / norm, 0.0), missing))

        def by_image(orders: list[Tensor]) -> Tensor:
            stacked = torch.stack(orders, 1).view(images, references, self.n, places)
            return stacked.transpose(1, 2).flatten(2)  # (B, n, C)

        return (
            words.view(images, references * places).int(),
            by_image(counts).short(),
            by_image(weights).float(),
            (lengths - 1).clamp(min=0).view(images, references).float(),
        )

    @torch.no_grad()
    def __call__(self, sampled: Tensor, references: ReferenceTensors | Sequence[TokenIds] | Sequence[Tensor]) -> Tensor:
        """Rewards of the samples, without waiting for the device.

        Args:
            sampled: (N, T) ids on the device, padded after the end of sentence.
            references: of B images, N = k · B, with the k samples of an image in consecutive rows: the result of
                [`encode`][sacrecap.rewards.device.TensorCiderDReward.encode], or arrays, which each call encodes.

        Returns:
            (N,) float32 on the device: CIDEr-D to a relative 1e-6.

        Raises:
            DataError: wrong shapes, types or devices, or N is not a multiple of the number of images.
        """
        encoded = references if isinstance(references, ReferenceTensors) else self.encode(references)
        self._check(sampled, encoded)
        samples, places = sampled.shape
        images, several = len(encoded), samples // len(encoded)
        words, lengths = _ended(sampled, self.end_of_sentence, _NO_WORD)  # (N, T), (N,)
        norms = [(count * square).sum(1).sqrt() for count, square in self._counted(words, lengths)]  # each (N,)
        by_image = words.view(images, several, places).int()  # (B, k, T)
        same = by_image[:, :, :, None] == encoded.words[:, None, None, :]  # (B, k, T, C)
        matches = same
        sums = torch.zeros(1, dtype=torch.float64, device=words.device)
        for k in range(self.n):
            if k:
                matches = matches[:, :, :-1, :-1] & same[:, :, k:, k:]  # (B, k, T − k, C − k)
            found = matches.sum(2, dtype=torch.int16)  # (B, k, C − k): counts in the sample
            left = found.shape[2]
            clipped = torch.minimum(found, encoded.counts[:, None, k, :left])
            terms = clipped * encoded.weights[:, None, k, :left].double()
            dots = _over_references(terms, encoded.lengths.shape[1], encoded.words.shape[1])  # (B, k, R)
            norm = norms[k].view(images, several, 1)
            sums = sums + torch.where(norm > 0, dots / norm, 0.0)
        length = (lengths - 1).clamp(min=0).view(images, several, 1)  # (B, k, 1)
        deviations = (length - encoded.lengths[:, None, :]).double() / self.sigma
        rewards = (sums * (-deviations * deviations / 2).exp()).sum(2) * encoded.share[:, None]  # (B, k)
        return rewards.float().view(samples)

    def _counted(self, words: Tensor, lengths: Tensor) -> list[tuple[Tensor, Tensor]]:
        """For each order, (M, T − k) counts of the n-gram at each position of (M, T) captions, and its idf² (or 0)."""
        places = torch.arange(words.shape[1], device=words.device)
        same = words[:, :, None] == words[:, None, :]  # (M, T, T)
        matches, known = same, self._trie.known(words)
        numbers = torch.zeros_like(words)
        found = []
        for k in range(self.n):
            left = max(words.shape[1] - k, 0)
            if k:
                matches = matches[:, :-1, :-1] & same[:, k:, k:]  # (M, T − k, T − k)
            numbers, square = self._trie.look_up(k, numbers[:, :left], known[:, k:])  # (M, T − k)
            is_ngram = places[k:] < lengths[:, None]  # its last word is one
            found.append((matches.sum(2), torch.where(is_ngram, square, 0.0)))
        return found

    def _check(self, sampled: object, encoded: ReferenceTensors) -> None:
        expected = "sampled: expected a tensor of whole numbers of shape (rows, length), got"
        if not isinstance(sampled, Tensor):
            raise DataError(f"{expected} {type(sampled)}")
        if sampled.dim() != 2 or sampled.dtype == torch.bool or sampled.is_floating_point():
            raise DataError(f"{expected} {sampled.dtype} of shape {tuple(sampled.shape)}")
        own = self._trie.squares[0].device  # with its number, which `cuda` alone does not say
        if not sampled.device == encoded.words.device == own:
            raise DataError(
                f"the reward is on {own}, the samples are on {sampled.device} and the references on "
                f"{encoded.words.device}; put all on one device"
            )
        check_whole_groups(len(sampled), len(encoded))


class _Trie(NamedTuple):
    """IDF of n-grams, by the index of their first (n − 1)-gram and their last word.

    An n-gram that was never counted has an index too, one above the others, and so has an unknown word: n-grams that
    begin or end with it are never found, and need no special case.
    """

    unknown: int
    """The number of unknown words: one above the largest id."""
    keys: tuple[Tensor, ...]
    """Keys of each order, sorted, with an unused key at the end; the position of a key is the index of the n-gram."""
    squares: tuple[Tensor, ...]
    """idf² of each n-gram by index, for each order."""

    @classmethod
    def of(cls, frequency: DocumentFrequency, n: int, device: torch.device) -> _Trie:
        log_documents = float(np.log(frequency.documents))
        span, keys, squares = 1, [], []
        sorted_keys: list[np.ndarray] = []
        for order in range(1, n + 1):
            ids, counts = (np.frombuffer(each, dtype="<u4") for each in frequency._core.token_id_counts(order))
            ngrams = ids.reshape(-1, order).astype(np.int64)
            if order == 1:
                span = int(ngrams.max(initial=0)) + 2  # the largest id, and unknown words
            if counts.max(initial=0) > frequency.documents:
                raise DataError(f"document frequencies {frequency.source}: a count is above the number of documents")
            own = _numbers(ngrams[:, :-1], sorted_keys, span, frequency.source) * span + ngrams[:, -1]
            places = np.argsort(own)
            sorted_keys.append(own[places])
            keys.append(torch.from_numpy(np.append(own[places], np.iinfo(np.int64).max)).to(device))
            idf = log_documents - np.log(np.maximum(np.append(counts[places], 1), 1))
            squares.append(torch.from_numpy(idf * idf).to(device))
        return cls(span - 1, tuple(keys), tuple(squares))

    def known(self, words: Tensor) -> Tensor:
        """The words, with `unknown` for those that no n-gram has."""
        return torch.where((words >= 0) & (words < self.unknown), words, self.unknown)

    def look_up(self, k: int, beginnings: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """Indices of n-grams of order k + 1, and their idf².

        `beginnings`: numbers of all their words but the last, 0 if they are not an n-gram; `last`: as `known`.
        """
        key = beginnings * (self.unknown + 1) + last
        place = torch.searchsorted(self.keys[k], key)
        number = torch.where(self.keys[k][place] == key, place, len(self.keys[k]) - 1)
        return number, self.squares[k][number]


def _numbers(ngrams: np.ndarray, keys: list[np.ndarray], span: int, source: str) -> np.ndarray:
    """(M,) indices of (M, order) n-grams that the trie has already."""
    numbers = np.zeros(len(ngrams), dtype=np.int64)
    for order in range(ngrams.shape[1]):
        wanted = numbers * span + ngrams[:, order]
        numbers = np.searchsorted(keys[order], wanted)
        if len(wanted) and (wanted.max() > keys[order].max(initial=-1) or (keys[order][numbers] != wanted).any()):
            raise DataError(f"document frequencies {source}: an n-gram is counted, but its beginning is not")
    return numbers


def _ended(ids: Tensor, end_of_sentence: int | None, padding: int) -> tuple[Tensor, Tensor]:
    """(M, T) int64 ids up to their ends, `padding` after them, and (M,) their numbers."""
    ids = ids.long()
    over = (ids < 0).cumsum(1) > 0
    if end_of_sentence is not None:
        ends = ids == end_of_sentence
        over = over | (ends.cumsum(1) - ends.long() > 0)  # the end itself is a word
    return ids.masked_fill(over, padding), (~over).sum(1)


def _over_references(terms: Tensor, references: int, places: int) -> Tensor:
    """(B, k, R) sums over the positions of each reference; `terms`: (B, k, ≤ C), missing ones at the end are 0."""
    filled = torch.nn.functional.pad(terms, (0, places - terms.shape[2]))
    return filled.view(*terms.shape[:2], references, places // max(references, 1)).sum(3)


def _on_host(ids: TokenIds | Tensor) -> TokenIds:
    return ids.cpu().numpy() if isinstance(ids, Tensor) else ids
