"""Captioners with a latent vector: what is said of an image depends on a draw, so that ten draws are a caption set."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from sacrecap_captioning.models.base import Captioner, Features, Sizes, State, lstm_cell, until_end


class LatentCaptioner(Captioner):
    """An LSTM that reads the image with a latent vector z first, and z again beside each word."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.image = nn.Linear(sizes.feature, sizes.embedding)
        self.cell = lstm_cell(sizes.embedding + sizes.latent, sizes.hidden)
        self.word = nn.Linear(sizes.hidden, sizes.vocabulary)

    @abstractmethod
    def draw(
        self, features: Features, spread: float | Tensor = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """(B, Z) latent vectors from the prior, whose deviation is multiplied by `spread`: a number or (B, 1)."""

    def begin(self, features: Features, latent: Tensor | None = None) -> State:
        """The LSTM's state after the image, with these (B, Z) latent vectors; by default drawn from the prior."""
        latent = self.draw(features) if latent is None else latent
        pixels = self.image(features.pooled)  # (B, E)
        zeros = self.zeros(pixels)
        hidden, memory = self.cell(torch.cat([pixels, latent], 1), (zeros, zeros))
        return hidden, memory, latent  # (B, H), (B, H), (B, Z)

    def step(self, words: Tensor, state: State) -> tuple[Tensor, State]:
        """One word further."""
        hidden, memory, latent = state
        hidden, memory = self.cell(torch.cat([self.embed(words), latent], 1), (hidden, memory))
        return self.word(self.dropout(hidden)), (hidden, memory, latent)


class CaptionReader(nn.Module):
    """A caption as one vector: an LSTM's state after the caption's end."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.embed = nn.Embedding(sizes.vocabulary, sizes.embedding)
        self.read = nn.LSTM(sizes.embedding, sizes.hidden, batch_first=True)

    def forward(self, captions: Tensor) -> Tensor:
        """(B, H) of (B, T) captions."""
        states, _ = self.read(self.embed(captions))  # (B, T, H)
        last = until_end(captions).sum(1) - 1  # (B,)
        ends: Tensor = states[torch.arange(len(captions), device=captions.device), last]
        return ends


def standard_normal(rows: Tensor, size: int, generator: torch.Generator | None) -> Tensor:
    """(B, Z) of N(0, 1), for rows as many, of that type and on that device."""
    return torch.randn(len(rows), size, generator=generator, dtype=rows.dtype, device=rows.device)
