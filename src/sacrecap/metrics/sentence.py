"""Sentence: the cosine of sentence embeddings, with the best reference.

Reimers and Gurevych, *Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks* (EMNLP 2019): the vector of a
sentence is the mean of its tokens' vectors in the last layer.

    Sentence(c, R) = max_{r ∈ R} cos(c, r)

Where papers and programs differ: docs/reference/metrics/bertscore.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from sacrecap.metrics.base import Ready
from sacrecap.metrics.clipscore import cosine
from sacrecap.metrics.learned import ByNetwork, CutCaptions, LearnedMetric

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.learned.texts import TextVectors
    from sacrecap.resources.needs import Needs


class Sentence(LearnedMetric):
    """Cosine of sentence embeddings, with the best reference; corpus score = mean."""

    family: ClassVar[str] = "sentence"
    title: ClassVar[str] = "Sentence"
    summary: ClassVar[str] = "The candidate means what a reference means."
    equation: ClassVar[str] = "Sentence = max_j cos(c, r_j)"
    source: ClassVar[str] = "Reimers and Gurevych, EMNLP 2019"
    cites: ClassVar[tuple[str, ...]] = ("reimers2019sentencebert",)
    upper: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("references", "device")
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "empty reference": "it is left out; 0 if there is no other",
    }
    usual_model: ClassVar[str] = "sentence-transformers/all-MiniLM-L6-v2"

    @property
    def smallest(self) -> float | None:
        return -1.0

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the model.

        Raises `MissingDependencyError` without the extra, `DataError` for a checkpoint that cannot be used.
        """
        self.checkpoint.check_usable(self.label)
        from sacrecap.resources.learned.checkpoint import load
        from sacrecap.resources.learned.text_encoder import TextEncoder
        from sacrecap.resources.learned.texts import TextVectors

        encoder = load(TextEncoder, self.checkpoint, needs)
        tokenizer = encoder.tokenizer()
        captions, reader = (
            CutCaptions.of(corpus, tokenizer.limit, references=True),
            TextVectors(encoder, tokenizer, needs),
        )
        own = ByNetwork(lambda: self._scores(captions, reader), captions)
        return Ready(corpus._core, signature=(f"model:{encoder.identity}",), own=own)

    def _scores(self, captions: CutCaptions, reader: TextVectors) -> Iterator[float]:
        vectors = captions.vectors(reader)
        for _, candidate, references in captions.pairs():
            described = [one for one in references if one.strip()] if candidate.strip() else []
            yield max((cosine(vectors[candidate], vectors[one]) for one in described), default=0.0)
