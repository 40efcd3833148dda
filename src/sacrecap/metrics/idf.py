"""The common base of metrics that weight n-grams by rarity: document frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sacrecap.errors import UsageError, option, spelled, warn
from sacrecap.metrics.base import Metric, Ready

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.resources.needs import Needs


class IdfMetric(Metric):
    """A metric over n-grams weighted by inverse document frequency: of the corpus, or from given counts."""

    uses_document_frequency: ClassVar[bool] = True

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes `document_frequency`, or nothing: the native arithmetic then counts the corpus' own references.

        Raises `UsageError` if the given frequencies count other things than this metric does.
        """
        frequencies: DocumentFrequency | None = needs.get("document_frequency")
        if frequencies is None:
            if corpus.documents == 1:
                warn(
                    f"one image is a corpus in which every n-gram is in every document, so every IDF and {self.label} "
                    "is 0; give document frequencies of a larger corpus with "
                    f"{option('document_frequency', 'FILE', flag='--df')}"
                )
            whole = corpus.whole
            counted = () if whole is None else (whole.frequencies(stems=self.uses_stems)._core,)
            return Ready(corpus._core, counted, (f"df:{corpus.document_source}({corpus.documents})",))
        self._check_frequencies(frequencies, corpus.tokenizer)
        return Ready(corpus._core, (frequencies._core,), (f"df:{frequencies.source}({frequencies.documents})",))

    def _check_frequencies(self, given: DocumentFrequency, tokenizer: str) -> None:
        """Refuses frequencies of other things than the metric counts; warns about another tokenizer."""
        if given.tokenizer == "token-ids":
            raise UsageError(
                f"{self.key} needs document frequencies of words, these are of token ids, for rewards; build them with "
                f"{spelled(python='sacrecap.DocumentFrequency.build(references)', command='sacrecap df build')}"
            )
        known = given.tokenizer != "unknown"
        if known and given.stem != self.uses_stems:
            have, want = ("stems", "word forms") if given.stem else ("word forms", "stems")
            stem = self.uses_stems
            build = spelled(
                python=f"sacrecap.DocumentFrequency.build(references{', stem=True' if stem else ''})",
                command=f"sacrecap df build{' --stem' if stem else ''}",
            )
            raise UsageError(
                f"{self.key} needs document frequencies of {want}, these are of {have}; build them with {build}"
            )
        longest = getattr(self, "n", given.n)
        if given.n < longest:
            build = spelled(
                python=f"sacrecap.DocumentFrequency.build(references, n={longest})",
                command=f"sacrecap df build --n {longest}",
            )
            raise UsageError(
                f"{self.key} needs document frequencies of n-grams up to {longest}, these go up to {given.n}; build "
                f"them with {build}, or ask for {self.name}(n={given.n})"
            )
        if known and _cut(given.tokenizer) != _cut(tokenizer):
            warn(
                f"the document frequencies are of {given.tokenizer} tokens, the captions are cut by {tokenizer}: words "
                "that the two cut apart differently count as rare"
            )


def _cut(tokenizer: str) -> str:
    """The tokenizer, for comparison: with the whole file or each caption, a tokenizer makes nearly the same tokens."""
    return {"ptb-stream": "ptb", "none": "whitespace", "blanks": "whitespace"}.get(tokenizer, tokenizer)
