"""SoftAtt: before each word the LSTM reads the regions that its state asks for.

Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel, Bengio, *Show, attend and tell* (ICML 2015), sections 3.1 and 4.2.

| point | paper | here |
| --- | --- | --- |
| attention summing to 1 over the words (eq. 14) | a term of the loss | left out |
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.attention import AdditiveAttention
from sacrecap_captioning.models.base import Captioner, Features, Sizes, State, lstm_cell


class SoftAtt(Captioner):
    """Soft attention: x_t = [word; β·context], deep output of word, state and context."""

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
