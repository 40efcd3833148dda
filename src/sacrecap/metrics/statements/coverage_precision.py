"""Coverage and precision: how complete a caption is, and how true, by what its references say.

    precision = Σ_{s ∈ S(c)} w(s) · support(s, S(refs)) / Σ_{s ∈ S(c)} w(s)
    coverage  = Σ_{s ∈ S(refs)} w(s) · support(s, S(c)) / Σ_{s ∈ S(refs)} w(s)

S(t) are the distinct statements of a text t: things, their qualities and their relations in its scene graph, and its
content words, one by one and in pairs. What is denied, or not about the picture, is no statement. The support is 1
for a statement of the same stems, `synonyms` for one of the graph that differs by synonyms, else 0. The corpus score is
the mean over images.

Where papers and programs differ: docs/reference/metrics/coverage.md.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from sacrecap.metrics.base import Bears, Metric, Ready
from sacrecap.metrics.declared import parameter

if TYPE_CHECKING:
    from sacrecap import _core
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.base import Totals
    from sacrecap.metrics.statements.explanation import Statements
    from sacrecap.resources.needs import Needs

KINDS = ("object", "attribute", "relation", "word")
"""The kinds of statements, in the order of their columns in a row of statistics."""


class _OfStatements(Metric):
    """The common base of the two scores."""

    category: str = parameter(
        "the statements that count: all; only objects, attributes or relations of the scene graph; or only words and "
        "pairs of words",
        default="all",
        choices=("all", *KINDS),
    )
    synonyms: float = parameter(
        "what an object, attribute or relation is worth that differs by synonyms", default=0.5, least=0.0, most=1.0
    )

    source: ClassVar[str] = "sacrecap; statements of scene graphs after Anderson et al., ECCV 2016"
    cites: ClassVar[tuple[str, ...]] = ("anderson2016spice",)
    upper: ClassVar[float | None] = 1.0
    explains: ClassVar[str | None] = "statement"

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the captions as they were given, with the parser and the synonyms."""
        from sacrecap.resources.english import synonyms

        paragraphs, table = needs.once("paragraphs", lambda: as_paragraphs(corpus), of=corpus), synonyms()
        return Ready(corpus._core, (paragraphs, table), read_with(), own=(paragraphs, table))

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Statements:
        """What the image's candidate and references say, and what the other side says of it."""
        from sacrecap.metrics.statements.explanation import explain

        paragraphs, table = ready.own
        return explain(paragraphs.explain(table, corpus._core, image, self.synonyms), corpus, image)

    def notes(self, statistics: Totals) -> list[str]:
        """Precision, recall and F of each kind, of all images together, if all kinds count."""
        from sacrecap.metrics.statements.explanation import Shares

        if self.category != "all":
            return super().notes(statistics)
        sums = statistics.sums()[2:]
        shares = (Shares.of(*sums[4 * at : 4 * at + 4]) for at in range(len(KINDS)))
        told = (f"{kind}s {share}" for kind, share in zip(KINDS, shares, strict=True))
        return [*super().notes(statistics), f"Statements of all images together: {'; '.join(told)}."]


def read_with() -> tuple[str, str]:
    """The parts of a signature that say what statements are read and matched with."""
    from sacrecap.resources.english import parser, synonyms

    return f"model:{parser().checksum:08x}", f"synonym-table:{synonyms().checksum:08x}"


def as_paragraphs(corpus: Corpus) -> _core.Paragraphs:
    """All captions of a corpus, as they were given, with what it takes to read them."""
    from sacrecap import _core
    from sacrecap.resources.english import parser

    sides = zip(*(corpus.given(image) for image in corpus.image_ids), strict=True)
    candidates, references = ([*chain.from_iterable(side)] for side in sides)
    return _core.Paragraphs(parser(), corpus.tokenizer, candidates, references)


class Coverage(_OfStatements):
    """Share of what the references say that the caption says too; corpus score = mean."""

    family: ClassVar[str] = "coverage"
    title: ClassVar[str] = "Coverage"
    summary: ClassVar[str] = "The caption says what the references say: it leaves out little."
    equation: ClassVar[str] = "coverage = Σ w(s) support(s, S(c)) / Σ w(s) over s ∈ S(refs)"
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "references that say nothing": "0",
        "references without a statement of the category": "no score",
    }
    arithmetic: ClassVar[str] = "coverage"
    bears: ClassVar[Bears | None] = Bears(0.3, math.inf, 0.3)

    @property
    def no_score_where(self) -> str | None:
        """Which images have no score: with a category, those whose references have nothing in it."""
        return None if self.category == "all" else "their references have nothing in this category"


class Precision(_OfStatements):
    """Share of what the caption says that a reference says too; corpus score = mean."""

    family: ClassVar[str] = "precision"
    title: ClassVar[str] = "Precision"
    summary: ClassVar[str] = "The references say what the caption says: it makes up little."
    equation: ClassVar[str] = "precision = Σ w(s) support(s, S(refs)) / Σ w(s) over s ∈ S(c)"
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "references that say nothing": "0",
        "caption without a statement of the category": "no score",
    }
    arithmetic: ClassVar[str] = "precision"
    bears: ClassVar[Bears | None] = Bears(0.3, 3, 0.2)

    @property
    def no_score_where(self) -> str | None:
        """Which images have no score: with a category, those whose captions have nothing in it."""
        return None if self.category == "all" else "their captions have nothing in this category"
