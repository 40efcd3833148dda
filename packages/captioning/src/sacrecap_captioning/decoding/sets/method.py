"""Methods that make caption sets: frozen values that print as text and parse back, as metrics do."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from sacrecap.errors import UsageError
from sacrecap_captioning.decoding.sets.span import Span

if TYPE_CHECKING:
    from PIL.Image import Image

    from sacrecap_captioning.decoding.sets.speaker import Seen, Speaker

M = TypeVar("M", bound="SetMethod")


@dataclass(frozen=True)
class ImageBatch:
    """B images, read on request, and the generators of all their random numbers."""

    seen: Callable[[], Seen]
    """The images as the speaker sees them."""
    pictures: Callable[[], list[Image]]
    """The images themselves, in RGB."""
    chances: Sequence[np.random.Generator]
    """One per image, of the seed and the image's id: captions do not depend on the batch."""


def parameter(
    default: float | Span,
    meaning: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
) -> Any:
    """Declares a parameter, its meaning and bounds, of which `above` is exclusive; checks and help come from it."""
    return dataclasses.field(
        default=default, metadata={"meaning": meaning, "least": least, "above": above, "most": most}
    )


@dataclass(frozen=True)
class SetMethod(ABC):
    """A way to make several captions per image, with its parameters; prints as `rs(temperature=0.7)`."""

    name: ClassVar[str]
    """The name on the command line: `rs`, `beam`."""
    summary: ClassVar[str]
    """One line that says what it does."""
    alters_images: ClassVar[bool] = False
    """Whether the method alters the images, so that features of the original images cannot be used."""

    def __post_init__(self) -> None:
        for field in self.parameters():
            value = getattr(self, field.name)
            ends = (value.first, value.last) if isinstance(value, Span) else (value,)
            if not all(_fits(end, field.metadata) for end in ends):
                raise UsageError(f"{self.name}: {field.name} must be {accepts(field)}, got {value}")

    def check(self, speaker: Speaker, captions: int) -> None:  # noqa: B027 - most have nothing to check
        """Raises `UsageError` if the speaker, or this number of captions, cannot be used with this method."""

    @abstractmethod
    def sets(self, speaker: Speaker, images: ImageBatch, captions: int) -> list[list[str]]:
        """Makes this number of captions of each image, with a speaker that has been checked."""

    def prepared(self: M, training: Callable[[], Sequence[Sequence[str]]]) -> M:  # noqa: ARG002
        """The method after it has learnt what it needs from the tokenised training captions, which it may call for."""
        return self

    @classmethod
    def parameters(cls) -> list[dataclasses.Field[Any]]:
        """The declared parameters."""
        return [field for field in dataclasses.fields(cls) if "meaning" in field.metadata]

    @classmethod
    def with_parameters(cls: type[M], values: Mapping[str, str]) -> M:
        """The method with these parameters as text, the others at their defaults.

        Raises:
            UsageError: no such parameter, or a value that is not accepted.
        """
        declared = {field.name: field for field in cls.parameters()}
        parsed: dict[str, Any] = {}
        for name, text in values.items():
            if name not in declared:
                raise UsageError(f"{cls.name}: no parameter {name!r}; its parameters: {', '.join(declared) or 'none'}")
            parsed[name] = _parsed(text, declared[name], cls.name)
        return cls(**parsed)

    def __str__(self) -> str:
        changed = [field for field in self.parameters() if getattr(self, field.name) != field.default]
        inside = ", ".join(f"{field.name}={spell(getattr(self, field.name))}" for field in changed)
        return self.name + (f"({inside})" if inside else "")


def accepts(field: dataclasses.Field[Any]) -> str:
    """Describes the values that a parameter accepts."""
    bounds = field.metadata
    kind = {int: "a whole number", float: "a number", Span: "a number or a range such as 1..10,"}[type(field.default)]
    low = f"of at least {bounds['least']:g}" if bounds["least"] is not None else ""
    low = f"above {bounds['above']:g}" if bounds["above"] is not None else low
    high = f"at most {bounds['most']:g}" if bounds["most"] is not None else ""
    return " ".join(part for part in (kind, low, "and" if low and high else "", high) if part).rstrip(",")


def _fits(value: float, bounds: Mapping[str, Any]) -> bool:
    return (
        math.isfinite(value)
        and (bounds["least"] is None or value >= bounds["least"])
        and (bounds["above"] is None or value > bounds["above"])
        and (bounds["most"] is None or value <= bounds["most"])
    )


def _parsed(text: str, field: dataclasses.Field[Any], method: str) -> int | float | Span:
    kind: Any = type(field.default)
    try:
        value: int | float | Span = Span.parse(text) if kind is Span else kind(text)
    except ValueError:
        raise UsageError(f"{method}: {field.name} must be {accepts(field)}, got {text!r}") from None
    return value


def spell(value: int | float | Span) -> str:
    """A value as text that parses back."""
    return str(value) if isinstance(value, Span) else f"{value:g}"
