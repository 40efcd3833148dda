"""Words out of a captioner: greedy and sampled."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from capeval.captioning.models.base import Captioner, Features, State
from capeval.captioning.vocabulary import END


class Decoded(NamedTuple):
    """Captions in ids, padded after their end, and how likely each word was."""

    words: Tensor
    """(N, T) int64."""
    log_probs: Tensor
    """(N, T): log-probability of each word, 0 after the end; gradients flow where they are on."""


def greedy(model: Captioner, features: Features, *, limit: int) -> Decoded:
    """The likeliest word at every step: (B, T) with T ≤ limit."""
    return _decode(model, model.begin(features), limit, lambda log_probs: log_probs.argmax(1))


def sample(
    model: Captioner,
    features: Features,
    *,
    limit: int,
    samples: int = 1,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Decoded:
    """`samples` captions an image, in consecutive rows, each word drawn from the model's distribution."""

    def draw(log_probs: Tensor) -> Tensor:
        return torch.multinomial((log_probs / temperature).softmax(1), 1, generator=generator).squeeze(1)

    return _decode(model, model.begin(features.repeated(samples)), limit, draw)


def _decode(model: Captioner, state: State, limit: int, choose: Callable[[Tensor], Tensor]) -> Decoded:
    words = torch.full((len(state[0]),), END, device=state[0].device)
    running = torch.ones_like(words, dtype=torch.bool)
    chosen, likely = [], []
    for _ in range(limit):
        logits, state = model.step(words, state)
        log_probs = logits.log_softmax(1)  # (N, V)
        words = torch.where(running, choose(log_probs), END)
        chosen.append(words)
        likely.append(torch.where(running, log_probs.gather(1, words[:, None]).squeeze(1), 0.0))
        running = running & (words != END)
        if not running.any():
            break
    return Decoded(torch.stack(chosen, 1), torch.stack(likely, 1))
