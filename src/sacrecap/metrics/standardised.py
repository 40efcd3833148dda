"""Standardised scores: distances from a mean, in deviations, so that scores of different scales can be added.

    z = (M − mean) / deviation

for an image and for the corpus, with one mean and one deviation of images' scores; where low scores are better, the
direction is turned. The two come from a file, or from all rows of all systems of the call.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap import _core
from sacrecap.errors import DataError, UsageError, naming, option
from sacrecap.metrics.combine import WeightedMean

if TYPE_CHECKING:
    from sacrecap.metrics.base import Metric
    from sacrecap.resources.needs import Needs

Scale = dict[str, float]
"""`mean` and `deviation`."""


@dataclass(frozen=True)
class Standard:
    """Mean and deviation of metrics, by key."""

    scales: Mapping[str, Scale]

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Standard:
        """That of a JSON file, `{metric: {"mean", "deviation"}}`, alone or as `standard` of a result.

        Raises `DataError` for anything else.
        """
        from sacrecap.data.rows import parsed
        from sacrecap.data.source import display_name, read_bytes

        source = display_name(path)
        with naming(f"{source}: "):
            document = parsed(read_bytes(path))
        found = document.get("standard", document) if isinstance(document, dict) else None
        return cls(checked(found, source))


def checked(found: Any, source: str) -> dict[str, Scale]:
    """The scales. Raises `DataError` for another shape, or a deviation that is not above 0."""
    if not isinstance(found, Mapping) or not found:
        raise DataError(f'{source}: expected {{"metric": {{"mean": …, "deviation": …}}}}, or a result with "standard"')
    for name, scale in found.items():
        numbers: list[Any] = [scale.get(part) for part in ("mean", "deviation")] if isinstance(scale, Mapping) else [""]
        if not all(isinstance(one, (int, float)) and math.isfinite(one) for one in numbers) or numbers[-1] <= 0:
            raise DataError(f"{source}: {name} must have a finite mean and a deviation above 0, got {scale!r:.60}")
    return {name: {part: float(scale[part]) for part in ("mean", "deviation")} for name, scale in found.items()}


class Standardised(WeightedMean):
    """A metric's score as a distance from a mean, in deviations; higher is better."""

    family: ClassVar[str] = "z"
    title: ClassVar[str] = "z"
    summary: ClassVar[str] = "The caption is above the average, by the metric in parentheses."
    proposed_in: ClassVar[str] = "sacrecap"

    of: Metric
    weights: tuple[float, ...] = (1.0,)

    def __init__(self, of: Metric) -> None:
        vars(self)["of"] = of

    @property
    def members(self) -> tuple[Metric, ...]:
        return (self.of,)

    @property
    def lower_is_better(self) -> bool:
        return False

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self.of.needs, "standard")

    @property
    def without_references(self) -> Standardised | None:
        own = self.of.without_references
        return None if own is None else type(self)(own)

    @property
    def key(self) -> str:
        return f"z({self.of.key})"

    @property
    def head(self) -> str:
        return f"z({self.of.head})"

    @property
    def label(self) -> str:
        return f"z({self.of.label})"

    def __str__(self) -> str:
        return f"z({self.of})"

    @property
    def equation(self) -> str:  # type: ignore[override]
        return f"z = ({self.of.label} − mean) / deviation;  {self.of.equation}"

    @property
    def largest(self) -> float | None:
        return None

    @property
    def smallest(self) -> float | None:
        return None

    def scale(self, needs: Needs) -> tuple[float, float]:
        """Mean, and deviation with the sign of the direction. Raises `UsageError` if the call has none."""
        standard = standard_of(needs)
        if standard is None:
            flag = option("standard", "FILE", flag="--standard")
            raise UsageError(
                f"{self.key} needs the mean and the deviation of {self.of.key}: {flag}; sacrecap compare and agreement "
                "take those of all captions that they score, and --format json of these writes such a file"
            )
        if self.of.key not in standard.scales:
            raise UsageError(
                f"the standard has no {self.of.key}; it has {', '.join(standard.scales)}: make one with {self.key}"
            )
        scale = standard.scales[self.of.key]
        return scale["mean"], -scale["deviation"] if self.of.lower_is_better else scale["deviation"]

    def signed(self, needs: Needs) -> tuple[str, ...]:
        """A digest of mean and deviation."""
        return (*super().signed(needs), f"standard:{_core.digest([self.of.head], [repr(self.scale(needs))]):08x}")


def standard_of(needs: Needs) -> Standard | None:
    """The standard that a call was given; a file is read once."""
    given = needs.get("standard")
    if given is None or isinstance(given, Standard):
        return given
    if isinstance(given, Mapping):
        return Standard(checked(given, "standard"))
    return needs.once(("standard", str(given)), lambda: Standard.read(given))


def standardised_in(metric: Metric) -> Iterator[Standardised]:
    """The metric and its members, where they are standardised."""
    if isinstance(metric, Standardised):
        yield metric
    if isinstance(metric, WeightedMean):
        for member in metric.members:
            yield from standardised_in(member)


def unscaled(metrics: Any) -> dict[Metric, None]:
    """The metrics whose mean and deviation these need."""
    return dict.fromkeys(one.of for metric in metrics for one in standardised_in(metric))
