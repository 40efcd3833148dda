"""Small pictures inside pages: SVG without a style of its own, so that `site.css` gives the colours of both schemes."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sacrecap.report.printing.markup import interval_plot

_WIDTH, _HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 16, 14, 34


@dataclass(frozen=True)
class Scale:
    """The values from `low` to `high` along one line of a picture."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float]) -> Scale:
        """From the smallest to the largest of the values; of width 1 around a single value, and 0 to 1 around none."""
        known = [value for value in values if math.isfinite(value)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        return cls(low, high) if high > low else cls(low - 0.5, high + 0.5)

    def at(self, value: float, start: float, end: float) -> float:
        """Where the value lies between two coordinates."""
        return start + (end - start) * (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 5) -> list[float]:
        """Round values inside the scale: multiples of 1, 2 or 5 times a power of ten."""
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def interval(value: float, lower: float, upper: float, scale: Scale) -> Markup:
    """A score on its interval, on a scale that the rows of a table share."""
    label = f"{lower:.4f} to {upper:.4f}"
    return Markup(interval_plot(value, lower, upper, scale.low, scale.high, label))  # noqa: S704  (numbers)


def difference(value: float, lower: float, upper: float) -> Markup:
    """A difference on its interval, on a scale of its own with no difference in the middle."""
    reach = max(abs(lower), abs(upper), abs(value)) or 1.0
    return Markup(interval_plot(value, lower, upper, -reach, reach, f"{lower:+.4f} to {upper:+.4f}"))  # noqa: S704


@dataclass(frozen=True)
class Improvement:
    """A score that was better than every one before it."""

    at: dt.datetime
    value: float
    team: str


def progress(every: Sequence[Improvement], label: str) -> Markup:
    """The best score over time: a line that rises at each new best, and a dot for each team's improvement.

    Args:
        every: the improvements of all teams, in order of time.
        label: name of the metric, which the picture's description says.
    """
    times = Scale.around(step.at.timestamp() for step in every)
    values = Scale.around(step.value for step in every)
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def place(step: Improvement) -> tuple[float, float]:
        x = times.at(step.at.timestamp(), _LEFT, right)
        return round(x, 1), round(values.at(step.value, bottom, _TOP), 1)

    best: list[Improvement] = []
    for step in every:
        if not best or step.value > best[-1].value:
            best.append(step)
    parts = [_grid(values, bottom, right), _dates(every, bottom)]
    x, y = place(best[0])
    path = [f"M{x} {y}"]
    for step in best[1:]:
        x, y = place(step)
        path.append(f"H{x}V{y}")
    path.append(f"H{right}")
    parts.append(Markup('<path class="best" d="{}"/>').format("".join(path)))
    leaders = set(map(id, best))
    for step in every:
        x, y = place(step)
        parts.append(
            Markup('<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}: {}, {}</title></circle>').format(
                "dot" if id(step) in leaders else "other",
                x,
                y,
                4.5 if id(step) in leaders else 3,
                step.team,
                f"{step.value:.4f}",
                f"{step.at:%Y-%m-%d}",
            )
        )
    told = f"Best {label} over time: from {best[0].value:.4f} to {best[-1].value:.4f}"
    return Markup('<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        _WIDTH, _HEIGHT, told, Markup("").join(parts)
    )


def _grid(values: Scale, bottom: float, right: float) -> Markup:
    lines = Markup("")
    for tick in values.ticks():
        y = round(values.at(tick, bottom, _TOP), 1)
        lines += Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(_LEFT, right, y, y)
        lines += Markup('<text x="{}" y="{}" class="end">{}</text>').format(_LEFT - 8, y + 4, f"{tick:.4g}")
    return lines


def _dates(every: Sequence[Improvement], bottom: float) -> Markup:
    """The first and the last day, below the line."""
    first, last = every[0].at, every[-1].at
    text = Markup('<text x="{}" y="{}">{}</text>').format(_LEFT, bottom + 24, f"{first:%Y-%m-%d}")
    if last.date() != first.date():
        text += Markup('<text x="{}" y="{}" class="end">{}</text>').format(
            _WIDTH - _RIGHT, bottom + 24, f"{last:%Y-%m-%d}"
        )
    return text
