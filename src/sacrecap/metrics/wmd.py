"""Word Mover's Distance: how far the candidate's words must move to become a reference's words.

Kusner, Sun, Kolkin, Weinberger, *From Word Embeddings To Document Distances* (ICML 2015); as a caption metric:
Kilickaya et al. (EACL 2017) and Madhyastha, Wang, Specia (ACL 2019).

    WMD(c, s) = min_T Σ_ij T_ij ‖x_i − x_j‖^p,  T ≥ 0, row sums d^c, column sums d^s
    score     = pool_j exp(−WMD(c, s_j))

d is the normalised bag of a sentence's content words, x their vectors. The optimum is exact.

Where papers and programs differ: docs/reference/metrics/wmd.md.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from sacrecap.errors import option, some, warn
from sacrecap.metrics.base import Bears, Metric, Ready
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

    resolved = ("embeddings",)
    takes_objects: ClassVar[bool] = False
    """Whether it is about the objects in images, which are found there if they are not given."""

    @property
    def script_words(self) -> bool:
        """Whether captions are cut into words as VIFIDEL's published script does, whatever the corpus' tokenizer."""
        return False

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Looks up the vectors of the words of the captions, and of the labels of the objects, if there are any.

        Raises `DataError` if vectors or objects are unusable.
        """
        from sacrecap.resources.embeddings import embed
        from sacrecap.resources.objects_of_images import are_found, objects_of, signature_of_found

        source = self.named_or("embeddings", needs.get("embeddings"))
        finds_objects = self.takes_objects and are_found(needs)
        objects = partial(objects_of, corpus, needs, find=finds_objects)
        view = embed(corpus, needs, source, objects, scripted=self.script_words, detected=finds_objects)
        signature = f"embeddings:{view.checksum}", *(signature_of_found(needs) if finds_objects else ())
        return Ready(view.corpus, (view.embedded,), signature, own=view)

    def coverage(self, statistics: Totals) -> float | None:
        """Share of the content words and labels (counted with repeats) that have a vector; 1 if there are none.

        Rows of statistics are (score, 1, known, all).
        """
        known_words, total = statistics.sums()[2:4]
        return known_words / total if total else 1.0

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


class Wmd(EmbeddingMetric):
    """Exponentiated Word Mover's Distance; corpus score = mean."""

    pool: str = parameter(
        "which reference counts: the nearest, the farthest, or the mean over all",
        default="best",
        choices=("best", "worst", "mean"),
    )
    p: int = parameter("power of the distance between two vectors", default=2, least=1, most=2)
    similarity: bool = parameter("exp(−distance); no gives the distance, for which lower is better", default=True)
    normalise: bool = parameter("scale vectors to unit length first", default=False)

    title = "WMD"
    summary = "The candidate's content words mean what a reference's mean."
    equation = "WMD = max_j exp(−min_T Σ T_ik ‖x_i − x_k‖^p) over the content words i of c and k of s_j"
    source = "Kusner et al., ICML 2015; Madhyastha et al., ACL 2019"
    cites = ("kusner2015wmd", "kilickaya2017reevaluating")
    upper = 1.0
    needs = ("references", "embeddings")
    nothing: ClassVar[dict[str, str]] = {
        "no known content word in the caption": (
            "0; as a distance (2 r)^p, r being the length of the longest vector of a reference's words"
        ),
        "no known content word in any reference": "0; as a distance (2 r)^p of the caption's vectors; 2^p without any",
        "no known content word in one of the references": "that reference is left out",
        "every distance zero": "1; as a distance 0",
    }
    bears = Bears(0.3, 5, 0.3)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """As for any metric over word vectors; warns of images that are beyond what transport can solve in a minute."""
        ready = super().ready(corpus, needs)
        if beyond := ready.own.embedded.beyond(ready.corpus):
            warn(
                f"{self.label} has no score of {some([corpus.image_ids[place] for place in beyond])}: a caption "
                "and a reference have more than 4,000,000 pairs of different words; shorten one of them"
            )
        return ready

    @property
    def largest(self) -> float | None:
        return None if self.lower_is_better else self.upper

    @property
    def lower_is_better(self) -> bool:
        return not self.similarity
