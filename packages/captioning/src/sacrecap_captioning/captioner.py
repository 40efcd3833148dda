"""Words and their ids; the base of all captioners: a state from image features, and a step from word to word.

Id 0 ends a caption, comes before its first word, and is the padding after an end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from sacrecap.errors import DataError

END = 0
"""Ends a caption, begins it (the word before the first), and pads."""
UNKNOWN = 1
"""Any word that is not in the vocabulary."""

_SPECIAL = ("<end>", "<unknown>")


@dataclass(frozen=True)
class Vocabulary:
    """Words of a captioner, by id.

    Attributes:
        words: word of each id; the first two are `<end>` and `<unknown>`.
    """

    words: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.words[:2] != _SPECIAL:
            raise DataError(f"a vocabulary begins with {', '.join(_SPECIAL)}, got {list(self.words[:2])}")
        if len(set(self.words)) != len(self.words):
            twice = [word for word, count in Counter(self.words).items() if count > 1]
            raise DataError(f"a vocabulary has each word once, got {twice[:5]} twice")
        object.__setattr__(self, "_ids", {word: number for number, word in enumerate(self.words)})

    @classmethod
    def build(cls, captions: Iterable[Sequence[str]], *, least: int = 5) -> Vocabulary:
        """The words that occur at least `least` times in tokenised captions, commonest first."""
        counts = Counter(word for caption in captions for word in caption)
        frequent = sorted((word for word, count in counts.items() if count >= least), key=lambda w: (-counts[w], w))
        return cls((*_SPECIAL, *frequent))

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, tokens: Sequence[str], limit: int) -> list[int]:
        """Ids of at most `limit` tokens, and the end after them."""
        return [*(self._ids.get(token, UNKNOWN) for token in tokens[:limit]), END]

    def text(self, ids: Iterable[int]) -> str:
        """The words before the first end, joined by blanks."""
        words = []
        for number in ids:
            if number == END:
                break
            words.append(self.words[number])
        return " ".join(words)


State: TypeAlias = tuple[Tensor, ...]
"""The state of a captioner between words: tensors of B rows each, so that rows can be selected and repeated."""


class Features(NamedTuple):
    """Features of B images."""

    pooled: Tensor
    """(B, D): the whole image."""
    grid: Tensor
    """(B, R, D): its regions."""
    objects: Tensor | None = None
    """(B, K): 1 for each object class that is in the image; known in training only, and of some data sets only."""

    def rows(self, numbers: Tensor) -> Features:
        """The features of these rows, in this order, repeats allowed."""
        return self._each(lambda tensor: tensor[numbers])

    def repeated(self, times: int) -> Features:
        """Each image `times` times, in consecutive rows."""
        return self._each(lambda tensor: tensor.repeat_interleave(times, 0))

    def to(self, device: torch.device) -> Features:
        """The same on a device."""
        return self._each(lambda tensor: tensor.to(device))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Features:
        objects = None if self.objects is None else change(self.objects)
        return Features(change(self.pooled), change(self.grid), objects)


@dataclass(frozen=True)
class Sizes:
    """Sizes of a captioner's layers."""

    vocabulary: int
    feature: int
    hidden: int = 512
    embedding: int = 512
    attention: int = 512
    latent: int = 64
    """Size of a latent vector."""
    objects: int = 0
    """Object classes of the data set: K."""
    dropout: float = 0.0
    """Share of what the word layer sees that is left out while training."""


class ModelLoss(NamedTuple):
    """What a captioner minimises without a reward."""

    total: Tensor
    """(): cross-entropy, and the terms of the model beside it."""
    entropy: Tensor
    """(): cross-entropy alone, per word: the same figure for every model."""


class Captioner(nn.Module, ABC):
    """Image features to words. A subclass is one idea: how the image enters, and what a step looks at."""

    name: ClassVar[str]
    """The name on the command line: `fc`, `att2in`."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.dropout = nn.Dropout(sizes.dropout)
        self.embed = nn.Embedding(sizes.vocabulary, sizes.embedding)

    @abstractmethod
    def begin(self, features: Features) -> State:
        """The state before the first word. A captioner with a latent vector draws it here, from its prior."""

    def zeros(self, rows: Tensor) -> Tensor:
        """(B, H) zeros, for rows as many, of that type and on that device."""
        return rows.new_zeros(len(rows), self.sizes.hidden)

    @abstractmethod
    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """(B,) previous words, END before the first -> (B, V) logits of the next, and the state after it."""

    def forward(self, features: Features, captions: Tensor) -> Tensor:
        """(B, T, V) logits of each word of (B, T) captions, given the words before it (teacher forcing)."""
        return self.unrolled(self.begin(features), captions)

    def unrolled(self, state: State, captions: Tensor) -> Tensor:
        """(B, T, V) logits from a state on, given the words of (B, T) captions."""
        previous = torch.cat([torch.full_like(captions[:, :1], END), captions[:, :-1]], 1)  # (B, T)
        logits = []
        for words in previous.unbind(1):
            each, state = self.step(words, state)
            logits.append(each)
        return torch.stack(logits, 1)

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """The loss of training without a reward: cross-entropy per word, and the terms of a subclass."""
        entropy = cross_entropy(self(features, captions), captions)
        return ModelLoss(entropy, entropy)


def lstm_cell(read: int, hidden: int) -> nn.LSTMCell:
    """An LSTM whose forget gates begin open: Jozefowicz, Zaremba, Sutskever (ICML 2015), section 3.1."""
    cell = nn.LSTMCell(read, hidden)
    with torch.no_grad():
        cell.bias_hh[hidden : 2 * hidden] = 1.0  # the gates stand in the order i, f, g, o
    return cell


class MaxoutCell(nn.Module):
    """The LSTM of Rennie et al. (CVPR 2017): the larger of two candidates enters the memory.

    c_t = i·max(z₁, z₂) + f·c_{t−1} and h_t = o·tanh(c_t), where gates and candidates are linear in what they read.

    Args:
        gates: size of what the gates read.
        candidates: size of what the candidates read.
        hidden: size of state and memory.
    """

    def __init__(self, gates: int, candidates: int, hidden: int) -> None:
        super().__init__()
        self.gates = nn.Linear(gates, 3 * hidden)
        self.candidates = nn.Linear(candidates, 2 * hidden)

    def forward(self, gates: Tensor, candidates: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(B, H) state and memory, from what gates and candidates read and the (B, H) memory before."""
        enter, forget, leave = self.gates(gates).sigmoid().chunk(3, 1)  # (B, H) each
        one, other = self.candidates(candidates).chunk(2, 1)  # (B, H) each
        memory = enter * torch.maximum(one, other) + forget * memory
        return leave * memory.tanh(), memory


def until_end(captions: Tensor) -> Tensor:
    """(B, T) bool: the words of each caption, its first end included, what pads it not."""
    ended = (captions == END).cumsum(1)
    return (ended == 0) | ((ended == 1) & (captions == END))


def cross_entropy(logits: Tensor, captions: Tensor) -> Tensor:
    """Mean negative log-likelihood of the words of (B, T) captions under (B, T, V) logits; padding does not count."""
    counted = until_end(captions)
    return nn.functional.cross_entropy(logits[counted], captions[counted])
