"""CIDEr and CIDEr-D: consensus with the references, by TF-IDF weighted n-grams.

Vedantam, Zitnick, Parikh, *CIDEr: Consensus-based Image Description Evaluation* (CVPR 2015).

    g_k(s)    = h_k(s) · (log |I| − log max(1, df_k))                                        (eq. 1)
    CIDEr_n   = mean_j  gⁿ(c)·gⁿ(s_j) / (‖gⁿ(c)‖ ‖gⁿ(s_j)‖)                                  (eq. 2)
    CIDEr     = Σ_n w_n CIDEr_n,  w_n = 1/N,  N = 4                                          (eq. 3)
    CIDEr-D_n = mean_j  exp(−(l(c) − l(s_j))² / 2σ²) · min(gⁿ(c), gⁿ(s_j))·gⁿ(s_j) / (‖gⁿ(c)‖ ‖gⁿ(s_j)‖)   (eq. 4)

Where papers and programs differ: docs/reference/metrics/cider-d.md.

The appendix's variants are parameters of `cider-paper`: `only` (a single n), `pool=max`, `weights=exponential`
(w_n ∝ eⁿ), `idf=no`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import CaptionSource, Corpus
from sacrecap.errors import UsageError, option, spelled, warn
from sacrecap.metrics.base import Bears, Metric, NgramMetric, Ready
from sacrecap.metrics.declared import parameter
from sacrecap.resources.needs import Needs

if TYPE_CHECKING:
    from sacrecap.corpus.document_frequency import DocumentFrequency

_NOTHING = {
    "empty caption": "0",
    "one image and no --df": "0: every n-gram is in every document, so every IDF is log(1) = 0; a warning says so",
    "caption of fewer than 4 words": "its missing orders count as 0: 3 words against themselves give 7.5",
}


ONE_IMAGE = (
    "one image is a corpus in which every n-gram is in every document, so every IDF and {} is 0; give document "
    "frequencies of a larger corpus with {}"
)


class IdfMetric(NgramMetric):
    """A metric over n-grams weighted by inverse document frequency: of the corpus, or from given counts."""

    uses_document_frequency = True

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes `document_frequency`, or nothing: the native arithmetic then counts the corpus' own references."""
        captions = corpus.native(stems=self.uses_stems)
        sources: Sequence[DocumentFrequency] | None = needs.get("document_frequency")
        if sources is None:
            if corpus.documents == 1:
                warn(ONE_IMAGE.format(self.label, proposed([self])))
            whole = corpus.whole
            counted = () if whole is None else (whole.frequencies[self.uses_stems]._core,)
            return Ready(captions, counted, (f"df:{corpus.document_source}({corpus.documents})",))
        frequencies = self.fitting(sources, corpus.tokenizer)
        return Ready(captions, (frequencies._core,), (f"df:{frequencies.checksum}({frequencies.documents})",))

    def fitting(self, sources: Sequence[DocumentFrequency], tokenizer: str) -> DocumentFrequency:
        """Of given frequencies those that count what the metric counts. Raises `UsageError` if none or several do."""
        from sacrecap.corpus.document_frequency import cut

        reasons = [self._unfit(df, tokenizer) for df in sources]
        fitting = [df for df, reason in zip(sources, reasons, strict=True) if reason is None]
        if len(fitting) > 1:
            fitting = [df for df in fitting if cut(df.tokenizer) == cut(tokenizer)] or fitting
        if not fitting:
            several = "; ".join(f"{df.source}: {reason}" for df, reason in zip(sources, reasons, strict=True))
            raise UsageError(several if len(sources) > 1 else reasons[0])
        if len(fitting) > 1:
            names = ", ".join(df.source for df in fitting)
            raise UsageError(f"{self.key} could take any of these document frequencies: {names}; give one of a kind")
        [df] = fitting
        if df.tokenizer not in ("unknown", "token-ids") and cut(df.tokenizer) != cut(tokenizer):
            tokens = f"the document frequencies are of {df.tokenizer} tokens, the captions are cut by {tokenizer}"
            warn(f"{tokens}: words that the two cut apart differently count as rare")
        return df

    def _unfit(self, df: DocumentFrequency, tokenizer: str) -> str | None:
        """Why the frequencies are not of what the metric counts; None if they are."""

        def build(python: str = "", command: str = "") -> str:
            return "build them with " + spelled(
                python=f"sacrecap.DocumentFrequency.build(references{python})", command=f"sacrecap df build{command}"
            )

        needs = f"{self.key} needs document frequencies of"
        # Programs that train captioners score captions of ids, joined by blanks: see `sacrecap.compat`.
        if df.tokenizer == "token-ids" and tokenizer != "blanks":
            return f"{needs} words, these are of token ids, for rewards; give {proposed([self])}, or {build()}"
        if df.tokenizer != "unknown" and df.stem != self.uses_stems:
            have, want = ("stems", "word forms") if df.stem else ("word forms", "stems")
            remedy = build(", stem=True", " --stem") if self.uses_stems else build()
            return f"{needs} {want}, these are of {have}; {remedy}"
        longest = getattr(self, "n", df.n)
        if df.n < longest:
            remedy = f"{build(f', n={longest}', f' --n {longest}')}, or ask for {self.name}(n={df.n})"
            return f"{needs} n-grams up to {longest}, these go up to {df.n}; {remedy}"
        return None


