"""METEOR 1.5: words aligned with a reference by form, stem, synonym and paraphrase, and how well their order agrees.

Denkowski and Lavie, *Meteor Universal: Language Specific Translation Evaluation for Any Target Language* (WMT 2014),
as the COCO caption evaluation code runs it.

    P = Σ_i w_i (δ m_i(c_content) + (1 − δ) m_i(c_function)) / (δ |c_content| + (1 − δ) |c_function|);  R likewise
    F = P R / (α P + (1 − α) R)
    METEOR = max_j F · (1 − γ (chunks / matches)^β)

Where papers and programs differ: docs/reference/metrics/meteor.md.

For English. The tables (function words, synonyms, paraphrases) are not part of sacrecap: `pip install
'sacrecap[meteor]'` installs them as the package `sacrecap-meteor`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import starmap
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap._core import METEOR_TASKS
from sacrecap.metrics.base import Bears, Metric, Ready, Status
from sacrecap.metrics.declared import parameter

if TYPE_CHECKING:
    from sacrecap import _core
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs

_TASKS = {task: dict(parameters) for task, parameters in METEOR_TASKS}
"""Parameters by task; the first task is the default."""


def _tuned(meaning: str, most: float | None = 1.0) -> Any:
    return parameter(f"{meaning}; the task's by default", default=None, kind=float, least=0.0, most=most)


class Meteor(Metric):
    """METEOR with the parameters of a `task`; each can be replaced."""

    task: str = parameter(
        "what the parameters were tuned for: rank (the default of the program and of the COCO suite), adq (adequacy), "
        "hter (edit rate) or li (for any language)",
        default="rank",
        choices=tuple(_TASKS),
    )
    alpha: float = _tuned("weight of recall in F")
    beta: float = _tuned("exponent of the fragmentation", most=None)
    gamma: float = _tuned("largest penalty for fragmentation")
    delta: float = _tuned("weight of content words; function words weigh 1 − delta")
    exact: float = _tuned("weight of words of the same form")
    stem: float = _tuned("weight of words of the same stem")
    synonym: float = _tuned("weight of words of a common WordNet synonym set")
    paraphrase: float = _tuned("weight of phrases of the paraphrase table")

    title = "METEOR"
    summary = "The candidate's words match a reference's, also as synonyms and paraphrases, in order."
    equation = "METEOR = max_j F · (1 − γ (chunks/matches)^β),  F = P R / (α P + (1 − α) R)"
    source = "Denkowski and Lavie, WMT 2014; METEOR 1.5; COCO caption evaluation"
    cites = ("denkowski2014meteor",)
    upper = 1.0
    needs = ("references",)
    explains = "alignment"
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0", "empty reference": "0", "no word in common": "0"}
    bears = Bears(0.3, math.inf, 0.7)

    def complete(self) -> None:
        """Fills in the task's parameters; the checks refuse unknown names."""
        values: dict[str, Any] = vars(self)
        task = values["task"]
        for name, value in _TASKS.get(task if isinstance(task, str) else "rank", _TASKS["rank"]).items():
            if values[name] is None:
                values[name] = value

    def status(self, needs: Needs) -> Status:  # noqa: ARG002
        from sacrecap.metrics.meteor.installed_tables import missing

        if missing() is None:
            return Status()
        return Status("not installed", "its tables are not installed; pip install 'sacrecap[meteor]'")

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:  # noqa: ARG002
        """Takes METEOR's tables."""
        from sacrecap.metrics.meteor.installed_tables import load

        tables = load()
        return Ready(corpus._core, (tables,), (f"tables:{tables.checksum:08x}",), own=tables)

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Alignment | None:
        """The alignment of the image's candidate with its best reference; None for an image without words."""
        candidates, references = corpus.texts(corpus.image_ids[image])
        return self._aligned(ready.own, candidates[0], references)

    @property
    def largest(self) -> float | None:
        return max(self.exact, self.stem, self.synonym, self.paraphrase)

    def explain(self, candidate: str, references: Sequence[str], *, tokenizer: Tokenizer = "ptb") -> Alignment | None:
        """Shows which words of the candidate were matched with which words of its best reference, and how; printable.

        None without references. Raises `MissingDependencyError` without METEOR's tables.
        """
        from sacrecap.corpus.corpus import tokenize
        from sacrecap.metrics.meteor.installed_tables import load

        texts = [" ".join(tokens) for tokens in tokenize([candidate, *references], tokenizer=tokenizer)]
        return self._aligned(load(), texts[0], texts[1:])

    def _aligned(self, tables: _core.MeteorTables, candidate: str, references: Sequence[str]) -> Alignment | None:
        """The alignment of tokenised sentences; None without references."""
        aligned = tables.explain(candidate, references, [getattr(self, name) for name in _TASKS["rank"]])
        if aligned is None:
            return None
        number, tokens, reference, links, (precision, recall, mean, penalty, score), chunks = aligned
        sides = tuple(tokens), tuple(reference)
        return Alignment(number, *sides, tuple(starmap(Link, links)), precision, recall, mean, penalty, score, chunks)


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
        pairs: dict[str, list[str]] = {}
        for link in self.links:
            mine = " ".join(self.candidate[slice(*link.candidate)])
            theirs = " ".join(self.reference[slice(*link.reference)])
            pairs.setdefault(link.module, []).append(mine if mine == theirs else f"{mine} = {theirs}")
        lines += [f"{module:<10} {', '.join(matched)}" for module, matched in pairs.items()]
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
