"""SPICE: compares objects, attributes and relations in the candidate with those in the references; and SPIDEr.

Anderson, Fernando, Johnson, Gould, *SPICE: Semantic Propositional Image Caption Evaluation* (ECCV 2016).

    P = matched / |T(candidate)|;  R = matched / |T(references)|
    SPICE = 2 P R / (P + R)

T is the set of tuples of a scene graph: (object), (object, attribute), (subject, predicate, object). The references'
graphs are joined into one. The corpus score is the mean over images.

Where papers and programs differ: docs/reference/metrics/spice.md.

Liu, Zhu, Ye, Guadarrama, Murphy, *Improved Image Captioning via Policy Gradient optimization of SPIDEr* (ICCV 2017).

    SPIDEr = (SPICE + CIDEr-D) / 2
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from sacrecap.above import printed
from sacrecap.corpus.corpus import Corpus
from sacrecap.metrics.base import Bears, Metric, Ready, Totals
from sacrecap.metrics.cider import CiderD
from sacrecap.metrics.combine import WeightedMean
from sacrecap.metrics.declared import parameter
from sacrecap.metrics.spice.scene_graph import parsed, sentence_ends
from sacrecap.resources.english import parser, synonyms
from sacrecap.resources.needs import Needs


class Spice(Metric):
    """SPICE of all tuples or of one `category`, by the parser inside the package."""

    sentences: str = parameter(
        "a caption of several sentences: each is parsed by itself; or all as one, as the original program does",
        default="each",
        choices=("each", "one"),
    )
    category: str = parameter(
        "the tuples that count: all, object, attribute, relation; or only the attributes of color, count or size",
        default="all",
        choices=("all", "object", "attribute", "relation", "color", "count", "size"),
    )

    title = "SPICE"
    summary = "The candidate names the references' objects, with the same attributes and relations."
    equation = "SPICE = 2 P R / (P + R),  P = matched/|T(candidate)|,  R = matched/|T(references)|"
    source = "Anderson et al., ECCV 2016; SPICE 1.0"
    cites = ("anderson2016spice",)
    upper = 1.0
    """A caption equal to its only reference has 1. More is rare, and the program's own: a candidate's `photo` and
    `painting` both match a reference's `picture`.
    """
    explains = "graph"
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "caption that names no object": "0",
        "references that name no object": "0",
        "references without a tuple of the category": "no score",
    }
    bears = Bears(0.3, math.inf, 0.2)

    @property
    def no_score_where(self) -> str | None:
        """Which images have no score: with a category, those whose references have no tuple of it."""
        return None if self.category == "all" else "their references have nothing in this category"

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the parser and the synonyms."""
        table = synonyms()
        ends = needs.once("sentences", lambda: sentence_ends(corpus), of=corpus) if self.sentences == "each" else ()
        graphs = parsed(*ends), table
        signature = (f"model:{parser().checksum:08x}", f"synonyms:{table.checksum:08x}")
        return Ready(corpus._core, graphs, signature, own=graphs)

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> GraphMatch:
        """Which tuples of the image's candidate and references match."""
        graphs, table = ready.own
        *sides, (matched, stated, expected) = graphs.explain(table, corpus._core, image)
        precision, recall = (matched / whole if whole else 0.0 for whole in (stated, expected))
        score = 2 * precision * recall / (precision + recall) if matched else 0.0
        candidate, references = (
            tuple(Proposition(tuple(map(tuple, parts)), *(match or (None, None))) for parts, match in side)
            for side in sides
        )
        return GraphMatch(candidate, references, precision, recall, score)

    def coverage(self, statistics: Totals) -> float | None:
        """Share of the candidates' words that the parser knows, of columns that end the rows; None without words."""
        parsed_words, words = statistics.sums()[-2:]
        return parsed_words / words if words else None

    def kernel_parameters(self) -> dict[str, str]:
        """The category: the graphs, which the other parameters are about, are passed as a resource."""
        return {"category": self.category}


class Spider(WeightedMean):
    """The mean of SPICE and CIDEr-D."""

    title = "SPIDEr"
    summary = "The candidate means what the references mean (SPICE), in similar words (CIDEr-D)."
    proposed_in = "Liu et al., ICCV 2017"
    cites = ("liu2017spider", *Spice.cites, *CiderD.cites)
    members: Any = property(lambda _: (Spice(), CiderD()))
    weights: Any = (1.0, 1.0)


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
