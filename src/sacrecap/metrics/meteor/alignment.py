"""METEOR's alignments, for inspection: which words were matched, how, and the terms of the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap import _core
    from sacrecap.metrics.meteor.meteor import Meteor


@dataclass(frozen=True)
class Link:
    """A match of tokens of the candidate with tokens of the reference. Spans are (start, end)."""

    module: str
    """exact, stem, synonym or paraphrase."""
    candidate: tuple[int, int]
    reference: tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """A candidate and its best reference, token by token. `print` draws it."""

    number: int
    """The reference's number among those given, from 0."""
    candidate: tuple[str, ...]
    reference: tuple[str, ...]
    links: tuple[Link, ...]
    """Matches, in the order of the reference."""
    precision: float
    recall: float
    mean: float
    """F: the harmonic mean of precision and recall, weighted by α."""
    penalty: float
    """Share of F that is lost by fragmentation."""
    score: float
    chunks: int
    """Runs of matches that are contiguous and in order on both sides."""

    def __str__(self) -> str:
        lines = [
            f"candidate  {_bracketed(self.candidate, [link.candidate for link in self.links], self._chunks())}",
            f"reference  {_bracketed(self.reference, [link.reference for link in self.links], self._chunks())}",
        ]
        modules = dict.fromkeys(link.module for link in self.links)
        lines += [f"{module:<10} {', '.join(self._pairs(module))}" for module in modules]
        lines.append(
            f"score      {self.score:.4f} = F {self.mean:.4f} · (1 − penalty {self.penalty:.4f});  "
            f"P {self.precision:.4f}, R {self.recall:.4f}, {self.chunks} chunk{'s' * (self.chunks != 1)}"
        )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return asdict(self)

    def _chunks(self) -> list[int]:
        """The chunk of each link, from 1."""
        numbers: list[int] = []
        for number, link in enumerate(self.links):
            before = self.links[number - 1] if number else None
            goes_on = before and (before.candidate[1], before.reference[1]) == (link.candidate[0], link.reference[0])
            numbers.append(numbers[-1] if goes_on else (numbers[-1] + 1 if numbers else 1))
        return numbers

    def _pairs(self, module: str) -> list[str]:
        pairs = []
        for link in self.links:
            if link.module == module:
                mine = " ".join(self.candidate[slice(*link.candidate)])
                theirs = " ".join(self.reference[slice(*link.reference)])
                pairs.append(mine if mine == theirs else f"{mine} = {theirs}")
        return pairs


def _bracketed(tokens: Sequence[str], spans: list[tuple[int, int]], chunks: list[int]) -> str:
    """The sentence with each chunk in brackets with its number: `[1 a] man is [2 riding a horse]`."""
    chunk_of = {position: chunk for span, chunk in zip(spans, chunks, strict=True) for position in range(*span)}
    text: list[str] = []
    for position, token in enumerate(tokens):
        chunk = chunk_of.get(position)
        opens = chunk is not None and chunk_of.get(position - 1) != chunk
        closes = chunk is not None and chunk_of.get(position + 1) != chunk
        text.append(f"{f'[{chunk} ' if opens else ''}{token}{']' if closes else ''}")
    return " ".join(text)


def explain(metric: Meteor, tables: _core.MeteorTables, candidate: str, references: Sequence[str]) -> Alignment | None:
    """Aligns tokenised sentences; None without references."""
    aligned = tables.explain(candidate, references, metric.weights())
    if aligned is None:
        return None
    number, tokens, reference, links, (precision, recall, mean, penalty, score), chunks = aligned
    return Alignment(
        number,
        tuple(tokens),
        tuple(reference),
        tuple(Link(*link) for link in links),
        precision,
        recall,
        mean,
        penalty,
        score,
        chunks,
    )
