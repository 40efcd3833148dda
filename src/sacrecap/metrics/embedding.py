"""The common base of metrics that compare word vectors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from sacrecap.errors import option
from sacrecap.metrics.base import Metric, Ready
from sacrecap.metrics.declared import parameter

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.base import Totals
    from sacrecap.resources.needs import Needs

LOW_COVERAGE = 0.8
"""If a smaller share of words and labels has a vector, there is a warning."""


class EmbeddingMetric(Metric):
    """A metric over word vectors. A parameter names them; `--embeddings` names them for metrics with the default."""

    embeddings: str = parameter("word vectors: a name, or a file of any known format", default="default", kind=str)

    resolved: ClassVar[tuple[str, ...]] = ("embeddings",)

    @property
    def script_words(self) -> bool:
        """Whether captions are cut into words as VIFIDEL's published script does, whatever the corpus' tokenizer."""
        return False

    @property
    def takes_objects(self) -> bool:
        """Whether it is about the objects in images, which are found there if they are not given."""
        return False

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Looks up the vectors of the words of the captions, and of the labels of the objects, if there are any.

        Raises `DataError` if vectors or objects are unusable.
        """
        from sacrecap.resources.objects_of_images import are_found, objects_of, signature_of_found
        from sacrecap.resources.vectors import embed

        source = self.named_or("embeddings", needs.get("embeddings"))
        found = self.takes_objects and are_found(needs)
        objects = partial(objects_of, corpus, needs, find=found)
        view = embed(corpus, needs, source, objects, scripted=self.script_words, detected=found)
        signature = f"embeddings:{view.checksum}", *(signature_of_found(needs) if found else ())
        return Ready(view.corpus, (view.embedded,), signature, own=view)

    def coverage(self, statistics: Totals) -> float | None:
        """Share of the content words and labels (counted with repeats) that have a vector; 1 if there are none.

        Rows of statistics are (score, 1, known, all).
        """
        known, total = statistics.sums()[2:4]
        return known / total if total else 1.0

    def warnings(self, ready: Ready, statistics: Totals) -> list[str]:
        """Warns if the score is unreliable because too many words have no vector."""
        share = self.coverage(statistics)
        if share is None or share >= LOW_COVERAGE:
            return []
        message = (
            f"{self.label}: only {share:.0%} of the content words and labels have a vector in {ready.own.source}; the "
            f"others are left out of the score; give other vectors with {option('embeddings', 'NAME|FILE')}"
        )
        return [message]
