"""VIFIDEL: how far a caption's words are from the objects in the image.

Madhyastha, Wang, Specia, *VIFIDEL: Evaluating the Visual Fidelity of Image Descriptions* (ACL 2019).

    VIFIDEL(I, S) = exp(−min_T Σ_ij T_ij ‖ρ_i x_i − ρ_j x_j‖^p),  T ≥ 0, row sums d^I, column sums d^S
    ρ_k           = (1/M) Σ_r (1 − max_{t ∈ R_r} cos(x_k, x_t)) / 2;  ρ_k = 1 without references

d^I is the normalised bag of the image's object labels, d^S that of the caption's content words, x their vectors.

Where papers and programs differ: docs/reference/metrics/vifidel.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap.errors import DataError, UsageError
from sacrecap.metrics.base import Ready, Status
from sacrecap.metrics.declared import parameter
from sacrecap.metrics.wmd import EmbeddingMetric

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.vifidel.explanation import Explanation
    from sacrecap.resources.needs import Needs
    from sacrecap.resources.vectors import EmbeddingSource

_VARIANTS: dict[str, dict[str, Any]] = {"paper": {"p": 2, "normalise": False}, "released": {"p": 1, "normalise": True}}
"""The parameters that a variant decides."""


class Vifidel(EmbeddingMetric):
    """Transport between objects and content words, exponentiated; corpus score = mean."""

    variant: str = parameter(
        "paper: exp(−distance), p=2; released: what the published script prints, a distance of unit vectors, p=1",
        default="paper",
        choices=tuple(_VARIANTS),
    )
    references: bool = parameter("weight objects and words by their distance from the references", default=True)
    p: int = parameter("power of the distance; the variant's by default", default=None, kind=int, least=1, most=2)
    frequency: bool = parameter("count objects; no weights each label alike", default=True)
    normalise: bool = parameter("scale vectors to unit length first; the variant's by default", default=None, kind=bool)

    title: ClassVar[str] = "VIFIDEL"
    summary: ClassVar[str] = "The caption's content words mean the objects in the image."
    equation: ClassVar[str] = (
        "VIFIDEL = exp(−min_T Σ T_ij ‖ρ_i x_i − ρ_j x_j‖^p),  ρ_k = mean_r (1 − max_{t ∈ R_r} cos(x_k, x_t)) / 2"
    )
    source: ClassVar[str] = "Madhyastha, Wang, Specia, ACL 2019"
    cites: ClassVar[tuple[str, ...]] = ("madhyastha2019vifidel",)
    upper: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("references", "objects", "embeddings")
    explains: ClassVar[str | None] = "explanation"
    nothing: ClassVar[dict[str, str]] = {
        "no known content word in the caption": (
            "0; released: (2 r)^p, r being the length of the longest vector of an object: 2"
        ),
        "no known object": "0; released: (2 r)^p with the caption's vectors: 2",
        "no known content word in any reference": "as without references: ρ = 1",
        "every distance zero": "1; released: 0",
    }

    def complete(self) -> None:
        """Fills in what the variant decides."""
        values: dict[str, Any] = vars(self)
        decided = _VARIANTS.get(values["variant"]) if isinstance(values["variant"], str) else None
        for name, value in (decided or _VARIANTS["paper"]).items():
            if values[name] is None:
                values[name] = value

    @property
    def needs_references(self) -> bool:
        return self.references

    @property
    def largest(self) -> float | None:
        return None if self.lower_is_better else self.upper

    @property
    def lower_is_better(self) -> bool:
        return self.variant == "released"

    @property
    def script_words(self) -> bool:
        return self.variant == "released"

    @property
    def takes_objects(self) -> bool:
        return True

    def explain(
        self,
        objects: Mapping[str, int] | Iterable[str],
        caption: str,
        references: Sequence[str] | None = None,
        *,
        tokenizer: Tokenizer = "ptb",
        embeddings: EmbeddingSource | None = None,
    ) -> Explanation:
        """Shows which object moves to which word, at what cost, and how important each is; printable.

        Args:
            objects: labels with their counts, or labels alone.
            caption: the candidate.
            references: references for the importance weights; without them ρ is 1.
            tokenizer: cuts captions into words; see [`sacrecap.tokenize`][]. The released variant has its own.
            embeddings: word vectors in place of the metric's.

        Raises `DataError` for unusable objects, captions or vectors.
        """
        from sacrecap.corpus.corpus import check_texts, tokenize
        from sacrecap.data.objects import count_labels
        from sacrecap.metrics.vifidel.explanation import explain
        from sacrecap.resources.vectors import embed_texts, script_words

        if isinstance(references, str):
            raise DataError(f"references are a list of sentences, got one text: {references!r}")
        sentences = check_texts([caption, *(references or ())])
        words = [script_words(s) for s in sentences] if self.script_words else tokenize(sentences, tokenizer=tokenizer)
        labels = count_labels(objects, "explain")
        view = embed_texts(
            words[0], words[1:], labels, self.named_or("embeddings", embeddings), scripted=self.script_words
        )
        return explain(self, view, 0)

    def status(self, needs: Needs) -> Status:
        from sacrecap.resources.objects_of_images import lack, lacks_objects

        return Status.left_out(f"it {lacks_objects()}" if lack(needs) else None)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """As for any metric over word vectors; raises `UsageError` also where no objects are given."""
        from sacrecap.resources.objects_of_images import digest_of_objects, lacks_objects

        if "objects" not in needs and "images" not in needs:
            raise UsageError(f"{self.label} {lacks_objects()}")
        ready = super().ready(corpus, needs)
        return replace(ready, digests=lambda: {"objects": digest_of_objects(corpus, needs, counts=True)})

    @property
    def reads_tokens(self) -> bool:
        return not self.script_words

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Explanation:  # noqa: ARG002
        """The plan for the image of that number: which object moves to which word."""
        from sacrecap.metrics.vifidel.explanation import explain

        return explain(self, ready.own, image)
