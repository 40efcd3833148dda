"""Words and their ids; the base of all captioners: a state from image features, and a step from word to word; and
captions from these steps: greedy, sampled, by beam and diverse beam search.

Id 0 ends a caption, comes before its first word, and is the padding after an end. Only `sample` draws random numbers:
it takes the numbers that decide. The same numbers give the same captions, whatever else is in the
batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from sacrecap.errors import DataError, UsageError

END = 0
"""Ends a caption, begins it (the word before the first), and pads."""
UNKNOWN = 1
"""Any word that is not in the vocabulary."""

_SPECIAL = ("<end>", "<unknown>")


@dataclass(frozen=True)
class Vocabulary:
    """Words of a captioner, by id."""

    words: tuple[str, ...]
    """The first two are `<end>` and `<unknown>`."""
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
        return self._changed(lambda tensor: tensor[numbers])

    def repeated(self, times: int) -> Features:
        """Each image `times` times, in consecutive rows."""
        return self._changed(lambda tensor: tensor.repeat_interleave(times, 0))

    def to(self, device: torch.device) -> Features:
        """The same on a device."""
        return self._changed(lambda tensor: tensor.to(device))

    def _changed(self, change: Callable[[Tensor], Tensor]) -> Features:
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

    def __init_subclass__(cls, name: str = "") -> None:
        super().__init_subclass__()
        if name:
            cls.name = name

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
            logits_of_word, state = self.step(words, state)
            logits.append(logits_of_word)
        return torch.stack(logits, 1)

    def loss(self, features: Features, captions: Tensor) -> ModelLoss:
        """The loss of training without a reward: cross-entropy per word, and the terms of a subclass."""
        entropy = cross_entropy(self(features, captions), captions)
        return ModelLoss(entropy, entropy)


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """In the block the module does not train: no dropout, no statistics of batches."""
    training = module.training
    module.eval()
    yield
    module.train(training)


def lstm_cell(read: int, hidden: int) -> nn.LSTMCell:
    """An LSTM whose forget gates begin open: Jozefowicz, Zaremba, Sutskever (ICML 2015), section 3.1."""
    cell = nn.LSTMCell(read, hidden)
    with torch.no_grad():
        cell.bias_hh[hidden : 2 * hidden] = 1.0  # the gates stand in the order i, f, g, o
    return cell


class MaxoutCell(nn.Module):
    """The LSTM of Rennie et al. (CVPR 2017): the larger of two candidates enters the memory.

    c_t = i·max(z₁, z₂) + f·c_{t−1} and h_t = o·tanh(c_t), where gates and candidates are linear in what they read.
    """

    def __init__(self, gates: int, candidates: int, hidden: int) -> None:
        super().__init__()
        self.gates = nn.Linear(gates, 3 * hidden)
        self.candidates = nn.Linear(candidates, 2 * hidden)

    def forward(self, gates: Tensor, candidates: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(B, H) state and memory, from what gates and candidates read and the (B, H) memory before."""
        enter, forget, leave = self.gates(gates).sigmoid().chunk(3, 1)  # (B, H) each
        first, second = self.candidates(candidates).chunk(2, 1)  # (B, H) each
        memory = enter * torch.maximum(first, second) + forget * memory
        return leave * memory.tanh(), memory


def until_end(captions: Tensor) -> Tensor:
    """(B, T) bool: the words of each caption, its first end included, what pads it not."""
    ended = (captions == END).cumsum(1)
    return (ended == 0) | ((ended == 1) & (captions == END))


def at_last_word(states: Tensor, captions: Tensor) -> Tensor:
    """(B, H): of (B, T, H) states those at each caption's end, or at the last word of one that was cut."""
    return states[torch.arange(len(captions), device=captions.device), until_end(captions).sum(1) - 1]


def cross_entropy(logits: Tensor, captions: Tensor) -> Tensor:
    """Mean negative log-likelihood of the words of (B, T) captions under (B, T, V) logits; padding does not count."""
    counted = until_end(captions)
    return nn.functional.cross_entropy(logits[counted], captions[counted])


