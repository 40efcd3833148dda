"""Numbers with their intervals, one below the other on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sacrecap.report.pictures.panels import AXIS, MARK, Mark, Panel, Point, empty, round_values
from sacrecap.report.pictures.svg import svg

if TYPE_CHECKING:
    from sacrecap.scoring.intervals import Interval

_ROW = 26
"""Height of a number."""


class Strip(NamedTuple):
    """A number that stands in a row of its own."""

    name: str
    value: float
    interval: Interval | None
    other: tuple[float, Interval | None] | None = None
    """What stands below it, to be compared, and its interval."""


def strips(rows: Sequence[Strip], what: str, *, ends: Point | None = None, guides: Sequence[float] = ()) -> str:
    """SVG of the rows, on a scale between `ends`, by default the least and the largest; with lines at `guides`. `what`
    they are is for those who cannot see it.
    """
    places = [
        (place + 0.3 * look, row.name, look, *own)
        for place, row in enumerate(rows)
        for look, own in enumerate([(row.value, row.interval), row.other])
        if own is not None
    ]
    marks: list[Mark] = [
        {**MARK, "look": look, "x": x, "y": y, "across": across, "size": 0.6, "said": f"{name}: {x:.4f}"}
        for y, name, look, x, across in places
    ]
    reached = [end for *_, x, across in places for end in across or (x,)]
    low, high = ends or (min(reached, default=0.0), max(reached, default=1.0))
    room = 0.0 if ends else 0.03 * (high - low or 1.0)
    made: Panel = {**empty("plot"), "marks": marks}
    ticks = [(tick, f"{tick:,.6g}") for tick in round_values(low, high, 5)] if high > low else [(low, f"{low:g}")]
    made["x"] = {**AXIS, "ends": (low - room, high + room), "ticks": ticks}
    made["lines"] = [
        {"look": None, "points": [(guide, -0.5), (guide, len(rows) - 0.5)], "kind": "open", "said": ""}
        for guide in guides
    ]
    names = [(float(place), row.name) for place, row in enumerate(rows)]
    made["y"] = {**AXIS, "ends": (len(rows) - 0.5, -0.5), "ticks": names}
    bounds = [f" [{row.interval[0]:.4f}, {row.interval[1]:.4f}]" if row.interval else "" for row in rows]
    told = "; ".join(f"{row.name} {row.value:.4f}{end}".strip() for row, end in zip(rows, bounds, strict=True))
    return svg(made, f"{what}: {told}", height=40 + _ROW * len(rows))
