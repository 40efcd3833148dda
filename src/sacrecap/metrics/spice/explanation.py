"""SPICE of one image, for inspection: what the candidate and the references say, and what of it matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sacrecap.above import printed

if TYPE_CHECKING:
    from sacrecap import _core


@dataclass(frozen=True)
class Proposition:
    """A statement about the image by one side."""

    parts: tuple[tuple[str, ...], ...]
    """Object; object and attribute; or subject, predicate and object. A part has several names if names that share a
    synonym set were merged: `("dress", "set")`.
    """
    match: int | None
    """The number of the proposition of the other side that it matches; None for none."""
    rule: str | None
    """How: `lemma` if each part has a base form in common, `synset` if one part is a synonym."""

    @property
    def label(self) -> str:
        """The parts as text: `dress/set – pink`."""
        return " – ".join("/".join(names) for names in self.parts)


@dataclass(frozen=True)
class GraphMatch:
    """How SPICE compared a candidate's scene graph with that of its references. `print` shows it."""

    candidate: tuple[Proposition, ...]
    """What the candidate says: objects, attributes, relations."""
    references: tuple[Proposition, ...]
    """What the references together say."""
    precision: float
    """Share of the candidate's propositions that match."""
    recall: float
    """The same number over the references' propositions; above 1 if several match the same one."""
    score: float
    """The harmonic mean of the two."""

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return printed(self, "notebook")

    def __str__(self) -> str:
        lines = [*_listed("candidate", self.candidate), *_listed("references", self.references)]
        matched = sum(part.match is not None for part in self.candidate)
        lines.append(
            f"score      {self.score:.4f} = 2 P R / (P + R);  P {self.precision:.4f} = {matched} of "
            f"{len(self.candidate)}, R {self.recall:.4f} = {matched} of {len(self.references)}"
        )
        return "\n".join(lines)


_MARKS = {None: "·", "lemma": "=", "synset": "≈"}


def _listed(title: str, side: Sequence[Proposition]) -> list[str]:
    """A line per proposition, those that match first: `=` by lemma, `≈` by synonyms, `·` not at all."""
    ordered = sorted(side, key=lambda part: part.match is None)
    heads = [title, *[""] * len(ordered)]
    lines = [f"{head:<10} {_MARKS[part.rule]} {part.label}" for head, part in zip(heads, ordered, strict=False)]
    return lines or [f"{title:<10} nothing"]


def explain(graphs: _core.SceneGraphs, synonyms: _core.Synonyms, corpus: _core.Corpus, image: int) -> GraphMatch:
    """Compares what the candidate and the references of the image with that number say."""
    left, right, (matched, stated, expected) = graphs.explain(synonyms, corpus, image)
    precision, recall = (matched / whole if whole else 0.0 for whole in (stated, expected))
    score = 2 * precision * recall / (precision + recall) if matched else 0.0
    return GraphMatch(_propositions(left), _propositions(right), precision, recall, score)


def _propositions(side: list[tuple[list[list[str]], tuple[int, str] | None]]) -> tuple[Proposition, ...]:
    return tuple(Proposition(tuple(map(tuple, parts)), *(match or (None, None))) for parts, match in side)
