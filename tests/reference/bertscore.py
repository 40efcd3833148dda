"""BERTScore by its equations, a pair and a word at a time, over all layers of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any


class Reader:
    """A model of transformers and its tokenizer; `before` stands before the first word."""

    def __init__(self, folder: str, before: str = "") -> None:
        from transformers import AutoModel, AutoTokenizer

        self.model, self.tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
        self.before = before
        self.tokens = cache(self._tokens)
        self.vectors = cache(self._vectors)

    def _tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(self.before + text)["input_ids"])

    def _vectors(self, text: str, layer: int) -> list[list[float]]:
        import torch

        with torch.no_grad():
            output = self.model(torch.tensor([self.tokens(text)]), output_hidden_states=True)
        return output.hidden_states[layer][0].double().tolist()  # type: ignore[no-any-return]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def weight(token: int, reader: Reader, documents: Sequence[str] | None) -> float:
    """1, or the inverse document frequency; special tokens have 0."""
    if documents is None:
        return 0.0 if token in (reader.tokenizer.cls_token_id, reader.tokenizer.sep_token_id) else 1.0
    having = sum(token in reader.tokens(document) for document in documents)
    return math.log((len(documents) + 1) / (having + 1))


def pair(
    reader: Reader, candidate: str, reference: str, layer: int, documents: Sequence[str] | None
) -> dict[str, float]:
    """Precision, recall and F1 of two captions that say something."""
    mine, theirs = reader.vectors(candidate, layer), reader.vectors(reference, layer)

    def side(tokens: list[int], vectors: Any, others: Any) -> float:
        weights = [weight(token, reader, documents) for token in tokens]
        nearest = [max(cosine(vector, other) for other in others) for vector in vectors]
        total = sum(weights)
        return sum(w * n for w, n in zip(weights, nearest, strict=True)) / total if total else 0.0

    p, r = side(reader.tokens(candidate), mine, theirs), side(reader.tokens(reference), theirs, mine)
    return {"precision": p, "recall": r, "f1": 2 * p * r / (p + r) if p + r else 0.0}


def image(
    reader: Reader, candidate: str, references: Sequence[str], layer: int, documents: Sequence[str] | None = None
) -> dict[str, float]:
    """The best precision, the best recall and the best F1 over the references."""
    nothing = {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    pairs = [
        pair(reader, candidate, one, layer, documents) if candidate.strip() and one.strip() else nothing
        for one in references
    ]
    return {name: max(own[name] for own in pairs) for name in nothing}
