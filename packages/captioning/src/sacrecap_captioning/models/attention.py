"""Additive attention: which regions of the image a state of the LSTM asks for.

Bahdanau, Cho, Bengio, *Neural machine translation by jointly learning to align and translate* (ICLR 2015); over images
Xu et al. (ICML 2015), eq. 4–6.
"""

from __future__ import annotations

from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    """α_i ∝ exp(w · tanh(W_v v_i + W_h h)); the context is Σ α_i v_i."""

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
