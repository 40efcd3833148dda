"""Att2in: the regions that the state asks for enter the LSTM's memory only, not its gates.

Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), section 2.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.attention import AdditiveAttention
from sacrecap_captioning.models.base import Captioner, Features, MaxoutCell, Sizes, State


class Att2in(Captioner):
    """Attention to input: c_t = i·max(W_z x + W_h h + W_I I_t) + f·c_{t−1}, a maximum over two candidates."""

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
