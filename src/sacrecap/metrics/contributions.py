"""What the members of a weighted mean add to the score of an image."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacrecap import _core
    from sacrecap.metrics.combine import WeightedMean


@dataclass(frozen=True)
class Contribution:
    """What one member adds."""

    metric: str
    score: float
    """The image's score by that metric."""
    part: float
    """What the metric adds to the mean."""


@dataclass(frozen=True)
class Contributions:
    """The terms of an image's score. `print` shows them."""

    metric: str
    contributions: tuple[Contribution, ...]

    @classmethod
    def of(cls, metric: WeightedMean, statistics: _core.Statistics) -> Contributions:
        """The terms of the score of these statistics, which are one row."""
        terms = []
        members = zip(metric.members, metric.weights, metric.signs, statistics.members(), strict=True)
        for member, weight, sign, own in members:
            [signed] = memoryview(own.row_scores()).cast("d").tolist()
            terms.append(Contribution(member.label, sign * signed, signed * weight / sum(metric.weights) + 0.0))
        return cls(metric.label, tuple(terms))

    @property
    def score(self) -> float:
        """The sum."""
        return sum(one.part for one in self.contributions)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return {"score": self.score, **asdict(self)}

    def __str__(self) -> str:
        width = max(len(one.metric) for one in self.contributions)
        lines = [f"{one.metric:<{width}}  {one.score:8.4f}  adds {one.part:.4f}" for one in self.contributions]
        return "\n".join([f"{self.metric} {self.score:.4f} is the sum of", *lines])
