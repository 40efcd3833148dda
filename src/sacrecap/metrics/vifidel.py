"""VIFIDEL: how far a caption's words are from the objects in the image.

Madhyastha, Wang, Specia, *VIFIDEL: Evaluating the Visual Fidelity of Image Descriptions* (ACL 2019).

    VIFIDEL(I, S) = exp(−min_T Σ_ij T_ij ‖ρ_i x_i − ρ_j x_j‖^p),  T ≥ 0, row sums d^I, column sums d^S
    ρ_k           = (1/M) Σ_r (1 − max_{t ∈ R_r} cos(x_k, x_t)) / 2;  ρ_k = 1 without references

d^I is the normalised bag of the image's object labels, d^S that of the caption's content words, x their vectors.

Where papers and programs differ: docs/reference/metrics/vifidel.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import Corpus, check_texts, tokenize
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics.base import Ready, Status
from sacrecap.metrics.declared import parameter
from sacrecap.metrics.wmd import EmbeddedCorpus, EmbeddingMetric, embedded, encode
from sacrecap.resources.needs import Needs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.resources.embeddings import EmbeddingSource

    Numbers = npt.NDArray[np.float64]

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

    title = "VIFIDEL"
    summary = "The caption's content words mean the objects in the image."
    equation = "VIFIDEL = exp(−min_T Σ T_ij ‖ρ_i x_i − ρ_j x_j‖^p),  ρ_k = mean_r (1 − max_{t ∈ R_r} cos(x_k, x_t)) / 2"
    source = "Madhyastha, Wang, Specia, ACL 2019"
    cites = ("madhyastha2019vifidel",)
    upper = 1.0
    needs = ("references", "objects", "embeddings")
    explains = "explanation"
    takes_objects = True
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
        variant = values["variant"] if isinstance(values["variant"], str) else ""
        for name, value in _VARIANTS.get(variant, _VARIANTS["paper"]).items():
            values[name] = value if values[name] is None else values[name]

    @property
    def needs_references(self) -> bool:
        return self.references

    @property
    def lower_is_better(self) -> bool:
        return self.variant == "released"

    @property
    def script_words(self) -> bool:
        return self.variant == "released"

    @property
    def reads_tokens(self) -> bool:
        return self.variant == "paper"

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
        from sacrecap.data.objects import count_labels
        from sacrecap.resources.embeddings import script_words

        if isinstance(references, str):
            raise DataError(f"references are a list of sentences, got one text: {references!r}")
        sentences = check_texts([caption, *(references or ())])
        words = [script_words(s) for s in sentences] if self.script_words else tokenize(sentences, tokenizer=tokenizer)
        labels = count_labels(objects, "explain")
        texts = list(map(" ".join, words))
        corpus, source = encode({"image": texts[1:]}, {"image": texts[:1]}, 1), self.named_or("embeddings", embeddings)
        return self._plan(embedded(corpus, [labels], source, scripted=self.script_words), 0)

    def status(self, needs: Needs) -> Status:
        from sacrecap.resources.objects_of_images import lack, lacks_objects

        return Status.left_out(f"it {lacks_objects()}" if lack(needs) else None)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """As for any metric over word vectors."""
        from sacrecap.resources.objects_of_images import digest_of_objects, lacks_objects

        if "objects" not in needs and "images" not in needs:
            raise UsageError(f"{self.label} {lacks_objects()}")
        ready = super().ready(corpus, needs)
        return replace(ready, digests=lambda: {"objects": digest_of_objects(corpus, needs, counts=True)})

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Explanation:  # noqa: ARG002
        """The plan for the image of that number: which object moves to which word."""
        return self._plan(ready.own, image)

    def _plan(self, view: EmbeddedCorpus, image: int) -> Explanation:
        import numpy as np

        plan = view.embedded.explain_vifidel(view.corpus, self.kernel_parameters(), image)
        labels = view.labels[image] if view.labels is not None else ()
        known_words, total = plan["coverage"]
        of_items = ("object_weights", "word_weights", "object_importance", "word_importance", "cost", "plan")
        numbers: dict[str, Any] = {name: np.frombuffer(plan[name]).copy() for name in of_items}
        shape = len(plan["objects"]), len(plan["words"])
        numbers |= {name: numbers[name].reshape(shape) for name in ("cost", "plan")}
        return Explanation(
            objects=tuple(labels[number] for number in plan["objects"]),
            words=view.spell(plan["words"]),
            reference_words=tuple(map(view.spell, plan["reference_words"])),
            distance=plan["distance"],
            score=plan["score"],
            coverage=known_words / total if total else 1.0,
            **numbers,
        )


@dataclass(frozen=True, eq=False)
class Explanation:
    """How VIFIDEL scored an image and its caption, for n known objects and m known words. `print` shows it."""

    objects: tuple[str, ...]
    """Labels with a vector."""
    words: tuple[str, ...]
    """The caption's distinct content words with a vector."""
    reference_words: tuple[tuple[str, ...], ...]
    """The same of each reference."""
    object_weights: Numbers
    """Shares of the objects, shape (n,), summing to 1."""
    word_weights: Numbers
    """Shares of the words, shape (m,), summing to 1."""
    object_importance: Numbers
    """ρ of the objects, shape (n,): near 0 if every reference mentions it; 1 without references."""
    word_importance: Numbers
    """ρ of the words, shape (m,)."""
    cost: Numbers
    """‖ρ_i x_i − ρ_j x_j‖^p, shape (n, m)."""
    plan: Numbers
    """Mass moved from object to word, shape (n, m)."""
    distance: float
    """The optimal value: the sum of plan × cost."""
    score: float
    """The score that the metric computes from the distance."""
    coverage: float
    """Share of the content words and labels that have a vector."""

    @property
    def flows(self) -> list[tuple[int, int, float, float]]:
        """Moves as (object, word, share, cost), the most expensive first."""
        places = zip(*(places.tolist() for places in self.plan.nonzero()), strict=True)
        moved = [(i, j, float(self.plan[i, j]), float(self.cost[i, j])) for i, j in places]
        return sorted(moved, key=lambda flow: -flow[2] * flow[3])

    def __str__(self) -> str:
        width = max((len(name) for name in (*self.objects, *self.words)), default=0)
        lines = _bag("objects", self.objects, self.object_weights, self.object_importance, width)
        lines += _bag("words", self.words, self.word_weights, self.word_importance, width)
        for number, (i, j, share, cost) in enumerate(self.flows):
            head = "flow" if number == 0 else ""
            arrow = f"{self.objects[i]:<{width}}  →  {self.words[j]:<{width}}"
            lines.append(f"{head:<10} {arrow}  share {share:.4f} × cost {cost:.4f} = {share * cost:.4f}")
        lines += [
            f"distance   {self.distance:.4f}",
            f"score      {self.score:.4f}",
            f"coverage   {self.coverage:.0%} of the content words and labels have a vector",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        fields = vars(self).items()
        return {name: value if isinstance(value, (tuple, float)) else value.tolist() for name, value in fields}


def _bag(title: str, names: tuple[str, ...], weights: Numbers, importance: Numbers, width: int) -> list[str]:
    """A line per object or word: its share and its ρ."""
    if not names:
        return [f"{title:<10} none known"]
    rows = zip([title, *[""] * (len(names) - 1)], names, weights, importance, strict=True)
    return [f"{head:<10} {name:<{width}}  share {weight:.4f}  ρ {rho:.4f}" for head, name, weight, rho in rows]
