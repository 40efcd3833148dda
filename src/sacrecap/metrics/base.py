"""Metrics: they declare themselves, fetch the resources that they need, and score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError
from sacrecap.metrics.declared import Declared
from sacrecap.resources.needs import Needs

if TYPE_CHECKING:
    from typing_extensions import Self


class Totals(Protocol):
    """What a metric's notes and warnings are made of: its statistics, or their sums over rows that nobody kept."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def width(self) -> int:
        """Numbers per row."""

    @property
    def unscored(self) -> int:
        """Number of rows without a score."""

    def score(self) -> float:
        """Score of all rows together."""

    def sums(self) -> list[float]:
        """Sums of the columns."""


class Learner(Protocol):
    """Learns from the references of all images where they come part by part, in several processes: `pickle` takes it.

    Any parts, in any order, must give what all references together do.
    """

    def add(self, references: _core.Captions, encoded: _core.References, threads: int) -> None:
        """Learns from the references of other images: as they were given, and as tokens."""

    def merge(self, other: Any) -> None:
        """Adds what another learner of the metric learnt from other images."""

    def finish(self) -> Any:
        """What `ready` finds as `corpus.whole.learnt[metric]`; `pickle` takes it. Nothing is learnt afterwards."""


@dataclass(frozen=True, eq=False)
class Ready:
    """A metric with the resources that it needs, for one corpus."""

    corpus: _core.Corpus
    """The captions as the metric sees them: those of the corpus, or the same captions cut into other words."""
    resources: tuple[object, ...] = ()
    """Resources that the native arithmetic uses besides the captions; it finds each by its type."""
    signature: tuple[str, ...] = ()
    """Parts that the resources add to the signature of a score, as `name:value`."""
    digests: Callable[[], Mapping[str, int]] = dict
    """Digests of what was read for each caption beside the captions, such as objects, by their names in signatures:
    taken after scoring; those of parts of a corpus add up, modulo 2^32.
    """
    parts: Mapping[Metric, Ready] = field(default_factory=dict)
    """The prepared parts of a combination."""
    own: Any = None
    """Values that the metric keeps for its explanations and notes; only the metric itself reads it."""


class Status(NamedTuple):
    """Whether a metric can be computed here from the needs of a call; if not, what is missing, and how to get it."""

    kind: Literal["available", "left out", "not installed"] = "available"
    """What a group does: it has an available metric; it leaves one out that lacks a need, which the call should give;
    and it keeps one that is not installed, without a score, so that its table has the same rows on every machine.
    """
    why: str = ""
    costly: bool = False
    """Whether a group leaves it out only for its cost, such as a large download: a call that names it computes it."""

    @property
    def hindrance(self) -> str | None:
        """Why a call that names the metric cannot compute it; None if it can."""
        return None if self.kind == "available" or self.costly else self.why

    @classmethod
    def left_out(cls, why: str | None, *, costly: bool = False) -> Status:
        """Left out by a group for that reason; available if there is none."""
        return cls("left out", why, costly) if why else cls()


class Bears(NamedTuple):
    """How long captions may be, in lengths of their references, for a metric to tell right ones from wrong ones.

    Measured; docs/explanation/findings.md has the table.
    """

    low: float
    high: float
    low_if_long: float
    """The least length of one system's captions in those of another's, where references are paragraphs."""


