"""NIC: the image is the state that the LSTM starts in.

Vinyals, Toshev, Bengio, Erhan, *Show and tell: a neural image caption generator* (CVPR 2015), section 3.

| point | paper | here |
| --- | --- | --- |
| where the image enters | as the word before the first | as the LSTM's first state; as a word it enters in `fc` |
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from sacrecap_captioning.models.base import Captioner, Features, Sizes, State, lstm_cell


class NIC(Captioner):
    """Neural image caption: (h₀, c₀) = W·image, then a plain LSTM over words."""

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
