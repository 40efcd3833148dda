"""Captioners that attend: which regions of the image a state of the LSTM asks for, before each word."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.captioner import Captioner, Features, MaxoutCell, Sizes, State, lstm_cell


class AdditiveAttention(nn.Module):
    """α_i ∝ exp(w · tanh(W_v v_i + W_h h)); the context is Σ α_i v_i.

    Bahdanau, Cho, Bengio, *Neural machine translation by jointly learning to align and translate* (ICLR 2015); over
    images Xu et al. (ICML 2015), eq. 4–6.
    """

    def __init__(self, region: int, hidden: int, attention: int) -> None:
        super().__init__()
        self.key = nn.Linear(region, attention)
        self.query = nn.Linear(hidden, attention, bias=False)
        self.score = nn.Linear(attention, 1, bias=False)

    def keys(self, grid: Tensor) -> Tensor:
        """(B, R, A) W_v v_i of (B, R, D) regions: the same for every word, so computed once."""
        keys: Tensor = self.key(grid)
        return keys

    def scores(self, hidden: Tensor, keys: Tensor) -> Tensor:
        """(B, R): how much each region is asked for, before the softmax."""
        scores: Tensor = self.score((keys + self.query(hidden)[:, None]).tanh()).squeeze(2)
        return scores

    def forward(self, hidden: Tensor, keys: Tensor, grid: Tensor) -> Tensor:
        """(B, D) context of (B, H) states among (B, R, D) regions."""
        weights = self.scores(hidden, keys).softmax(1)  # (B, R)
        return (weights[:, :, None] * grid).sum(1)


class SoftAtt(Captioner):
    """Before each word the LSTM reads the regions: x_t = [word; β·context]; deep output of word, state and context.

    Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel, Bengio, *Show, attend and tell* (ICML 2015), sections 3.1, 4.2.

    | point | paper | here |
    | --- | --- | --- |
    | attention summing to 1 over the words (eq. 14) | a term of the loss | left out |
    """

    name: ClassVar[str] = "softatt"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.hidden = nn.Linear(sizes.feature, sizes.hidden)
        self.memory = nn.Linear(sizes.feature, sizes.hidden)
        self.attention = AdditiveAttention(sizes.feature, sizes.hidden, sizes.attention)
        self.gate = nn.Linear(sizes.hidden, 1)
        self.cell = lstm_cell(sizes.embedding + sizes.feature, sizes.hidden)
        self.from_hidden = nn.Linear(sizes.hidden, sizes.embedding)
        self.from_context = nn.Linear(sizes.feature, sizes.embedding, bias=False)
        self.word = nn.Linear(sizes.embedding, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """The mean region as the LSTM's state, and the regions."""
        hidden, memory = self.hidden(features.pooled).tanh(), self.memory(features.pooled).tanh()  # (B, H)
        return hidden, memory, features.grid, self.attention.keys(features.grid)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One word further."""
        hidden, memory, grid, keys = state  # (B, H), (B, H), (B, R, D), (B, R, A)
        embedded = self.embed(words)  # (B, E)
        context = self.gate(hidden).sigmoid() * self.attention(hidden, keys, grid)  # (B, D)
        hidden, memory = self.cell(torch.cat([embedded, context], 1), (hidden, memory))
        output = embedded + self.from_hidden(self.dropout(hidden)) + self.from_context(context)  # (B, E)
        return self.word(output), (hidden, memory, grid, keys)


class Att2in(Captioner):
    """The regions enter the memory only, not the gates: c_t = i·max(W_z x + W_h h + W_I I_t) + f·c_{t−1}.

    Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), sec. 2.
    """

    name: ClassVar[str] = "att2in"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.attention = AdditiveAttention(sizes.feature, sizes.hidden, sizes.attention)
        read = sizes.embedding + sizes.hidden
        self.cell = MaxoutCell(read, read + sizes.feature, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """An empty LSTM, and the regions."""
        zeros = self.zeros(features.pooled)
        return zeros, zeros, features.grid, self.attention.keys(features.grid)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One word further."""
        hidden, memory, grid, keys = state  # (B, H), (B, H), (B, R, D), (B, R, A)
        context = self.attention(hidden, keys, grid)  # (B, D): I_t
        read = torch.cat([self.embed(words), hidden], 1)  # (B, E + H)
        hidden, memory = self.cell(read, torch.cat([read, context], 1), memory)
        return self.word(self.dropout(hidden)), (hidden, memory, grid, keys)


class AdapAtt(Captioner):
    """A sentinel, what the LSTM knows without looking, competes with the regions: ĉ = β·sentinel + (1 − β)·context.

    β is the attention that the sentinel gets. Lu, Xiong, Parikh, Socher, *Knowing when to look: adaptive attention via
    a visual sentinel for image captioning* (CVPR 2017), sections 2.2 and 2.3.
    """

    name: ClassVar[str] = "adapatt"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        read = sizes.embedding + sizes.hidden
        self.region = nn.Linear(sizes.feature, sizes.hidden)
        self.image = nn.Linear(sizes.feature, sizes.hidden)
        self.cell = lstm_cell(read, sizes.hidden)
        self.sentinel = nn.Linear(read + sizes.hidden, sizes.hidden)
        self.attention = AdditiveAttention(sizes.hidden, sizes.hidden, sizes.attention)
        self.sentinel_key = nn.Linear(sizes.hidden, sizes.attention)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """An empty LSTM, the image, and its regions."""
        regions = self.region(features.grid).relu()  # (B, R, H)
        zeros = self.zeros(features.pooled)
        return zeros, zeros, self.image(features.pooled).relu(), regions, self.attention.keys(regions)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One word further."""
        before, memory, image, regions, keys = state  # (B, H), (B, H), (B, H), (B, R, H), (B, R, A)
        read = torch.cat([self.embed(words), image], 1)  # (B, E + H): x_t
        hidden, memory = self.cell(read, (before, memory))
        sentinel = self.sentinel(torch.cat([read, before], 1)).sigmoid() * memory.tanh()  # (B, H): s_t
        # The sentinel is one more region, with a key of its own.
        asked = torch.cat([keys, self.sentinel_key(sentinel)[:, None]], 1)  # (B, R + 1, A)
        context = self.attention(hidden, asked, torch.cat([regions, sentinel[:, None]], 1))  # (B, H): ĉ_t
        return self.word(self.dropout(context + hidden)), (hidden, memory, image, regions, keys)