@dataclass(frozen=True)
class Sampling:
    """How a word is drawn from the model's distribution; as it is, by default."""

    temperature: float = 1.0
    """Divides the logits; below 1 the likely become likelier."""
    top_k: int = 0
    """Draw among that many likeliest words; 0 for all (Fan et al. 2018)."""
    nucleus: float = 1.0
    """Draw among the fewest likeliest words whose probabilities reach this (Holtzman et al. 2020)."""

    def choose(self, log_probs: Tensor, chance: Tensor) -> Tensor:
        """(N,) words drawn from (N, V) log-probabilities; (N,) chances decide."""
        likelihood = (log_probs.detach() / self.temperature).softmax(1, dtype=torch.float64)
        return drawn(self.narrowed(likelihood), chance)

    def narrowed(self, likelihood: Tensor) -> Tensor:
        """(N, V) likelihoods in which all but the `top_k` likeliest, and what the nucleus leaves out, are 0."""
        if not self.top_k and self.nucleus >= 1:
            return likelihood
        ordered, words = likelihood.sort(dim=1, descending=True, stable=True)  # (N, V)
        dropped = ordered.cumsum(1) - ordered >= self.nucleus * ordered.sum(1, keepdim=True)
        if self.top_k:
            dropped[:, self.top_k :] = True
        dropped[:, 0] = False
        return torch.zeros_like(likelihood).scatter(1, words, ordered.masked_fill(dropped, 0.0))


PLAIN = Sampling()


Step: TypeAlias = Callable[[Tensor, State], tuple[Tensor, State]]
"""From word to word: `Captioner.step`, or one that leaves some words out."""


class Decoded(NamedTuple):
    """Captions in ids, padded after their end, and how likely each word was."""

    words: Tensor
    """(N, T) int64."""
    log_probs: Tensor
    """(N, T): log-probability of each word, 0 after the end; gradients flow where they are on."""


def greedy(step: Step, state: State, *, limit: int) -> Decoded:
    """The likeliest word at every step: (B, T) with T ≤ limit."""
    return _decode(step, state, limit, lambda log_probs, _: log_probs.argmax(1))


def sample(
    step: Step, state: State, *, limit: int, sampling: Sampling = PLAIN, chance: Tensor | None = None
) -> Decoded:
    """A caption for each of the N rows of a state, each word drawn from the model's distribution.

    `chance`: (N, limit) uniform numbers in [0, 1), which decide each word; by default drawn from torch's generator.
    """
    if chance is None:
        chance = torch.rand(len(state[0]), limit, device=state[0].device)
    return _decode(step, state, limit, lambda log_probs, place: sampling.choose(log_probs, chance[:, place]))


def drawn(likelihood: Tensor, chance: Tensor) -> Tensor:
    """(N,) words: of each row of (N, V) likelihoods in float64, the first whose running sum passes its chance (N,)."""
    running = likelihood.cumsum(1)  # (N, V)
    # Chances are below 1 even when rounded: they have 24 bits, these sums have 53. So some word always passes.
    word = torch.searchsorted(running, chance.double()[:, None] * running[:, -1:], right=True).squeeze(1)
    return word.clamp(max=likelihood.shape[1] - 1)  # if likelihoods are NaN, any word: training reports it


def _decode(step: Step, state: State, limit: int, choose: Callable[[Tensor, int], Tensor]) -> Decoded:
    """Captions word by word, until all of them have ended."""
    words = torch.full((len(state[0]),), END, device=state[0].device)
    running = torch.ones_like(words, dtype=torch.bool)
    chosen, likely = [], []
    for place in range(limit):
        logits, state = step(words, state)
        log_probs = logits.log_softmax(1)  # (N, V)
        words = torch.where(running, choose(log_probs, place), END)
        chosen.append(words)
        likely.append(torch.where(running, log_probs.gather(1, words[:, None]).squeeze(1), 0.0))
        running = running & (words != END)
        if not running.any():
            break
    return Decoded(torch.stack(chosen, 1), torch.stack(likely, 1))


