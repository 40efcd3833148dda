"""SPICE: compares objects, attributes and relations in the candidate with those in the references.

Anderson, Fernando, Johnson, Gould, *SPICE: Semantic Propositional Image Caption Evaluation* (ECCV 2016).

    P = matched / |T(candidate)|;  R = matched / |T(references)|
    SPICE = 2 P R / (P + R)

T is the set of tuples of a scene graph: (object), (object, attribute), (subject, predicate, object). The references'
graphs are joined into one. The corpus score is the mean over images.

Where papers and programs differ: docs/reference/metrics/spice.md.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.metrics.base import Bears, Metric, Ready, Status
from sacrecap.metrics.declared import parameter
from sacrecap.resources.needs import WorkShare

if TYPE_CHECKING:
    from sacrecap import _core
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.base import Totals
    from sacrecap.metrics.spice.explanation import GraphMatch
    from sacrecap.resources.needs import Needs


class Spice(Metric):
    """SPICE of all tuples or of one `category`, by the parser inside the package or by the original program."""

    parser: str = parameter(
        "where scene graphs come from: native, the parser inside the package; stanford, the original program (needs "
        "Java; see sacrecap spice setup)",
        default="native",
        choices=("native", "stanford"),
    )
    sentences: str = parameter(
        "a caption of several sentences: each is parsed by itself; or all as one, as the original program does, and "
        "which is the default of parser=stanford",
        default=None,
        kind=str,
        choices=("each", "one"),
    )
    category: str = parameter(
        "the tuples that count: all, object, attribute, relation; or only the attributes of color, count or size",
        default="all",
        choices=("all", "object", "attribute", "relation", "color", "count", "size"),
    )

    family: ClassVar[str] = "spice"
    title: ClassVar[str] = "SPICE"
    summary: ClassVar[str] = "The candidate names the references' objects, with the same attributes and relations."
    equation: ClassVar[str] = "SPICE = 2 P R / (P + R),  P = matched/|T(candidate)|,  R = matched/|T(references)|"
    source: ClassVar[str] = "Anderson et al., ECCV 2016; SPICE 1.0"
    cites: ClassVar[tuple[str, ...]] = ("anderson2016spice",)
    upper: ClassVar[float | None] = 1.0
    """A caption equal to its only reference has 1. More is rare, and the program's own: a candidate's `photo` and
    `painting` both match a reference's `picture`.
    """
    explains: ClassVar[str | None] = "graph"
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "caption that names no object": "0",
        "references that name no object": "0",
        "references without a tuple of the category": "no score",
    }
    arithmetic: ClassVar[str] = "spice"
    least_known: ClassVar[float | None] = 0.9
    bears: ClassVar[Bears | None] = Bears(0.3, math.inf, 0.2)

    def complete(self) -> None:
        """Fills in how sentences are taken. Raises `UsageError` for sentences apart by the original program."""
        values: dict[str, Any] = vars(self)
        by_program = values["parser"] == "stanford"
        if values["sentences"] is None:
            values["sentences"] = "one" if by_program else "each"
        if by_program and values["sentences"] == "each":
            raise UsageError(
                "SPICE: sentences=each needs parser=native: the original program takes each caption as one sentence"
            )

    @property
    def no_score_where(self) -> str | None:
        """Which images have no score: with a category, those whose references have no tuple of it."""
        return None if self.category == "all" else "their references have nothing in this category"

    def status(self, needs: Needs) -> Status:  # noqa: ARG002
        """Left out if the parser is the original program and it is not set up."""
        if self.parser == "native":
            return Status()
        from sacrecap.resources.stanford import StanfordSpice

        try:
            StanfordSpice.find()
        except (DataError, MissingDependencyError) as error:
            return Status.left_out(str(error))
        return Status()

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the scene graphs' source and the synonyms.

        Raises `MissingDependencyError` if the original program is asked for and not set up, `DataError` if it
        fails on an image.
        """
        from sacrecap.metrics.spice.scene_graph import parsed, sentence_ends
        from sacrecap.resources.english import parser, synonyms

        table = synonyms()
        if self.parser == "native":
            ends = needs.once("sentences", lambda: sentence_ends(corpus), of=corpus) if self.sentences == "each" else ()
            graphs, made_by = parsed(*ends), f"model:{parser().checksum:08x}"
        else:
            graphs, made_by = needs.once("stanford", lambda: _by_the_program(corpus, needs), of=corpus)
        own = graphs, table
        return Ready(corpus._core, own, (made_by, f"synonyms:{table.checksum:08x}"), own=own)

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> GraphMatch:
        """Which tuples of the image's candidate and references match."""
        from sacrecap.metrics.spice.explanation import explain

        graphs, table = ready.own
        return explain(graphs, table, corpus._core, image)

    def coverage(self, statistics: Totals) -> float | None:
        """Share of the candidates' words that the native parser knows; None by the original program.

        Rows of statistics end with the numbers of known and of all words.
        """
        known, words = statistics.sums()[-2:]
        return known / words if words else None

    def kernel_parameters(self) -> dict[str, str]:
        """The category: the graphs, which the other parameters are about, are passed as a resource."""
        return {"category": self.category}


def _by_the_program(corpus: Corpus, needs: Needs) -> tuple[_core.SceneGraphs, str]:
    """The original program's graphs of both sides of each image, and the program's name in the signature."""
    from sacrecap import _core
    from sacrecap.resources.stanford import VERSION, StanfordSpice

    sides: dict[tuple[str, ...], str] = {}
    for image, image_id in zip(corpus.image_ids, needs.images(corpus), strict=True):
        candidates, references = corpus.texts(image)
        for side in ((candidate,) for candidate in candidates):
            sides.setdefault(side, image_id)
        sides.setdefault(tuple(references), image_id)
    told = needs.progress
    progress = (lambda done, of: told(WorkShare(done / of, "parsing by the program"))) if told else None
    program = StanfordSpice.find(threads=needs.threads or os.cpu_count() or 1)
    tuples = program.tuples(list(sides), names=list(sides.values()), progress=progress)
    merged = [("\n".join(side), [list(one) for one in said]) for side, said in zip(sides, tuples, strict=True)]
    return _core.SceneGraphs.merged(merged), f"program:{VERSION}"
