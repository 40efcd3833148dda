"""Diversity of caption sets: how little the captions of an image repeat each other.

Wang, Chan, *Describing like humans: on diversity in image captioning* (CVPR 2019): Self-CIDEr and LSA (after Deerwester
et al., 1990), how evenly the spectrum of a set's similarities is spread, and that of its word counts.

    K_ij = CIDEr(c_i, c_j) = 1/4 Σ_n cos(gⁿ(c_i), gⁿ(c_j)),  λ_1 ≥ … ≥ λ_m its eigenvalues
    r    = √λ_1 / Σ_i √λ_i,   Self-CIDEr = −log_m r
    M    = word–caption count matrix (d × m),  σ_1 ≥ … ≥ σ_m its singular values
    r    = σ_1 / Σ_i σ_i,     LSA = −log_m r

Friedman, Dieng, *The Vendi Score: a diversity evaluation metric for machine learning* (TMLR 2023).

    K_ii = 1,  λ the eigenvalues of K/m,   Vendi = exp(−Σ_i λ_i ln λ_i)

Wang and Chan, after Shetty, Rohrbach, Hendricks, Fritz, Schiele, *Speaking the same language* (ICCV 2017): the BLEU of
each caption of a set against the others.

    mBLEU_n   = 1/m Σ_i BLEU_n(c_i, C − {c_i}),    mBLEU-mix = 1 − 1/4 Σ_n mBLEU_n

Li, Galley, Brockett, Gao, Dolan, *A diversity-promoting objective function for neural conversation models* (NAACL
2016); for caption sets: Shetty et al.

    Div-n    = distinct n-grams of the set / words of the set
    distinct = distinct captions / captions

Where papers and programs differ: docs/reference/metrics/self-cider.md.

Accuracy, the best caption of a set, F and novelty are figures derived from other scores of caption sets. They are
metrics like all others, so that every score has its name, its direction and its source. They cannot be asked for by
name: [`sacrecap.diversity`][] computes them from what it counts anyway.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, ClassVar

from sacrecap import _core
from sacrecap._core import SIMILARITIES
from sacrecap.corpus.corpus import Corpus
from sacrecap.metrics.base import Metric, Ready, SetMetric, Totals
from sacrecap.metrics.cider import IdfMetric
from sacrecap.metrics.declared import parameter, spell
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

    title = "Self-CIDEr"
    summary = "The captions of a set say different things, in words that are rare elsewhere."
    equation = "−log_m(√λ_1 / Σ_i √λ_i),  λ the eigenvalues of K_ij = 1/4 Σ_n cos(gⁿ(c_i), gⁿ(c_j))"
    source = "Wang and Chan, CVPR 2019"
    cites = ("wang2019describing",)
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
        negative = int(statistics.sums()[2]) if statistics.width > 2 else 0
        if not negative:
            return []
        of = f"{negative:,} of {statistics.rows:,} images"
        return [f"{self.key}: the similarity matrix of {of} is not positive semi-definite; singular values were used"]


class Vendi(SelfCider):
    """The Vendi score of a caption set, the effective number of its captions; corpus score = mean over images.

    Its matrix has ones on the diagonal: K_ij / √(K_ii K_jj).
    """

    title = "Vendi"
    summary = "As many captions, of which no two share anything, would be as varied as the set."
    equation = "exp(−Σ_i λ_i ln λ_i),  λ the eigenvalues of K/m, with K_ii = 1"
    source = "Friedman and Dieng, TMLR 2023"
    cites = ("friedman2023vendi",)
    upper = None
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "1",
        "equal captions": "1",
        "all similarities 0": "0: empty captions, or words whose IDF is 0",
        "empty caption": "it counts for nothing",
    }


class Lsa(SetMetric):
    """LSA diversity of a caption set; corpus score = mean over images."""

    stop: bool = parameter("count stop words (English function words and punctuation) too", default=True)

    title = "LSA"
    summary = "The captions of a set use different words."
    equation = "−log_m(σ_1 / Σ_i σ_i),  σ the singular values of the word–caption count matrix"
    source = "Wang and Chan, CVPR 2019"
    cites = ("wang2019describing",)
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "0: nothing varies",
        "equal captions": "0",
        "all similarities 0": "0: no caption has a word",
        "empty caption": "it counts in m and adds nothing to the spectrum",
    }

    def similarity(self) -> dict[str, bool | float | str]:
        return {"kernel": "words", **self.kernel_parameters()}


class _Repetition(SetMetric):
    length: str = parameter(
        "the reference length for the brevity penalty", default="closest", choices=("closest", "average")
    )

    source = "Shetty et al., ICCV 2017; Wang and Chan, CVPR 2019"
    cites = ("shetty2017speaking", "wang2019describing")


class Mbleu(_Repetition):
    """mBLEU of n-grams up to `n`; corpus score = mean over images. High = less diverse."""

    n: int = parameter("the longest n-gram", default=4, least=1, most=4, in_name=True)

    title = "mBLEU"
    summary = "The captions of a set repeat each other's n-grams: high = less diverse."
    equation = "mBLEU_n = 1/m Σ_i BLEU_n(c_i, C − {c_i})"
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "1: it varies as little as one that the others repeat",
        "equal captions": "1, from n words on; tiny below, like BLEU",
        "empty caption": "its BLEU is 0, even among empty captions",
    }
    lower_is_better = True


class MbleuMix(_Repetition):
    """The paper's diversity score from mBLEU: one minus the mean of mBLEU-1 to mBLEU-4."""

    title = "mBLEU-mix"
    summary = "The captions of a set do not repeat each other's n-grams."
    equation = "1 − 1/4 Σ_n mBLEU_n"
    nothing: ClassVar[dict[str, str]] = {
        "one caption": "0: nothing varies",
        "equal captions": "0, from 4 words on; above 0 for shorter ones, whose BLEU-4 is tiny",
        "empty caption": "its BLEU is 0, so it counts as different from all",
    }