def beam(step: Step, state: State, *, limit: int, width: int, groups: int = 1, penalty: float = 0.5) -> Decoded:
    """`width` captions per row of a state, in consecutive rows, likeliest first: beam search, diverse with groups.

    Diverse beam search (Vijayakumar et al. 2018, algorithm 1): the beam is cut into groups; a group extends its
    captions after the groups before it, and at each step a word costs it `penalty` for each time that they have just
    used it (Hamming diversity). The penalty affects only the selection, not the likelihoods. A caption that has ended
    keeps its place while `width / groups` others are not likelier; one that `limit` cuts competes as it is. Captions
    of one group differ; two groups may find the same.

    Returns:
        (B·width, T) words and their log-probabilities.

    Raises:
        UsageError: `groups` do not divide `width`, or the vocabulary has fewer words than that.
    """
    if width < 1 or groups < 1 or width % groups:
        raise UsageError(f"the groups must divide the width of the beam, got width {width} and {groups} groups")
    images, device = len(state[0]), state[0].device
    state = tuple(part.repeat_interleave(width, 0) for part in state)
    first = torch.arange(images, device=device)[:, None] * width  # (B, 1) first row of each image
    words = torch.zeros(images * width, 0, dtype=torch.int64, device=device)
    likely = torch.zeros(images * width, 0, device=device)
    ended = torch.zeros(images, width, dtype=torch.bool, device=device)
    # All captions of a group begin equal, so only its first is extended in the first step.
    scores = torch.full((images, width), -torch.inf, device=device)
    scores[:, :: width // groups] = 0.0
    last = torch.full((images * width,), END, device=device)
    for _ in range(limit):
        logits, state = step(last, state)
        log_probs = logits.float().log_softmax(1).view(images, width, -1)  # (B, W, V)
        padding = torch.full_like(log_probs[0, 0], -torch.inf)  # a caption that has ended goes on with ends, at no cost
        padding[END] = 0.0
        log_probs = torch.where(ended[..., None], padding, log_probs)
        parents, chosen, scores = _extended(scores, log_probs, ended, groups, penalty)  # (B, W) each
        rows = (first + parents).flatten()
        last = chosen.flatten()
        gained = log_probs.flatten(0, 1)[rows].gather(1, last[:, None])
        words, likely = torch.cat([words[rows], last[:, None]], 1), torch.cat([likely[rows], gained], 1)
        state = tuple(part[rows] for part in state)
        ended = chosen == END
        if ended.all():
            break
    order = (first + scores.sort(dim=1, descending=True, stable=True).indices).flatten()
    return Decoded(words[order], likely[order])


def _extended(
    scores: Tensor, log_probs: Tensor, ended: Tensor, groups: int, penalty: float
) -> tuple[Tensor, Tensor, Tensor]:
    """(B, W) parents within the image, words and scores of the captions that stay, group after group."""
    images, width, vocabulary = log_probs.shape
    group_width = width // groups
    if vocabulary < group_width:
        raise UsageError(f"a beam of {group_width} needs that many words in the vocabulary, which has {vocabulary}")
    used = torch.zeros(images, vocabulary, device=scores.device)  # by earlier groups in this step
    parents, chosen, totals = [], [], []
    for start in range(0, width, group_width):
        part = slice(start, start + group_width)
        totalled = scores[:, part, None] + log_probs[:, part]  # (B, W/G, V)
        costs = penalty * torch.where(ended[:, part, None], 0.0, used[:, None])
        best = (totalled - costs).flatten(1).topk(group_width).indices  # (B, W/G)
        parent, word = start + best // vocabulary, best % vocabulary
        parents.append(parent)
        chosen.append(word)
        totals.append(totalled.flatten(1).gather(1, best))
        # The padding of a caption that has ended does not count as a used word.
        used = used.scatter_add(1, word, (~ended.gather(1, parent)).to(used))
    return torch.cat(parents, 1), torch.cat(chosen, 1), torch.cat(totals, 1)
