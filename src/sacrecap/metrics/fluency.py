"""Fluency: how probable the candidate is by a language model of what people write about other images.

An n-gram model with interpolated, modified Kneser-Ney smoothing: Chen and Goodman, *An Empirical Study of Smoothing
Techniques for Language Modeling* (Harvard TR-10-98, 1998), section 3; Heafield et al., *Scalable Modified Kneser-Ney
Language Model Estimation* (ACL 2013). Madhyastha, Wang, Specia (ACL 2019) combine a language model with VIFIDEL.

    Fluency  = (∏_{i = 1}^{m + 1} P(w_i | w_{i − n + 1} … w_{i − 1}))^(1 / (m + 1)),  w_{m + 1} = </s>
    P(w | h) = (a(h w) − D(a(h w))) / a(h •) + Σ_i D_i N_i(h •) / a(h •) · P(w | h')

a is the count of an n-gram of order n, or one at the start of a sentence, and the number of distinct words before any
other; h' is h without its first word; the recursion ends with 1 / |V|.

Where papers and programs differ: docs/reference/metrics/fluency.md.
"""

from __future__ import annotations

from typing import ClassVar

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.document_frequency import cut
from sacrecap.corpus.language_model import LanguageModel
from sacrecap.errors import UsageError, option, spelled, warn
from sacrecap.metrics.base import Metric, Ready, Status
from sacrecap.metrics.declared import parameter
from sacrecap.resources.needs import Needs


class Fluency(Metric):
    """Inverse perplexity of the candidate by an n-gram model of the references; corpus score = mean."""

    n: int = parameter("order of the model: words are predicted from the n − 1 before", default=3, least=1, most=4)
    own: bool = parameter("whether to learn also from an image's own references", default=False)
    references: bool = parameter(
        "learn from the references of the call; no takes a language model built before, and needs no references",
        default=True,
    )

    title = "Fluency"
    summary = "The candidate reads like the captions that people write, for any image."
    equation = "Fluency = (∏_i P(w_i | w_{i−n+1} … w_{i−1}))^(1/(m+1)),  i = 1 … m+1,  w_{m+1} = </s>"
    source = "Chen and Goodman 1998; Heafield et al., ACL 2013; Madhyastha et al., ACL 2019"
    cites = ("chen1998smoothing", "heafield2013scalable", "madhyastha2019vifidel")
    upper = 1.0
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "empty reference": "nothing is learnt from it",
        "one image": "0 with own=no: no other image's references to learn from; a warning says so",
        "unknown word": "counts as <unk>, whose probability is that of one word never seen",
    }
    prepared = ("references",)

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("references",) if self.references else ("language_model",)

    @property
    def trained_on_references(self) -> bool:  # type: ignore[override]
        return self.references

    def status(self, needs: Needs) -> Status:
        return Status.left_out(None if self.references or "language_model" in needs else _lacks())

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the given language model, or else the references, which must be of several images, unless `own`."""
        source: object = needs.get("language_model")
        if self.references:
            if source is not None:
                hint = "the given language model is for fluency(references=no)"
                warn(f"{self.label} learns from the references of this call; {hint}")
            whole = corpus.whole
            images = len(corpus) if whole is None else whole.images
            if images == 1 and not self.own:
                remedy = "score more images together, or learn from the image's own references with fluency(own=yes)"
                warn(f"one image leaves no other image's references to learn from, so {self.label} is 0; {remedy}")
            learnt = () if whole is None else (whole.learnt[self],)
            return Ready(corpus._core, learnt, (f"lm:references({images})",))
        if source is None:
            raise UsageError(f"{self.label}: {_lacks()}")
        model = needs.once(("language_model", str(source)), lambda: LanguageModel.of(source))
        if model.n != self.n:
            flag = spelled(python=f"n={self.n}", command=f"--n {self.n}")
            orders = f"needs a language model of order {self.n}, {model.source} is of order {model.n}"
            remedy = f"build one with {flag}, or ask for {self.name}(n={model.n}, references=no)"
            raise UsageError(f"{self.key} {orders}; {remedy}")
        if cut(model.tokenizer) != cut(corpus.tokenizer):
            tokens = f"the language model is of {model.tokenizer} tokens, the captions are cut by {corpus.tokenizer}"
            warn(f"{tokens}: words that the two cut apart differently count as unknown")
        return Ready(corpus._core, (model._core,), (f"lm:{model.checksum}({model.images})",))

    def learner(self, needs: Needs, *, memory: int) -> LanguageLearner:  # noqa: ARG002
        return LanguageLearner(_core.LanguageCounts(self.n, memory=memory))


def _lacks() -> str:
    file = option("language_model", "FILE", flag="--lm")
    return f"it needs a language model, from sacrecap df build --language-model: {file}"


class LanguageLearner:
    """Makes the language model of references that come part by part."""

    def __init__(self, counts: _core.LanguageCounts) -> None:
        self._counts = counts

    def add(self, references: _core.Captions, encoded: _core.References, threads: int) -> None:  # noqa: ARG002
        """Counts the n-grams. Raises `DataError` where they take too much memory."""
        self._counts.add(encoded, threads)

    def merge(self, other: LanguageLearner) -> None:
        """Adds other counts. Raises `DataError` where they take too much memory."""
        self._counts.merge(other._counts)

    def finish(self) -> _core.LanguageModel:
        """The model, a resource of the metric."""
        return self._counts.finish()
