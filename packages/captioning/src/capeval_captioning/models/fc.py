"""FC: the image is the first word that the LSTM reads.

Rennie, Marcheret, Mroueh, Ross, Goel, *Self-critical sequence training for image captioning* (CVPR 2017), section 2.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from capeval_captioning.models.base import Captioner, Features, Sizes, State, lstm_cell


class FC(Captioner):
    """Fully connected: x₋₁ = W·image, then a plain LSTM over words."""

    name: ClassVar[str] = "fc"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.image = nn.Linear(sizes.feature, sizes.embedding)
        self.cell = lstm_cell(sizes.embedding, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    def begin(self, features: Features) -> State:
        """The LSTM's state after it has read the image."""
        pixels = self.image(features.pooled)  # (B, E)
        zeros = self.zeros(pixels)
        return tuple(self.cell(pixels, (zeros, zeros)))  # (B, H), (B, H)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One word further."""
        hidden, cell = self.cell(self.embed(words), state)  # (B, H)
        return self.word(self.dropout(hidden)), (hidden, cell)
