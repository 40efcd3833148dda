"""What a metric says of itself: a frozen value with declared parameters, which prints as text and parses back."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from sacrecap.errors import UsageError
from sacrecap.parameters import at_commas, unquoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self, dataclass_transform

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


@dataclass(eq=False, repr=False)
class Parameter:
    """A declared parameter of a metric: its meaning, its default, and the values that it accepts."""

    meaning: str
    default: ParameterValue | None
    kind: type[object]
    choices: tuple[str, ...] | None
    least: float | None
    most: float | None
    above: float | None
    below: float | None
    in_name: bool
    bare: bool
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def fits(self, value: object) -> bool:
        """Whether the value is accepted."""
        if self.kind is bool or isinstance(value, bool):
            return self.kind is bool and isinstance(value, bool)
        if self.kind in (int, float):
            if not isinstance(value, (int, float)) or not math.isfinite(value):
                return False
            return (self.kind is float or value == int(value)) and self.bounds(value)
        return isinstance(value, str) and value.strip() != "" if self.choices is None else value in self.choices

    def bounds(self, value: float) -> bool:
        """Whether the number is within the bounds."""
        return (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


def parameter(
    meaning: str,
    *,
    default: ParameterValue | None,
    kind: type[ParameterValue] | None = None,
    choices: tuple[str, ...] | None = None,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    in_name: bool = False,
    bare: bool = False,
) -> Any:
    """Declares a metric's parameter; every check, message and help text is generated from it.

    A parameter whose default depends on another has `default` None and says its `kind`; the metric fills it in before
    the checks. `least` and `most` are inclusive bounds, `above` and `below` exclusive ones. A parameter that is
    `in_name` is fixed by the metric's name (the 4 of BLEU-4) and cannot be given in parentheses. One that is `bare`,
    whose values are words, is always written, and without its name: `judge(rating)`.
    """
    value_kind = kind or type(default)
    return Parameter(meaning, default, value_kind, choices, least, most, above, below, in_name, bare)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(parameter,))
class Declared:
    """The declared part of a metric: frozen, hashable, comparable, printed as `CIDEr-D(n=4, sigma=6)`.

    Subclasses declare their parameters with [`parameter`][sacrecap.metrics.parameter]; the code that makes them values
    is here, once. A dataclass would do the same, but would compile code for each class at every start of the program.
    Class attributes describe the metric; the registry, the command line, the documentation and the laws that the tests
    check all read them.
    """

    title: ClassVar[str]
    """The name as papers print it: `CIDEr-D`, `BLEU`."""
    family: ClassVar[str]
    """The title in lower case, so that both parse: the name without the part that comes from a parameter."""
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
    nothing: ClassVar[dict[str, str]]
    """Edge cases: the scores of an empty caption and similar cases, in words."""

    resolved: ClassVar[tuple[str, ...]] = ()
    """Names of parameters that name a resource: `ready` puts the one that was used into the signature."""

    _declared: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls) -> None:
        if "title" in vars(cls) and "family" not in vars(cls):
            cls.family = cls.title.lower()
        every = (item for base in reversed(cls.__mro__) for item in vars(base).items())
        cls._declared = {name: value for name, value in every if isinstance(value, Parameter)}

    def __init__(self, **values: Any) -> None:
        unknown = [name for name in values if name not in self._declared]
        if unknown:
            names = ", ".join(self._declared)
            raise TypeError(f"{type(self).__name__} has no parameter {unknown[0]!r}; it has: {names}")
        values |= {name: os.fspath(value) for name, value in values.items() if isinstance(value, os.PathLike)}
        vars(self).update({name: values.get(name, p.default) for name, p in self._declared.items()})
        self.complete()
        for name, declared in self._declared.items():
            value = getattr(self, name)
            if not declared.fits(value):
                # A number as the user wrote it, anything else as Python shows it.
                is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
                received = spell(value) if is_number else repr(value)
                raise UsageError(f"{self.title}: {name} must be {accepts(declared)}, got {received}")
            if declared.kind in (int, float):
                vars(self)[name] = declared.kind(value)

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

    def with_text(self, inside: str) -> Self:
        """The metric of this name with parameters as text, `n=4, sigma=6`, the others at their defaults.

        Raises `UsageError` for an unknown parameter, or a value that is not accepted.
        """
        declared = {p.name: p for p in self.parameters()}
        values: dict[str, ParameterValue] = {}
        for part in at_commas(inside):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            bare = next((p.name for p in declared.values() if p.bare), None)
            if bare is not None and not equals:
                name, equals, value = bare, "=", name
            if not equals or (name := name.replace("-", "_")) not in declared:
                accepted = ", ".join(declared) or "none"
                raise UsageError(f"{self.name}: no parameter {name!r}; its parameters: {accepted} (as {self})")
            values[name] = _value(value, getattr(self, name))
        return self.with_parameters(values)

    def with_parameters(self, values: Mapping[str, ParameterValue]) -> Self:
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
        return self.name + self._in_parentheses(self._changed())

    def _changed(self) -> list[Parameter]:
        # A default may depend on parameters that are declared before.
        before = {p.name: getattr(self, p.name) for p in self._declared.values() if p.in_name}
        changed = []
        for declared in self.parameters():
            value = getattr(self, declared.name)
            if declared.bare or value != getattr(type(self)(**before), declared.name):
                changed.append(declared)
            before[declared.name] = value
        return changed

    @property
    @remembered
    def label(self) -> str:
        """The name as papers print it, with the parameters that are not at their defaults: `BLEU-4`."""
        return "-".join([self.title, *self._name_parts()]) + self.key[len(self.name) :]

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

    def __str__(self) -> str:
        return "-".join([self.title, *self._name_parts()]) + self._in_parentheses(self.parameters())

    def __repr__(self) -> str:
        return str(self)

    @property
    @remembered
    def head(self) -> str:
        """What signatures begin with: the key without blanks, and without `resolved` parameters."""
        changed = [declared for declared in self._changed() if declared.name not in self.resolved]
        return self.name + self._in_parentheses(changed, ",")

    def _name_parts(self) -> list[str]:
        return [str(getattr(self, declared.name)) for declared in self._declared.values() if declared.in_name]

    def _in_parentheses(self, declared: list[Parameter], comma: str = ", ") -> str:
        inside = comma.join(f"{'' if p.bare else p.name + '='}{spell(getattr(self, p.name))}" for p in declared)
        return f"({inside})" if inside else ""


def accepts(declared: Parameter) -> str:
    """Describes the values that a parameter accepts."""
    if declared.choices:
        return "one of " + ", ".join(declared.choices)
    if declared.kind is bool:
        return "yes or no"
    if declared.kind is str:
        return "a name or a path"
    number = getattr(declared.kind, "accepted", "a whole number" if declared.kind is int else "a number")
    if declared.least is not None and declared.most is not None:
        return f"{number} from {spell(declared.least)} to {spell(declared.most)}"
    bounds = {"of at least": declared.least, "above": declared.above, "at most": declared.most, "below": declared.below}
    limits = " and ".join(f"{words} {spell(bound)}" for words, bound in bounds.items() if bound is not None)
    return f"{number} {limits}".rstrip(" ,")


def spell(value: ParameterValue) -> str:
    """A parameter's value as text that parses back: yes, 6, 1.2, mean, "a, b" (quoted where a comma would cut it)."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    text = str(value)
    needs_quotes = text != text.strip() or any(mark in text for mark in ',()"')
    return '"' + text.replace('"', '""') + '"' if needs_quotes else text


def _value(text: str, like: ParameterValue) -> ParameterValue:
    """Converts text to the type of the default. Other text stays text, which the metric then refuses."""
    if isinstance(like, bool):
        return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)
    if isinstance(like, (int, float)):
        try:
            return float(text)
        except ValueError:
            return text
    return unquoted(text)
