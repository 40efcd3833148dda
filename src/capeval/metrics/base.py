"""What a metric is: a frozen value that prints as text, parses back, and declares what it needs."""

from __future__ import annotations

import math
from dataclasses import Field, FrozenInstanceError, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from capeval.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from capeval.corpus import Corpus
    from capeval.document_frequency import DocumentFrequency
    from capeval.result import Score

ParameterValue = bool | int | float | str


def parameter(
    default: ParameterValue | None,
    meaning: str,
    *,
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
    metadata = {
        "meaning": meaning,
        "kind": kind or type(default),
        "choices": choices,
        "least": least,
        "most": most,
        "above": above,
        "in_name": in_name,
    }
    return field(default=default, metadata=metadata)


@dataclass(init=False, repr=False, eq=False)
class Metric:
    """A metric with its parameters: frozen, hashable, comparable, printed as `CIDEr-D(n=4, sigma=6)`.

    Subclasses are dataclasses whose fields are declared with [`parameter`][]. What makes them values is written here
    once: a dataclass would compile it for each of them at every start of the program. Class attributes describe the
    metric; the registry, the command line, the documentation and the laws that the tests check all read them.
    """

    family: ClassVar[str]
    """Identifier without the part that a parameter supplies: `cider-d`, `bleu`."""
    title: ClassVar[str]
    """The name as papers print it: `CIDEr-D`, `BLEU`."""
    summary: ClassVar[str]
    """One sentence: what a high score means."""
    equation: ClassVar[str]
    """The formula in plain text."""
    source: ClassVar[str]
    """Paper and equation."""
    upper: ClassVar[float | None]
    """Largest score with default parameters; None when there is none. The smallest is 0."""
    direction: ClassVar[str] = "higher is better"
    """Which way is good, in words."""
    needs: ClassVar[tuple[str, ...]] = ("references",)
    """What has to be given beside the candidates."""
    scores_sets: ClassVar[bool] = False
    """Whether it scores an image's captions together, as a caption set, rather than each."""
    nothing: ClassVar[dict[str, str]]
    """The contract for nothing: what an empty caption and the like score, in words."""
    kernel: ClassVar[str]
    """Name of the native arithmetic."""
    uses_document_frequency: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for declared in fields(self):
            self._check(declared)
        object.__setattr__(self, "_frozen", True)

    def __setattr__(self, name: str, value: object) -> None:
        if "_frozen" in vars(self):
            raise FrozenInstanceError(f"a metric is a value: {name} cannot be set; make another with with_parameters")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    @classmethod
    def parameters(cls) -> Iterator[Field[Any]]:
        """The declared parameters, without those fixed by the name."""
        return (declared for declared in fields(cls) if not declared.metadata["in_name"])

    @classmethod
    def unavailable(cls, folder: str | None) -> str | None:  # noqa: ARG003
        """Why the metric cannot be computed on this machine and what to do, or None when it can.

        `folder` is where the user says its data are. A metric that lacks something leaves the groups it belongs to.
        """
        return None

    def usual(self) -> Metric:
        """The metric of this name with the default parameters."""
        return self.with_parameters({})

    def with_parameters(self, values: Mapping[str, ParameterValue]) -> Metric:
        """The metric of this name with these parameters, the others at their defaults.

        Raises `UsageError` for a value that is not accepted.
        """
        fixed = {p.name: getattr(self, p.name) for p in fields(self) if p.metadata["in_name"]}
        return type(self)(**fixed, **values)

    @property
    def name(self) -> str:
        """Identifier in files and on the command line, without parameters: `bleu-4`, `cider-d`."""
        return "-".join([self.family, *self._name_parts()])

    @property
    def key(self) -> str:
        """Identifier with the parameters that are not at their defaults: `cider-d`, `cider-d(sigma=5)`."""
        usual = self.usual()
        changed = [p for p in self.parameters() if getattr(self, p.name) != getattr(usual, p.name)]
        return self.name + self._in_parentheses(changed)

    @property
    def label(self) -> str:
        """The name as papers print it, with the parameters that are not at their defaults: `BLEU-4`."""
        return "-".join([self.title, *self._name_parts()]) + self.key[len(self.name) :]

    @property
    def uses_stems(self) -> bool:
        """Whether words are reduced to stems first, so that document frequencies must be those of stems."""
        return False

    def __str__(self) -> str:
        return "-".join([self.title, *self._name_parts()]) + self._in_parentheses(list(self.parameters()))

    def __repr__(self) -> str:
        return str(self)

    def kernel_parameters(self) -> dict[str, ParameterValue]:
        """Parameters as the native arithmetic takes them; numbers are floats."""
        values = ((declared, getattr(self, declared.name)) for declared in fields(self))
        return {declared.name: value if isinstance(value, (bool, str)) else float(value) for declared, value in values}

    @property
    def arithmetic(self) -> str:
        """Name of the native arithmetic: `kernel`, unless that is a parameter of the metric."""
        return self.kernel

    def signature_parts(self) -> list[str]:
        """`name:value` of every parameter, for the signature."""
        return [f"{p.name}:{spell(getattr(self, p.name))}" for p in self.parameters()]

    def score(self, corpus: Corpus, *, document_frequency: DocumentFrequency | None = None, threads: int = 0) -> Score:
        """Scores the corpus with this metric alone; see [`capeval.score`][] for several at once."""
        from capeval.evaluate import score_corpus

        result = score_corpus(corpus, (self,), document_frequency=document_frequency, interval=None, threads=threads)
        return result[self.key]

    def _name_parts(self) -> list[str]:
        return [str(getattr(self, declared.name)) for declared in fields(self) if declared.metadata["in_name"]]

    def _in_parentheses(self, declared: list[Field[Any]]) -> str:
        inside = ", ".join(f"{p.name}={spell(getattr(self, p.name))}" for p in declared)
        return f"({inside})" if inside else ""

    def _check(self, declared: Field[Any]) -> None:
        value = getattr(self, declared.name)
        accepted = accepts(declared)
        kind = declared.metadata["kind"]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if kind is float:
            fits = is_number and _in_bounds(value, declared.metadata)
        elif kind is int:
            fits = is_number and value == int(value) and _in_bounds(value, declared.metadata)
        elif kind is bool:
            fits = isinstance(value, bool)
        else:
            fits = value in declared.metadata["choices"]
        if not fits:
            raise UsageError(f"{self.title}: {declared.name} must be {accepted}, got {_given(value)}")
        if kind in (int, float):
            object.__setattr__(self, declared.name, kind(value))


def _given(value: object) -> str:
    """A refused value in a message: a number as the user wrote it, anything else as Python shows it."""
    return spell(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else repr(value)


def _in_bounds(value: float, bounds: Any) -> bool:
    return (
        (bounds["least"] is None or value >= bounds["least"])
        and (bounds["most"] is None or value <= bounds["most"])
        and (bounds["above"] is None or value > bounds["above"])
    )


def accepts(declared: Field[Any]) -> str:
    """What a parameter accepts, in words."""
    bounds = declared.metadata
    if bounds["choices"]:
        return "one of " + ", ".join(bounds["choices"])
    if bounds["kind"] is bool:
        return "yes or no"
    kind = "a whole number" if bounds["kind"] is int else "a number"
    if bounds["least"] is not None and bounds["most"] is not None:
        return f"{kind} from {spell(bounds['least'])} to {spell(bounds['most'])}"
    if bounds["least"] is not None:
        return f"{kind} of at least {spell(bounds['least'])}"
    if bounds["above"] is not None:
        return f"{kind} above {spell(bounds['above'])}"
    return kind


def spell(value: ParameterValue) -> str:
    """A parameter's value as text that parses back: yes, 6, 1.2, mean."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
