"""Metrics: frozen values that print as text, parse back, and fetch the resources that they need."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, SupportsIndex, TypeVar, cast

from sacrecap.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import dataclass_transform

    from sacrecap import _core
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.needs import Needs

else:

    def dataclass_transform(**_: object) -> Any:
        """Tells type checkers how the class is constructed; does nothing else (in the standard library from Python
        3.11).
        """
        return lambda cls: cls


ParameterValue = bool | int | float | str


Method = TypeVar("Method", bound="Callable[..., Any]")


def remembered(method: Method) -> Method:
    """Caches the result of a metric's method: metrics are values, so equal metrics have equal results."""
    return cast("Method", lru_cache(maxsize=1024)(method))


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
        """What `ready` finds as `corpus.whole.learnt(metric)`; `pickle` takes it. Nothing is learnt afterwards."""


class Parameter:
    """A declared parameter of a metric: its meaning, its default, and the values that it accepts."""

    __slots__ = ("above", "choices", "default", "in_name", "kind", "least", "meaning", "most", "name")

    def __init__(
        self,
        meaning: str,
        default: ParameterValue | None,
        kind: type[ParameterValue] | None,
        choices: tuple[str, ...] | None,
        least: float | None,
        most: float | None,
        above: float | None,
        in_name: bool,
    ) -> None:
        self.name = ""
        self.default = default
        self.meaning = meaning
        self.kind: type[object] = kind or type(default)
        self.choices = choices
        self.least = least
        self.most = most
        self.above = above
        self.in_name = in_name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def names_a_place(self) -> bool:
        """Whether its value is free text: the name or path of a resource."""
        return self.kind is str and self.choices is None


def parameter(
    meaning: str,
    *,
    default: ParameterValue | None,
    kind: type[ParameterValue] | None = None,
    choices: tuple[str, ...] | None = None,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    in_name: bool = False,
) -> Any:
    """Declares a metric's parameter; every check, message and help text is generated from it.

    A parameter whose default depends on another has `default` None and says its `kind`; the metric fills it in before
    the checks. `least` and `most` are inclusive bounds, `above` is an exclusive one. A parameter that is `in_name` is
    fixed by the metric's name (the 4 of BLEU-4) and cannot be given in parentheses.
    """
    return Parameter(meaning, default, kind, choices, least, most, above, in_name)


