"""AdapAtt: a sentinel, what the LSTM knows without looking, competes with the regions for attention.

Lu, Xiong, Parikh, Socher, *Knowing when to look: adaptive attention via a visual sentinel for image captioning*
(CVPR 2017), sections 2.2 and 2.3.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.attention import AdditiveAttention
from sacrecap_captioning.models.base import Captioner, Features, Sizes, State, lstm_cell


class AdapAtt(Captioner):
    """Adaptive attention: ĉ = β·sentinel + (1 − β)·context, where β is the attention that the sentinel gets."""

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
