"""Coverage and precision of one image, for inspection: what each side says, and which words say what only it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap.corpus.sentences import located, pieces
from sacrecap.metrics.statements.coverage_precision import KINDS

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus

    _Side = tuple[
        list[tuple[list[str], list[int]]], list[tuple[str, list[str], list[tuple[int, int]], float, float, float]]
    ]


@dataclass(frozen=True)
class Statement:
    """Something that a side says, however often."""

    kind: str
    """`object`, `attribute`, `relation` or `word`."""
    parts: tuple[str, ...]
    """Object; object and attribute; subject, predicate and object; one word, or two near each other."""
    weight: float
    """What it counts: 1, or 1 / n if n statements of the side differ only by synonyms."""
    support: float
    """How far the other side says it: 1, less if it differs by synonyms, 0 if not."""
    chance: float
    """How far the references of other images say it, in the mean; 0 for a statement of references."""
    places: tuple[tuple[int, int, int], ...]
    """Its words: the caption's number on its side, from 0, the position of the first character, and after the last."""

    @property
    def label(self) -> str:
        """The parts as text: `dog – brown`."""
        return " – ".join(self.parts)


@dataclass(frozen=True)
class Said:
    """What one side says: the candidate, or all references together."""

    captions: tuple[str, ...]
    """As they were given."""
    statements: tuple[Statement, ...]
    """In the order in which they come."""

    def pieces(self) -> list[list[tuple[str, float | None]]]:
        """Each caption in pieces: words that say something come with how far the other side says it, others with None.

        A word that names a thing or a quality in the scene graph has the support of that, any other its own as a word.
        """
        support: dict[tuple[int, int, int], tuple[bool, float]] = {}
        for statement in self.statements:
            in_graph = statement.kind in ("object", "attribute")
            if in_graph or (statement.kind == "word" and len(statement.parts) == 1):
                for place in statement.places:
                    support[place] = max(support.get(place, (False, 0.0)), (in_graph, statement.support))
        marked = sorted((*place, value) for place, (_, value) in support.items())
        return [
            [*pieces(caption, ((start, end, value) for at, start, end, value in marked if at == number))]
            for number, caption in enumerate(self.captions)
        ]

    def missing(self, kind: str) -> list[str]:
        """The statements of that kind that the other side does not say."""
        return [item.label for item in self.statements if item.kind == kind and not item.support]


class Shares(NamedTuple):
    """Precision, recall (the coverage) and F of statements."""

    precision: float
    recall: float
    f: float

    def __str__(self) -> str:
        return f"P {self.precision:.3f} R {self.recall:.3f} F {self.f:.3f}"


@dataclass(frozen=True)
class Statements:
    """What a caption and its references say. `print` shows it, with words that only one side says in brackets."""

    candidate: Said
    references: Said
    shares: dict[str, Shares]
    """The scores of `all` statements, and of each kind; 0 where there is none."""

    def marked(self) -> list[str]:
        """The candidate in pieces; every other one, from the second on, says what no reference says."""
        runs = [(support == 0, text) for text, support in self.candidate.pieces()[0]]
        grouped = ["".join(text for _, text in run) for _, run in groupby(runs, itemgetter(0))]
        return ["", *grouped] if runs and runs[0][0] else grouped

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return {**asdict(self), "shares": {kind: share._asdict() for kind, share in self.shares.items()}}

    def __str__(self) -> str:
        lines = [("caption", _bracketed(caption)) for caption in self.candidate.pieces()]
        lines += [("reference", _bracketed(caption)) for caption in self.references.pieces()]
        for title, side in (("not supported", self.candidate), ("left out", self.references)):
            missing = ((kind, side.missing(kind)) for kind in KINDS[:3])
            lines += [(title, f"{kind}s: {', '.join(labels)}") for kind, labels in missing if labels]
        lines += [(kind, str(share)) for kind, share in self.shares.items()]
        width = max(len(head) for head, _ in lines)
        return "\n".join(f"{head:<{width}}  {text}" for head, text in lines)


def _bracketed(caption: Iterable[tuple[str, float | None]]) -> str:
    return "".join(f"[{text}]" if support == 0 else text for text, support in caption)


def explain(
    read: tuple[_Side, _Side, list[tuple[str, tuple[float, float, float]]]], corpus: Corpus, image: int
) -> Statements:
    """The explanation from what the native code found in the image with that number."""
    *sides, scores = read
    texts = corpus.given(corpus.image_ids[image])
    candidate, references = (_side_of(captions, *side) for captions, side in zip(texts, sides, strict=True))
    shares = {kind: Shares(precision, coverage, f) for kind, (coverage, precision, f) in scores}
    return Statements(candidate, references, shares)


def _side_of(
    captions: list[str],
    read: list[tuple[list[str], list[int]]],
    statements: list[tuple[str, list[str], list[tuple[int, int]], float, float, float]],
) -> Said:
    places = [located(caption, tokens) for caption, (tokens, _) in zip(captions, read, strict=True)]

    def of(words: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
        for caption, word in words:
            if place := places[caption][word]:
                yield caption, *place

    return Said(
        tuple(captions),
        tuple(
            Statement(kind, tuple(parts), weight, support, chance, tuple(of(words)))
            for kind, parts, words, weight, support, chance in statements
        ),
    )
