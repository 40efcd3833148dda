"""Captioners that see the whole image once, before the first word."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.captioner import Captioner, Features, MaxoutCell, Sizes, State, lstm_cell


class NIC(Captioner):
    """The image is the state that a plain LSTM starts in: (h₀, c₀) = W·image.

    Vinyals, Toshev, Bengio, Erhan, *Show and tell: a neural image caption generator* (CVPR 2015), section 3.

    | point | paper | here |
    | --- | --- | --- |
    | where the image enters | as the word before the first | as the LSTM's first state; as a word it enters in `fc` |
    """

    name: ClassVar[str] = "nic"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.hidden = nn.Linear(sizes.feature, sizes.hidden)
        self.memory = nn.Linear(sizes.feature, sizes.hidden)
        self.cell = lstm_cell(sizes.embedding, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """The image as the LSTM's state."""
        return self.hidden(features.pooled).tanh(), self.memory(features.pooled)  # (B, H), (B, H)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One word further."""
        hidden, memory = self.cell(self.embed(words), state)  # (B, H)
        return self.word(self.dropout(hidden)), (hidden, memory)


class FC(Captioner):
    """The image is the first word, x₋₁ = W·image, of an LSTM whose memory is c_t = i·max(W_z x + W_h h) + f·c_{t−1}.

    Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), sec. 2,
    whose LSTM has a maximum over two candidates in place of the hyperbolic tangent, for FC as for Att2in.
    """

    name: ClassVar[str] = "fc"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.image = nn.Linear(sizes.feature, sizes.embedding)
        read = sizes.embedding + sizes.hidden
        self.cell = MaxoutCell(read, read, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """The LSTM's state after it has read the image."""
        pixels = self.image(features.pooled)  # (B, E)
        zeros = self.zeros(pixels)
        return self._read(pixels, (zeros, zeros))

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One word further."""
        hidden, memory = self._read(self.embed(words), state)
        return self.word(self.dropout(hidden)), (hidden, memory)

    def _read(self, vectors: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """(B, H) hidden state and memory after (B, E) vectors."""
        hidden, memory = state
        read = torch.cat([vectors, hidden], 1)  # (B, E + H)
        found: tuple[Tensor, Tensor] = self.cell(read, read, memory)
        return found
