"""The result of a calibration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sacrecap.above import Printable

if TYPE_CHECKING:
    from sacrecap.scoring.intervals import Interval


@dataclass(frozen=True)
class Calibrated:
    """A figure that people would give, its interval, and the same from the ratings alone."""

    estimate: float
    interval: Interval | None
    n: int
    """Rated captions, or pairs."""
    worth: float
    """As many ratings would tell as much without the witnesses."""
    images: int
    alone: float
    alone_interval: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """As in JSON."""
        return {
            "estimate": self.estimate,
            "interval": self.interval and list(self.interval),
            "n": self.n,
            "worth": self.worth,
            "images": self.images,
            "alone": {"estimate": self.alone, "interval": self.alone_interval and list(self.alone_interval)},
        }


@dataclass(frozen=True)
class Planned:
    """Half the length of the interval that so many rated captions would give."""

    n: int
    alone: float
    calibrated: float


@dataclass(frozen=True, eq=False)
class Calibration(Printable):
    """The result of [`sacrecap.judgments.calibrate`][]."""

    version: str
    of: str
    """What the first figure is of, in words."""
    overall: Calibrated
    systems: dict[str, Calibrated]
    """Of ratings, the mean of each system; of pairs, its strength (Bradley–Terry). Empty for one system."""
    pairs: dict[tuple[str, str], Calibrated]
    """Of ratings, the difference of two systems; of pairs, how often the first wins."""
    witnesses: list[str]
    captions: int
    """All captions, or pairs of captions, whose scores are known."""
    answers: int
    """Ratings of people, or votes."""
    level: float
    is_choice: bool
    plan: list[Planned] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Of how many captions a witness has no score: the first line of tables."""
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap calibrate`."""
        return {
            "sacrecap": self.version,
            "of": self.of,
            **self.overall.to_dict(),
            "captions": self.captions,
            "answers": self.answers,
            "level": self.level,
            "witnesses": self.witnesses,
            "systems": {name: system.to_dict() for name, system in self.systems.items()},
            "pairs": [{"a": a, "b": b, **pair_estimate.to_dict()} for (a, b), pair_estimate in self.pairs.items()],
            **({"plan": [vars(step) for step in self.plan]} if self.plan else {}),
            **({"missing": self.missing} if self.missing else {}),
            "notes": self.notes,
        }