class Metric(Declared):
    """A metric: what it declares, and how it scores.

    A metric written in Python is a `PythonMetric`. Class attributes describe the metric; the registry, the command
    line, the documentation and the laws that the tests check all read them.
    """

    needs: ClassVar[tuple[str, ...]] = ("references",)
    """Names of its needs in addition to the candidates: `references`, and names that `sacrecap.score` takes as
    keywords, or in `needs` for metrics of other packages. `ready` takes them.
    """
    scores_sets: ClassVar[bool] = False
    """Whether it scores an image's captions together, as a caption set, rather than each."""
    prepared: ClassVar[tuple[str, ...]] = ()
    """Names of parameters that only `ready` takes: the native arithmetic does not know them."""
    explains: ClassVar[str | None] = None
    """The kind of explanation by `explain_image`, such as `alignment`; its plural is the key in JSON; None for none."""
    bears: ClassVar[Bears | None] = None
    """At which lengths it tells right captions from wrong ones; None for a metric that was not measured."""
    uses_document_frequency: ClassVar[bool] = False
    """Whether n-grams are weighted by how many images have them."""
    trained_on_references: ClassVar[bool] = False
    """Whether it builds a model of all images' references, so that fewer images give another model."""
    rises_with_references: ClassVar[bool] = True
    """Whether that model gives higher scores the more references it is of."""
    trained_on: ClassVar[tuple[str, ...]] = ()
    """The data sets of human judgments that it was fitted to, by the names of `sacrecap agreement --dataset`."""

    @property
    def arithmetic(self) -> str:
        """Name of the native arithmetic; empty for a metric written in Python: see `PythonMetric`."""
        return self.family

    @property
    def needs_references(self) -> bool:
        """Whether each image must have references: without, captions can be scored alone."""
        return "references" in self.needs

    @property
    def reads_tokens(self) -> bool:
        """Whether it sees captions cut into words by the call's tokenizer, rather than as they were given."""
        return True

    @property
    def counts_denied(self) -> bool:
        """Whether an object counts as named that a caption says is not there: `no dogs`."""
        return False

    @property
    def without_references(self) -> Self | None:
        """The metric as it scores without references: itself, or by its parameter of that name; None if it cannot."""
        if not self.needs_references:
            return self
        if "references" not in self._declared:
            return None
        return type(self)(**{**vars(self), "references": False})

    def status(self, needs: Needs) -> Status:  # noqa: ARG002
        """Whether the metric can be computed here from the given needs, and what a group does with it if not."""
        return Status()

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:  # noqa: ARG002
        """Prepares what the metric needs, for this corpus, and warns about doubtful inputs.

        Raises `UsageError` or `MissingDependencyError` for missing needs, `DataError` for unusable ones.
        """
        return Ready(corpus.native(stems=self.uses_stems))

    @property
    def learns_as(self) -> Metric:
        """The metric whose learner it takes, if it is trained on references: several may share one."""
        return self

    def landmarks(self, statistics: Totals) -> dict[str, float]:  # noqa: ARG002
        """Scores to see its score beside, computed in the same call, by name."""
        return {}

    def coverage(self, statistics: Totals) -> float | None:  # noqa: ARG002
        """The share of the words that the metric knows; None for a metric that knows every word."""
        return None

    def warnings(self, ready: Ready, statistics: Totals) -> list[str]:  # noqa: ARG002
        """Warnings about a counted score that is doubtful."""
        return []

    @property
    def no_score_where(self) -> str | None:
        """Why an image may have no score, in words; None for a metric that scores every image.

        The score of such an image is NaN, and it is left out of the corpus score.
        """
        return None

    def notes(self, statistics: Totals) -> list[str]:
        """Notes on the score, which results print."""
        if self.no_score_where is None or not statistics.unscored:
            return []
        unscored = statistics.unscored
        of = f"{unscored:,} of {statistics.rows:,} images {'has' if unscored == 1 else 'have'} no score"
        return [f"{self.label}: {of}: {self.no_score_where}."]

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Any:
        """Explains the score of the image with that number: see `explains`."""
        raise NotImplementedError(f"{self.key} has no explanations")

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics whose scores are counted: the metric itself, or those that it combines."""
        return (self,)

    @property
    def uses_stems(self) -> bool:
        """Whether words are reduced to stems first, so that document frequencies must be those of stems."""
        return False

    def kernel_parameters(self) -> dict[str, Any]:
        """Parameters as the native arithmetic takes them; numbers are floats. It takes `resolved` ones as resources."""
        elsewhere = (*self.resolved, *self.prepared)
        values = ((name, getattr(self, name)) for name in self._declared if name not in elsewhere)
        return {name: value if isinstance(value, (bool, str)) else float(value) for name, value in values}

    def named_or(self, parameter: str, value: Any) -> Any:
        """The value of a parameter that names a resource; if it has its default, the resource that the call gives."""
        own = getattr(self, parameter)
        return own if value is None or own != self._declared[parameter].default else value

    def learner(self, needs: Needs, *, memory: int) -> Learner | None:  # noqa: ARG002
        """A learner that has learnt nothing, for a metric that is trained on references and can learn part by part.

        Args:
            needs: what the metric may need.
            memory: the most bytes that it may take.
        """
        return None


class NgramMetric(Metric):
    """A metric over n-grams, of words or of their stems: a class declares `stem` among its parameters."""

    prepared: ClassVar[tuple[str, ...]] = ("stem",)
    stem: bool

    @property
    def uses_stems(self) -> bool:
        return self.stem


class SetMetric(Metric):
    """A metric of an image's captions together, as a set, between 0 and 1."""

    upper: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("caption_sets",)
    scores_sets: ClassVar[bool] = True

    def similarity(self) -> dict[str, bool | float | str]:
        """The similarity of two captions, whose matrix is scored by its spectrum, for the native arithmetic.

        Raises `UsageError` for a metric that is not made from a similarity matrix.
        """
        raise UsageError(f"{self.key} does not come from a similarity matrix; Self-CIDEr and LSA do")


class PythonMetric(Metric):
    """A metric whose arithmetic is written in Python: for metrics that other packages add.

    It returns statistics, one row per image, and a formula over sums of rows. Corpus scores, scores of images,
    intervals, paired tests, agreement with people and reports follow from the two. Without its own formula, the score
    is the mean over images, whose rows are (score, 1), or (0, 0) for an image without a score.
    """

    arithmetic: ClassVar[str] = ""

    def score_caption(self, candidate: str, references: list[str]) -> float:
        """The score of one candidate, if the metric is a mean over captions; all texts are tokens joined by blanks.

        A metric that needs more than that overrides `statistics`.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither score_caption nor statistics")

    def statistics(self, corpus: Corpus, ready: Ready) -> Sequence[Sequence[float]]:  # noqa: ARG002
        """The rows: one per candidate, image after image in the order of `corpus.image_ids`, all with the same width.

        `corpus.texts(image_id)` has the tokens of an image's candidates and of its references, `corpus.captions` the
        captions as they were given; `ready` is what `ready` returned. A metric of caption sets has one row per image. A
        NumPy array of shape (rows, width) is a sequence of rows.
        """
        texts = map(corpus.texts, corpus.image_ids)
        return [(self.score_caption(text, references), 1.0) for captions, references in texts for text in captions]

    def formula(self, sums: Sequence[float]) -> float:
        """The score of a sum of rows. It must be finite for every sum of rows, also where rows are repeated."""
        return sums[0] / sums[1] if sums[1] else 0.0

    def row_formula(self, row: Sequence[float]) -> float:
        """The score of a single row. A metric overrides it if that score differs from the formula of the row's
        numbers; then it has its own `formula` too. NaN: the image has no score.
        """
        return self.formula(row)