class Div(SetMetric):
    """Distinct n-grams of a caption set over its words; corpus score = mean over images."""

    n: int = parameter("the length of the n-grams", default=1, least=1, most=4, in_name=True)
    over: str = parameter("the denominator", default="words", choices=("words", "ngrams"))

    title = "Div"
    summary = "Each n-gram occurs only once in a set."
    equation = "distinct n-grams of the set / words of the set"
    source = "Li et al., NAACL 2016; Shetty et al., ICCV 2017"
    cites = ("li2016diversity", "shetty2017speaking")
    nothing: ClassVar[dict[str, str]] = {"no word": "0", "captions shorter than n words": "0"}


class Distinct(SetMetric):
    """Share of distinct captions in a caption set; corpus score = mean over images."""

    title = "Distinct"
    summary = "No caption of a set repeats another."
    equation = "distinct captions / captions"
    source = "Wang and Chan, CVPR 2019"
    cites = ("wang2019describing",)
    nothing: ClassVar[dict[str, str]] = {"one caption": "1", "equal captions": "1/m"}


class _Figure(SetMetric):
    """A figure of caption sets that `diversity` derives; it has no arithmetic of its own."""

    arithmetic = ""
    source = "Wang and Chan, CVPR 2019"
    cites = ("wang2019describing",)
    nothing: ClassVar[dict[str, str]] = {}

    key: Any = property(attrgetter("family"))


class _OfCaptions(_Figure):
    """A figure computed from a metric's score of each caption of a set."""

    needs = ("caption_sets", "references")
    of: Metric

    def __init__(self, *, of: Metric) -> None:
        vars(self)["of"] = of

    largest: Any = property(attrgetter("of.largest"))
    lower_is_better: Any = property(attrgetter("of.lower_is_better"))
    bears: ClassVar[Any] = property(attrgetter("of.bears"))


class Accuracy(_OfCaptions):
    """The mean score of a set's captions by a metric that compares each with the references."""

    title = "Accuracy"
    summary = "The captions of a set agree with what people say."
    equation = "mean over the captions of a set, then over images"

    @property
    def label(self) -> str:
        return f"Accuracy ({self.of.label})"


class Oracle(_OfCaptions):
    """The score of the best caption of each set."""

    title = "Oracle"
    summary = "The best caption of a set agrees with what people say."
    equation = "largest over the captions of a set, mean over images"

    @property
    def label(self) -> str:
        return f"Best of a set ({self.of.label})"


class F(_Figure):
    """The weighted harmonic mean of diversity (Self-CIDEr) and accuracy."""

    beta2: float = parameter("β²: weight of accuracy relative to diversity", default=5.0, above=0.0)

    title = "F"
    summary = "The captions of a set are both varied and accurate."
    equation = "F = (1 + β²) · diversity · accuracy / (β² · diversity + accuracy)"
    largest: None = None

    @property
    def label(self) -> str:
        return f"F (β² = {spell(self.beta2)})"


class Novelty(_Figure):
    """The share of captions that are not among the training captions, word for word."""

    title = "Novelty"
    summary = "The captions are not copies of training captions."
    equation = "share of captions that no training caption equals"
    label: str = "Novel captions"