@dataclass(frozen=True, eq=False)
class Ready:
    """A metric with the resources that it needs, for one corpus."""

    corpus: _core.Corpus
    """The captions as the metric sees them: those of the corpus, or the same captions cut into other words."""
    resources: tuple[object, ...] = ()
    """Resources that the native arithmetic uses besides the captions; it finds each by its type."""
    signature: tuple[str, ...] = ()
    """Parts that the resources add to the signature of a score, as `name:value`."""
    parts: Mapping[Metric, Ready] = field(default_factory=dict)
    """The prepared parts of a combination."""
    own: Any = None
    """Values that the metric keeps for its explanations and notes; only the metric itself reads it."""


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(parameter,))
class Metric:
    """A metric with its parameters: frozen, hashable, comparable, printed as `CIDEr-D(n=4, sigma=6)`.

    Subclasses declare their parameters with [`parameter`][sacrecap.metrics.parameter]; the code that makes them values
    is here, once. A dataclass would do the same, but would compile code for each class at every start of the program.
    Class attributes describe the metric; the registry, the command line, the documentation and the laws that the tests
    check all read them.
    """

    family: ClassVar[str]
    """Identifier without the part that comes from a parameter: `cider-d`, `bleu`."""
    title: ClassVar[str]
    """The name as papers print it: `CIDEr-D`, `BLEU`. It differs from the family only in case, so it parses back
    too."""
    summary: ClassVar[str]
    """One sentence: what a high score means."""
    equation: ClassVar[str]
    """The formula in plain text."""
    source: ClassVar[str]
    """Paper and equation."""
    cites: ClassVar[tuple[str, ...]] = ()
    """Publications to cite, for `sacrecap cite`: BibTeX entries, or keys of those in sacrecap's `publications.bib`."""
    upper: ClassVar[float | None]
    """Largest score with default parameters; None when there is none. If it depends on a parameter, the metric
    overrides `largest` too. The smallest is 0, unless a metric overrides `smallest`.
    """
    needs: ClassVar[tuple[str, ...]] = ("references",)
    """Names of its needs in addition to the candidates: `references`, and names that `sacrecap.score` takes as
    keywords, or in `needs` for metrics of other packages. `ready` takes them.
    """
    gpus: ClassVar[float] = 0.0
    """GPUs that a worker of a cluster takes for it, where the cluster has some."""
    scores_sets: ClassVar[bool] = False
    """Whether it scores an image's captions together, as a caption set, rather than each."""
    nothing: ClassVar[dict[str, str]]
    """Edge cases: the scores of an empty caption and similar cases, in words."""
    kernel: ClassVar[str]
    """Name of the native arithmetic; a metric written in Python has none: see `PythonMetric`."""
    explains: ClassVar[str | None] = None
    """The kind of explanation by `explain_image`, such as `alignment`; its plural is the key in JSON; None for none."""
    uses_document_frequency: ClassVar[bool] = False
    """Whether n-grams are weighted by how many images have them."""
    trained_on_references: ClassVar[bool] = False
    """Whether it builds a model of all images' references, so that fewer images give another model."""

    _declared: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        cls._declared = {**cls._declared, **own}

    def __init__(self, **values: Any) -> None:
        unknown = [name for name in values if name not in self._declared]
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no parameter {unknown[0]!r}; it has: {', '.join(self._declared)}"
            )
        vars(self).update({name: values.get(name, p.default) for name, p in self._declared.items()})
        self.complete()
        for declared in self._declared.values():
            self._check(declared)

    def complete(self) -> None:
        """Fills in, before the checks, the parameters whose defaults depend on others."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a metric is a value: {name} cannot be set; make another with with_parameters")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a metric is a value: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """The declared parameters, without those fixed by the name."""
        return [declared for declared in cls._declared.values() if not declared.in_name]

    def unavailable(self, needs: Needs) -> str | None:  # noqa: ARG002
        """Why the metric cannot be computed from the given needs, and what to do; None when it can.

        A group leaves out the metrics that are unavailable: see `left_out`.
        """
        return None

    def left_out(self, needs: Needs) -> str | None:
        """Why a group leaves the metric out; None if it keeps it. A call that names the metric itself still computes
        it.

        A group leaves out a metric that is unavailable, or that would cause an unexpected cost, such as a large
        download.
        """
        return self.unavailable(needs)

    def not_installed(self, needs: Needs) -> str | None:  # noqa: ARG002
        """What is missing on this machine for the metric, and how to get it; None if nothing is missing.

        A group keeps such a metric, without a score, so that its table has the same rows on every machine.
        """
        return None

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:  # noqa: ARG002
        """Prepares what the metric needs, for this corpus, and warns about doubtful inputs.

        Raises `UsageError` or `MissingDependencyError` for missing needs, `DataError` for unusable ones.
        """
        return Ready(corpus._core)

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

    def unscored(self, statistics: Totals) -> int:
        """Number of images without a score."""
        if self.no_score_where is None:
            return 0
        return statistics.unscored

    def notes(self, statistics: Totals) -> list[str]:
        """Notes on the score, which results print."""
        unscored = self.unscored(statistics)
        if not unscored:
            return []
        of = f"{unscored:,} of {statistics.rows:,} images {'has' if unscored == 1 else 'have'} no score"
        return [f"{self.label}: {of}: {self.no_score_where}."]

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Any:
        """Explains the score of the image with that number: see `explains`."""
        raise NotImplementedError(f"{self.key} has no explanations")

    def usual(self) -> Metric:
        """The metric of this name with the default parameters."""
        return self.with_parameters({})

    def with_parameters(self, values: Mapping[str, ParameterValue]) -> Metric:
        """The metric of this name with these parameters, the others at their defaults.

        Raises `UsageError` for a value that is not accepted.
        """
        fixed = {p.name: getattr(self, p.name) for p in self._declared.values() if p.in_name}
        return type(self)(**fixed, **values)

    @property
    def name(self) -> str:
        """Identifier in files and on the command line, without parameters: `bleu-4`, `cider-d`."""
        return "-".join([self.family, *self._name_parts()])

    @property
    @remembered
    def key(self) -> str:
        """Identifier with the parameters that are not at their defaults: `cider-d`, `cider-d(sigma=5)`."""
        usual = self.usual()
        changed = [p for p in self.parameters() if getattr(self, p.name) != getattr(usual, p.name)]
        return self.name + self._in_parentheses(changed)

    @property
    @remembered
    def label(self) -> str:
        """The name as papers print it, with the parameters that are not at their defaults: `BLEU-4`."""
        return "-".join([self.title, *self._name_parts()]) + self.key[len(self.name) :]

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics whose scores are counted: the metric itself, or those that it combines."""
        return (self,)

    @property
    def lower_is_better(self) -> bool:
        """Whether a low score is good: the metric is a distance, or a similarity of captions that should differ."""
        return False

    @property
    def largest(self) -> float | None:
        """Largest score with these parameters; None when there is none."""
        return self.upper

    @property
    def smallest(self) -> float | None:
        """Smallest score with these parameters; None when there is none."""
        return 0.0

    @property
    def uses_stems(self) -> bool:
        """Whether words are reduced to stems first, so that document frequencies must be those of stems."""
        return False

    def __str__(self) -> str:
        return "-".join([self.title, *self._name_parts()]) + self._in_parentheses(self.parameters())

    def __repr__(self) -> str:
        return str(self)

    def kernel_parameters(self) -> dict[str, Any]:
        """Parameters as the native arithmetic takes them; numbers are floats."""
        values = ((name, getattr(self, name)) for name in self._declared)
        return {name: value if isinstance(value, (bool, str)) else float(value) for name, value in values}

    @property
    def arithmetic(self) -> str:
        """Name of the native arithmetic: `kernel`, unless that is a parameter of the metric."""
        return self.kernel

    def signature_parts(self) -> list[str]:
        """`name:value` of every parameter, for the signature."""
        return [f"{p.name}:{spell(getattr(self, p.name))}" for p in self.parameters()]

    def learner(self, needs: Needs, *, memory: int) -> Learner | None:  # noqa: ARG002
        """A learner that has learnt nothing, for a metric that is trained on references and can learn part by part.

        Args:
            needs: what the metric may need.
            memory: the most bytes that it may take.
        """
        return None

    def _name_parts(self) -> list[str]:
        return [str(getattr(self, declared.name)) for declared in self._declared.values() if declared.in_name]

    def _in_parentheses(self, declared: list[Parameter]) -> str:
        inside = ", ".join(f"{p.name}={spell(getattr(self, p.name))}" for p in declared)
        return f"({inside})" if inside else ""

    def _check(self, declared: Parameter) -> None:
        value = getattr(self, declared.name)
        accepted = accepts(declared)
        kind = declared.kind
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if kind is float:
            fits = is_number and _in_bounds(value, declared)
        elif kind is int:
            fits = is_number and value == int(value) and _in_bounds(value, declared)
        elif kind is bool:
            fits = isinstance(value, bool)
        elif declared.choices is None:
            fits = isinstance(value, str) and value.strip() != ""
        else:
            fits = value in declared.choices
        if not fits:
            raise UsageError(f"{self.title}: {declared.name} must be {accepted}, got {_given(value)}")
        if kind in (int, float):
            vars(self)[declared.name] = kind(value)


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
    is the mean over images, whose rows are (score, 1).
    """

    kernel: ClassVar[str] = ""

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
        return [(self.score_caption(one, references), 1.0) for candidates, references in texts for one in candidates]

    def formula(self, sums: Sequence[float]) -> float:
        """The score of a sum of rows. It must be finite for every sum of rows, also where rows are repeated."""
        return sums[0] / sums[1] if sums[1] else 0.0

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """For `pickle`: the metric of a plug-in names the plug-in's file, which the other process runs first."""
        plugin = vars(sys.modules.get(type(self).__module__, sys)).get("__sacrecap_plugin__")
        if plugin is None:
            return super().__reduce_ex__(protocol)
        from sacrecap.metrics.plugins import restored

        return restored, (plugin, self.key)

    def row_formula(self, row: Sequence[float]) -> float:
        """The score of a single row. A metric overrides it if that score differs from the formula of the row's
        numbers; then it has its own `formula` too. NaN: the image has no score.
        """
        return self.formula(row)


