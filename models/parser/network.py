"""The network: words to tags, heads and relations.

Activations lie on a grid of 1/256 between 0 and LIMIT, so that the Rust parser computes with 16-bit integers. Training
uses floating-point numbers with the same limits; what rounding changes, evaluate.py shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from parser.features import BUCKETS

LIMIT = 8.0
EMBEDDING_STEP = 1 / 64
WINDOW = 2


@dataclass(frozen=True)
class Shape:
    """Sizes of the network. What a matrix reads has a multiple of 16 numbers, which the Rust parser insists on."""

    embedding: int = 64
    width: int = 160
    shifts: list[list[int]] = field(default_factory=lambda: [[1, 2], [1, 3], [1, 2], [1, 4]])
    message: int = 32
    centre: int = 64
    reach: int = 32
    arc: int = 64
    label: int = 48
    distance: int = 8


def on_grid(table: Tensor) -> Tensor:
    """Values rounded to 8 bits; gradients pass as if they were not."""
    rounded = torch.clamp(torch.round(table / EMBEDDING_STEP), -127, 127) * EMBEDDING_STEP
    return table + (rounded - table).detach()


def shifted(x: Tensor, by: int) -> Tensor:
    """Row t becomes row t + by of x (zeros outside)."""
    out = torch.zeros_like(x)
    if abs(by) < x.shape[1]:
        if by > 0:
            out[:, :-by] = x[:, by:]
        else:
            out[:, -by:] = x[:, :by]
    return out


def bucket_of_distance(length: int, reach: int) -> Tensor:
    """Row i, column j: bucket of the signed distance from word i to word j, 0 to 2 reach."""
    position = torch.arange(length)
    return torch.clamp(position[None, :] - position[:, None], -reach, reach) + reach


class Network(nn.Module):
    """Tags, arcs and relations of sentences of one length."""

    def __init__(self, shape: Shape, words: int, tags: int, relations: int) -> None:
        super().__init__()
        self.shape = shape
        self.words = words
        s = shape
        # Row 0 is nothing, rows 1 and 2 what stands before and behind the sentence.
        self.table = nn.Parameter(torch.randn(3 + words + BUCKETS, s.embedding) * 0.15)
        self.window = nn.Linear((2 * WINDOW + 1) * s.embedding, s.width)
        gathered = s.centre + 4 * s.message + 2 * s.reach
        layers = [nn.Linear(gathered, s.width) for _ in s.shifts]
        self.layers = nn.ModuleList(layers)
        self.tag = nn.Linear(s.width, tags)
        self.dependent = nn.Linear(s.width, s.arc)
        self.head = nn.Linear(s.width, s.arc + 1)
        self.root = nn.Parameter(torch.randn(s.arc + 1) * 0.1)
        self.distance = nn.Parameter(torch.randn(2 * s.distance + 1, s.arc) * 0.1)
        self.label_dependent = nn.Linear(s.width, s.label)
        self.label_head = nn.Linear(s.width, s.label, bias=False)
        self.label_root = nn.Parameter(torch.randn(s.label) * 0.1)
        self.label_distance = nn.Parameter(torch.randn(2 * s.distance + 1, s.label) * 0.1)
        self.label = nn.Linear(s.label, relations)
        for layer in layers:
            nn.init.normal_(layer.weight, std=0.7 / gathered**0.5)

    def embed(self, rows: Tensor) -> Tensor:
        """Vectors of words: the sums of their rows of the table. Batch, word, row -> batch, word, number."""
        batch, length, count = rows.shape
        flat = functional.embedding(rows.reshape(-1, count), on_grid(self.table), padding_idx=0).sum(1)
        return flat.view(batch, length, -1)

    def encode(self, rows: Tensor) -> Tensor:
        """What is known of each word in its sentence."""
        s = self.shape
        e = self.embed(rows)
        batch, length, _ = e.shape
        edges = on_grid(self.table[1:3])
        before = edges[0].expand(batch, WINDOW, -1)
        behind = edges[1].expand(batch, WINDOW, -1)
        padded = torch.cat([before, e, behind], 1)
        window = torch.cat([padded[:, k : k + length] for k in range(2 * WINDOW + 1)], 2)
        x = torch.clamp(self.window(window), 0, LIMIT)
        for layer, (near, far) in zip(self.layers, s.shifts, strict=True):
            first, second = x[..., : s.message], x[..., s.message : 2 * s.message]
            left = x[..., s.width - 2 * s.reach : s.width - s.reach]
            right = x[..., s.width - s.reach :]
            gathered = torch.cat(
                [
                    x[..., s.width - s.centre :],
                    shifted(first, -near),
                    shifted(first, near),
                    shifted(second, -far),
                    shifted(second, far),
                    torch.cummax(left, 1).values,
                    torch.cummax(right.flip(1), 1).values.flip(1),
                ],
                2,
            )
            x = torch.clamp(layer(gathered) + x, 0, LIMIT)
        return x

    def arcs(self, x: Tensor) -> Tensor:
        """Score of each head (0 the root, else 1 and up) for each word: batch, word, head."""
        s = self.shape
        dependent = torch.clamp(self.dependent(x), -LIMIT, LIMIT)
        head = torch.clamp(self.head(x), -LIMIT, LIMIT)
        scores = dependent @ head[..., : s.arc].transpose(1, 2) + head[..., s.arc].unsqueeze(1)
        bucket = bucket_of_distance(x.shape[1], s.distance).expand(x.shape[0], -1, -1)
        scores = scores + torch.gather(dependent @ self.distance.T, 2, bucket)
        root = dependent @ self.root[: s.arc] + self.root[s.arc]
        return torch.cat([root.unsqueeze(2), scores], 2)

    def relations(self, x: Tensor, heads: Tensor) -> Tensor:
        """Score of each relation of each word to its head: batch, word, relation."""
        s = self.shape
        dependent = self.label_dependent(x)
        head = torch.cat([self.label_root.expand(x.shape[0], 1, -1), self.label_head(x)], 1)
        of_head = torch.gather(head, 1, heads.unsqueeze(2).expand(-1, -1, s.label))
        distance = torch.clamp(heads - 1 - torch.arange(x.shape[1]), -s.distance, s.distance) + s.distance
        hidden = dependent + of_head + self.label_distance[distance]
        scores: Tensor = self.label(torch.clamp(hidden, 0, LIMIT))
        return scores