def proposed(parts: Iterable[Metric]) -> str:
    """Document frequencies to give for the metrics that need some, for messages."""
    weighing = [part for part in parts if part.uses_document_frequency]
    names = dict.fromkeys("coco-train-stems" if part.uses_stems else "coco-train" for part in weighing)
    return f"{option('document_frequency', *names, flag='--df')}, or a file of sacrecap df build"


def frequencies_for(
    metrics: Iterable[Metric], references: CaptionSource, *, tokenizer: Tokenizer, threads: int = 0
) -> tuple[DocumentFrequency, ...]:
    """Document frequencies of the references, of each kind that the metrics need: of word forms, of stems, or none."""
    from sacrecap.corpus.document_frequency import DocumentFrequency

    weighted = (part for metric in metrics for part in metric.parts if part.uses_document_frequency)
    build = partial(DocumentFrequency.build, references, tokenizer=tokenizer, threads=threads)
    return tuple(build(stem=stem) for stem in sorted({part.uses_stems for part in weighted}))


class CiderPaper(IdfMetric):
    """CIDEr as its paper defines it (tables print CIDEr-D): cosine of TF-IDF vectors of stems; corpus score = mean."""

    n: int = parameter("the longest n-gram", default=4, least=1, most=4)
    only: int = parameter("the single n to use (CIDEr_n), 0 for all up to n", default=0, least=0, most=4)
    stem: bool = parameter(
        "reduce words to Snowball English stems first; no follows the authors' program", default=True
    )
    idf: bool = parameter("weight n-grams by rarity; no weights all alike", default=True)
    pool: str = parameter("how to combine similarities to several references", default="mean", choices=("mean", "max"))
    weights: str = parameter("weights of the orders", default="uniform", choices=("uniform", "exponential"))
    scale: float = parameter(
        "factor of the score: 10 in the published programs, 1 in the paper", default=10.0, above=0.0
    )

    @property
    def largest(self) -> float | None:
        return self.scale

    title = "CIDEr-paper"
    summary = "The candidate says what most references say, also in rare words."
    equation = "CIDEr = 10 · 1/4 Σ_n mean_j cos(gⁿ(c), gⁿ(s_j)),  g_k(s) = h_k(s) · log(|I| / max(1, df_k))"
    source = "Vedantam et al., CVPR 2015, eq. 1–3; variants: appendix"
    cites = ("vedantam2015cider",)
    upper = 10.0
    nothing: ClassVar[dict[str, str]] = _NOTHING
    arithmetic = "cider"
    bears = Bears(0.3, math.inf, 0.2)


class CiderD(IdfMetric):
    """CIDEr-D, which the COCO suite prints as "CIDEr": clipped, with a length penalty; corpus score = mean."""

    n: int = parameter("the longest n-gram", default=4, least=1, most=4)
    sigma: float = parameter("standard deviation of the length penalty, in words", default=6.0, above=0.0)
    stem: bool = parameter("reduce words to Snowball English stems first", default=False)

    title = "CIDEr-D"
    summary = (
        "The candidate says what most references say, also in rare words; repeated words and odd lengths do not help."
    )
    equation = (
        "CIDEr-D = 10 · 1/4 Σ_n mean_j exp(−(l(c) − l(s_j))²/2σ²) · min(gⁿ(c), gⁿ(s_j))·gⁿ(s_j) / (‖gⁿ(c)‖ ‖gⁿ(s_j)‖)"
    )
    source = "Vedantam et al., CVPR 2015, eq. 4; COCO caption evaluation"
    cites = ("vedantam2015cider", "chen2015coco")
    upper = 10.0
    nothing: ClassVar[dict[str, str]] = _NOTHING
    bears = Bears(0.3, 1.5, 0.8)