def _given(value: object) -> str:
    """A refused value in a message: a number as the user wrote it, anything else as Python shows it."""
    return spell(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else repr(value)


def _in_bounds(value: float, bounds: Parameter) -> bool:
    return (
        (bounds.least is None or value >= bounds.least)
        and (bounds.most is None or value <= bounds.most)
        and (bounds.above is None or value > bounds.above)
    )


def accepts(declared: Parameter) -> str:
    """Describes the values that a parameter accepts."""
    if declared.choices:
        return "one of " + ", ".join(declared.choices)
    if declared.kind is bool:
        return "yes or no"
    if declared.kind is str:
        return "a name or a path"
    kind = "a whole number" if declared.kind is int else "a number"
    if declared.least is not None and declared.most is not None:
        return f"{kind} from {spell(declared.least)} to {spell(declared.most)}"
    if declared.least is not None:
        return f"{kind} of at least {spell(declared.least)}"
    if declared.above is not None:
        return f"{kind} above {spell(declared.above)}"
    return kind


def spell(value: ParameterValue) -> str:
    """A parameter's value as text that parses back: yes, 6, 1.2, mean, "a, b" (quoted where a comma would cut it)."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    text = str(value)
    needs_quotes = text != text.strip() or any(mark in text for mark in ',()"')
    return '"' + text.replace('"', '""') + '"' if needs_quotes else text
