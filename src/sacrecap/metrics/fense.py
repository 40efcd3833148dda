"""FENSE and SPIDEr-FL: scores of audio captions, of which a caption with an error of fluency keeps a tenth.

Zhou, Zhang, Xu, Xie, Wu, Zhu, *Can Audio Captions Be Evaluated with Image Caption Metrics?* (ICASSP 2022): FENSE.
SPIDEr-FL is the same factor on SPIDEr, as the DCASE challenge ranks systems since 2023.

    FENSE(c, R)     = mean_{r ∈ R} cos(c, r) · (1 − penalty · [p(c) > threshold])
    SPIDEr-FL(c, R) = SPIDEr(c, R) · (1 − penalty · [p(c) > threshold])

c and r are the vectors of sentences (see `sacrecap.metrics.sentence`), p(c) is the probability of an error in the
candidate, by a network that was trained on broken captions.

Where papers and programs differ: docs/reference/metrics/fense.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from sacrecap import _core
from sacrecap.metrics.base import Bears, Metric, PythonMetric, Ready, Status
from sacrecap.metrics.declared import parameter
from sacrecap.metrics.learned import ByNetwork
from sacrecap.metrics.sentence import Sentence
from sacrecap.metrics.spider import Spider
from sacrecap.resources.learned.fluency_errors import USUAL, ErrorDetector

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.base import Totals
    from sacrecap.resources.needs import Needs


class _Penalised(PythonMetric):
    """A score of captions, of which one with an error of fluency keeps a part; corpus score = mean."""

    errors: str = parameter("the detector of errors: a file, or the name of a released one", default=USUAL)
    threshold: float = parameter("a caption of more than this probability has an error", default=0.9, least=0, most=1)
    penalty: float = parameter(
        "the share of its score that a caption with an error loses", default=0.9, least=0, most=1
    )

    source: ClassVar[str] = "Zhou et al., ICASSP 2022"
    cites: ClassVar[tuple[str, ...]] = ("zhou2022fense",)
    needs: ClassVar[tuple[str, ...]] = ("references", "device")
    resolved: ClassVar[tuple[str, ...]] = ("errors",)

    @property
    def detector(self) -> ErrorDetector:
        """The detector that the parameter names."""
        return ErrorDetector(self.errors)

    def status(self, needs: Needs) -> Status:
        """A group downloads nothing: the metric is left out if a network is not on this machine."""
        status = super().status(needs)
        if status.why:
            return status
        why, costly = self.detector.missing("it")
        return Status.left_out(why, costly=costly)

    def statistics(self, corpus: Corpus, ready: Ready) -> Sequence[Sequence[float]]:
        """Rows of score, 1, and whether the caption has an error."""
        candidates = [one for image in corpus.image_ids for one in corpus.given(image)[0]]
        likely = ready.own.errors.probabilities(candidates)
        wrong = [float(probability > self.threshold) for probability in likely]
        scores = zip(ready.own.scores(), wrong, strict=True)
        return [(score * (1 - self.penalty * one), 1.0, one) for score, one in scores]

    def formula(self, sums: Sequence[float]) -> float:
        return sums[0] / sums[1] if sums[1] else 0.0

    def notes(self, statistics: Totals) -> list[str]:
        """How many captions have an error."""
        wrong = int(statistics.sums()[2])
        of = f"{wrong:,} of {statistics.rows:,} captions {'has' if wrong == 1 else 'have'} an error of fluency"
        return [*super().notes(statistics), f"{self.label}: {of}."]


class Fense(_Penalised, Sentence):
    """Mean cosine of sentence embeddings with the references, less where the caption has an error of fluency."""

    family: ClassVar[str] = "fense"
    title: ClassVar[str] = "FENSE"
    summary: ClassVar[str] = "The candidate means what the references mean, and is a whole, fluent sentence."
    equation: ClassVar[str] = "FENSE = mean_j cos(c, r_j) · (1 − penalty · [p(c) > threshold])"
    source: ClassVar[str] = f"{_Penalised.source}; {Sentence.source}"
    cites: ClassVar[tuple[str, ...]] = (*_Penalised.cites, *Sentence.cites)
    nothing: ClassVar[dict[str, str]] = {**Sentence.nothing, "caption with an error": "a tenth of what it has without"}
    resolved: ClassVar[tuple[str, ...]] = (*Sentence.resolved, "errors")
    usual_model: ClassVar[str] = "sentence-transformers/paraphrase-TinyBERT-L6-v2"

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes both models.

        Raises `MissingDependencyError` without the extra, `DataError` for a checkpoint that cannot be used.
        """
        ready = super().ready(corpus, needs)
        errors = self.detector.load(self.label, needs)
        own, signature = replace(ready.own, errors=errors), (*ready.signature, f"errors:{errors.identity}")
        return replace(ready, signature=signature, own=own)

    def pooled(self, cosines: list[float]) -> float:
        return sum(cosines) / len(cosines) if cosines else 0.0


class SpiderFl(_Penalised):
    """SPIDEr, by that `parser`, less where the caption has an error of fluency; corpus score = mean."""

    parser: str = parameter(
        "where SPICE's scene graphs come from: native or stanford", default="native", choices=("native", "stanford")
    )

    family: ClassVar[str] = "spider-fl"
    title: ClassVar[str] = "SPIDEr-FL"
    summary: ClassVar[str] = "The candidate means what the references mean, in similar words, and is fluent."
    equation: ClassVar[str] = "SPIDEr-FL = (SPICE + CIDEr-D) / 2 · (1 − penalty · [p(c) > threshold])"
    source: ClassVar[str] = f"{_Penalised.source}; {Spider().source}; DCASE 2023, task 6A"
    upper: ClassVar[float | None] = Spider().largest
    bears: ClassVar[Bears | None] = Spider().bears
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0", "caption with an error": "a tenth of SPIDEr"}
    uses_document_frequency: ClassVar[bool] = True
    resolved: ClassVar[tuple[str, ...]] = ("errors", "parser")

    @property
    def cites(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*super().cites, *self.spider.cites)

    @property
    def spider(self) -> Spider:
        """SPIDEr by the parser."""
        return Spider(parser=self.parser)

    def signature_parts(self) -> list[str]:
        """Those of SPIDEr's members, and the metric's own."""
        return [*self.spider.signature_parts(), *super().signature_parts()]

    def status(self, needs: Needs) -> Status:
        status = self.spider.status(needs)
        return status if status.why else super().status(needs)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes what SPIDEr needs, and the detector of errors; raises as both do."""
        errors = self.detector.load(self.label, needs)
        ready = self.spider.ready(corpus, needs)
        signature = (*ready.signature, f"errors:{errors.identity}")
        own = ByNetwork(lambda: _means(ready.parts, needs.threads), errors=errors)
        return Ready(corpus._core, signature=signature, own=own)


def _means(members: Mapping[Metric, Ready], threads: int) -> Iterable[float]:
    """The mean of the members' scores of each candidate."""
    found = []
    for metric, ready in members.items():
        call = (metric.key, metric.arithmetic, metric.kernel_parameters())
        [counted] = _core.evaluate(ready.corpus, [call], list(ready.resources), threads)
        found.append(memoryview(counted.row_scores()).cast("d"))
    return (math.fsum(scores) / len(scores) for scores in zip(*found, strict=True))
