"""Self-CIDEr and the Vendi score: how evenly the spectrum of a set's similarities is spread.

Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019).

    K_ij = CIDEr(c_i, c_j) = 1/4 Σ_n cos(gⁿ(c_i), gⁿ(c_j)),  λ_1 ≥ … ≥ λ_m its eigenvalues
    r    = √λ_1 / Σ_i √λ_i,   Self-CIDEr = −log_m r

Friedman, Dieng, *The Vendi Score: a diversity evaluation metric for machine learning* (TMLR 2023).

    K_ii = 1,  λ the eigenvalues of K/m,   Vendi = exp(−Σ_i λ_i ln λ_i)

Where papers and programs differ: docs/reference/metrics/self-cider.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sacrecap._core import SIMILARITIES
from sacrecap.metrics.base import Ready, SetMetric, Totals
from sacrecap.metrics.cider import IdfMetric
from sacrecap.metrics.declared import parameter

if TYPE_CHECKING:
    from sacrecap import _core
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs


class SelfCider(IdfMetric, SetMetric):
    """Self-CIDEr of a caption set; corpus score = mean over images."""

    kernel: str = parameter(
        "the similarity of two captions: cider is the paper's cosine; cider-d the published program's; words counts "
        "words in common, like LSA; rouge-l takes their longest common subsequence; sentence compares what they mean",
        default="cider",
        choices=tuple(SIMILARITIES),
    )
    n: int = parameter("the longest n-gram of cider and cider-d", default=4, least=1, most=4)
    stem: bool = parameter("reduce words to Snowball English stems first", default=False)
    sigma: float = parameter("width of cider-d's length penalty, in words", default=6.0, above=0.0)

    arithmetic: ClassVar[str] = "self-cider"
    family: ClassVar[str] = "self-cider"
    title: ClassVar[str] = "Self-CIDEr"
    summary: ClassVar[str] = "The captions of a set say different things, in words that are rare elsewhere."
    equation: ClassVar[str] = "−log_m(√λ_1 / Σ_i √λ_i),  λ the eigenvalues of K_ij = 1/4 Σ_n cos(gⁿ(c_i), gⁿ(c_j))"
    source: ClassVar[str] = "Wang and Chan, CVPR 2019"
    cites: ClassVar[tuple[str, ...]] = ("wang2019describing",)
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "0: nothing varies",
        "equal captions": "0",
        "all similarities 0": "0: empty captions, or words whose IDF is 0",
        "empty caption": "it has no similarity, not even to itself: it counts in m and adds nothing to the spectrum",
        "caption of fewer than 4 words": "its missing orders count as 0, so its similarity to itself is below 1",
    }

    @property
    def uses_document_frequency(self) -> bool:  # type: ignore[override]
        return self.kernel in ("cider", "cider-d")

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        if self.uses_document_frequency:
            return super().ready(corpus, needs)
        signature = tuple(f"model:built-in({table.checksum:08x})" for table in self.vectors)
        return Ready(corpus.native(stems=self.uses_stems), self.vectors, signature)

    @property
    def vectors(self) -> tuple[_core.SentenceVectors, ...]:
        """The vectors of sentences that the kernel compares; none of another kernel."""
        from sacrecap.metrics.sentence import vectors

        return (vectors(),) if self.kernel == "sentence" else ()

    def similarity(self) -> dict[str, bool | float | str]:
        return self.kernel_parameters()

    def notes(self, statistics: Totals) -> list[str]:
        """Says for how many images the spectrum is that of a matrix which is not positive semi-definite."""
        if statistics.width < 3:
            return []
        negative = int(statistics.sums()[2])
        if not negative:
            return []
        of = f"{negative:,} of {statistics.rows:,} images"
        return [f"{self.key}: the similarity matrix of {of} is not positive semi-definite; singular values were used"]


class Vendi(SelfCider):
    """The Vendi score of a caption set, the effective number of its captions; corpus score = mean over images.

    Its matrix has ones on the diagonal: K_ij / √(K_ii K_jj).
    """

    arithmetic: ClassVar[str] = "vendi"
    family: ClassVar[str] = "vendi"
    title: ClassVar[str] = "Vendi"
    summary: ClassVar[str] = "As many captions, of which no two share anything, would be as varied as the set."
    equation: ClassVar[str] = "exp(−Σ_i λ_i ln λ_i),  λ the eigenvalues of K/m, with K_ii = 1"
    source: ClassVar[str] = "Friedman and Dieng, TMLR 2023"
    cites: ClassVar[tuple[str, ...]] = ("friedman2023vendi",)
    upper: ClassVar[float | None] = None
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "1",
        "equal captions": "1",
        "all similarities 0": "0: empty captions, or words whose IDF is 0",
        "empty caption": "it counts for nothing",
    }
