"""Charts as they look, whatever draws them: of each panel the axes, their ends and ticks, the lines and the marks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from sacrecap.report.pictures.charts import Axis, Chart, Row
from sacrecap.report.pictures.style import Look, elided, look, shown_name

Point: TypeAlias = tuple[float, float]

_MOST_TICKS = 6


@dataclass(frozen=True)
class PanelAxis:
    """What an axis shows, its ends, and values between them with their texts."""

    label: str = ""
    ends: Point = (0.0, 1.0)
    ticks: Sequence[tuple[float, str]] = ()
    log: bool = False


@dataclass(frozen=True)
class Line:
    """A line through points, in the colour of a look; a dashed guide without one, with a text at its end.

    `closed` lines go back to their first point; an `area` has no line around it; a `cloud` is the points alone. A
    `fitted` line has no look, and is not dashed.
    """

    points: Sequence[Point]
    look: int | None = None
    kind: Literal["open", "closed", "area", "cloud", "fitted"] = "open"
    said: str = ""


@dataclass(frozen=True)
class Mark:
    """A mark with the look of this number, and the ends of its intervals; of bars, the end of one that begins at 0.

    `size` is its area, 1 for a single mark; `said` is what it tells when it is pointed at; `text` stands beside it.
    """

    x: float
    y: float
    look: int = 0
    across: Point | None = None
    up: Point | None = None
    size: float = 1.0
    said: str = ""
    text: str = ""
    captions: Sequence[int] = ()
    """Those of a caption set that it stands for, by index, in pictures of captions."""


@dataclass
class Panel:
    """A panel: a plot with axes; bars; columns over the intervals of their marks; a plane, whose axes have one unit and
    no ticks; a radar, whose x axis has its spokes; or nothing but the text below.
    """

    kind: Literal["plot", "bars", "columns", "plane", "radar", "text"]
    x: PanelAxis = PanelAxis()
    y: PanelAxis = PanelAxis()
    lines: list[Line] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    title: str = ""
    below: str = ""


def looks_of(chart: Chart) -> list[Look]:
    """The looks in its panels, by the order of what has a colour each."""
    return [look(number, str(name), people=kind == "people") for number, (name, kind) in enumerate(_groups(chart))]


def panels_of(chart: Chart) -> list[Panel]:
    """What the chart looks like."""
    panels = []
    for number in range(max(len(chart.y), len(chart.panels), 1)):
        rows = [row for row in chart.rows if not chart.panel or row[chart.panel] == chart.panels[number]]
        panel = _panel(chart, rows, chart.y[min(number, len(chart.y) - 1)] if chart.y else None)
        if chart.fitted and (ends := chart.fitted[number]):
            panel.lines.append(Line([_point(*end) for end in ends], kind="fitted"))
        panel.title = chart.titles[number] if chart.titles else ""
        panel.below = chart.below[number] if chart.below else ""
        panels.append(panel)
    return panels


def _groups(chart: Chart) -> list[tuple[str, str]]:
    return list(dict.fromkeys(_group(chart, row) for row in chart.rows))


def _group(chart: Chart, row: Row) -> tuple[str, str]:
    return row[chart.colour], row["kind"] if chart.colour == "system" else ""


def _panel(chart: Chart, rows: list[Row], up: Axis | None) -> Panel:
    if not rows:
        return Panel("text")
    groups = _groups(chart)
    if up is None:  # a bar per row, the first on top; its text stands above it
        value, panel = chart.x.field, Panel("bars", _axis(chart.x, rows), PanelAxis(ends=(len(rows) - 0.5, -0.5)))
        for place, row in enumerate(rows):
            mark = _mark(chart, row, value, groups.index(_group(chart, row)))
            text = f"{elided(shown_name(row), 44)}  {row[value]:.4f}"
            panel.marks.append(replace(mark, y=place, up=None, text=text))
        return panel
    if chart.kind == "boxes":
        rows = _boxes(chart, rows, up.field)
    panel = _with_axes(chart, rows, up)
    if chart.beta2 is not None:
        panel.lines += _equal_f(chart.beta2, panel.x.ends, panel.y.ends)
    for group in dict.fromkeys(_group(chart, row) for row in rows):
        number, members = groups.index(group), [row for row in rows if _group(chart, row) == group]
        panel.lines += [Line(row["box"], number, "area") for row in members if "box" in row]
        if chart.kind not in ("points", "boxes"):
            panel.lines += _lines(chart, members, up.field, number)
        if chart.kind not in ("radar", "cloud"):
            marked = (1, 3, 10, 30, 100, 300, 1000, 3000, len(members))  # of a line of hundreds of points
            panel.marks += [
                _mark(chart, row, up.field, number)
                for place, row in enumerate(members, start=1)
                if chart.x.scale != "log" or place in marked
            ]
    panel.marks.sort(key=lambda mark: -mark.size)  # so that a large mark hides none
    return panel


def _with_axes(chart: Chart, rows: list[Row], up: Axis) -> Panel:
    """A panel of the kind of the chart, with its axes alone."""
    if chart.x.scale == "plane":  # both of one length, around all rows, so that panels can be compared
        columns = [[row[axis.field] for row in chart.rows] for axis in (chart.x, up)]
        half = 0.56 * max(max(values) - min(values) for values in columns) or 1.0
        middles = [(min(values) + max(values)) / 2 for values in columns]
        x, y = (PanelAxis(ends=(middle - half, middle + half)) for middle in middles)
        return Panel("plane", x, y)
    if chart.kind == "radar":  # numbered spokes, and values from the least at the centre; rings at both ends and at 0
        spokes = sorted({row[chart.x.field] for row in chart.rows})
        most = math.ceil(10 * max(0.1, *(abs(row[up.field]) for row in chart.rows)) - 1e-9) / 10
        x = PanelAxis(chart.x.label, (0, len(spokes)), [(spoke, str(spoke + 1)) for spoke in spokes])
        y = PanelAxis(up.label, (-most, most), [(-most, ""), (0.0, "0"), (most, f"{most:g}")])
        return Panel("radar", x, y)
    x, y = (_axis(axis, chart.rows if axis.scale == "places" else rows) for axis in (chart.x, up))
    return Panel("plot", x, y)


def columns(edges: Sequence[float], counts: Sequence[int], value: float | None) -> Panel:
    """A histogram: a column of each count between consecutive edges, and a guide at a value."""
    most, ends = max(*counts, 1), (edges[0], edges[-1])
    x, y = PanelAxis("", ends, _ticks(ends)), PanelAxis("", (0, most), [(most, f"{most:,}")])
    panel = Panel("columns", x, y)
    for (low, high), count in zip(pairwise(edges), counts, strict=False):
        panel.marks.append(Mark(low, count, across=(low, high), said=f"{low:g} to {high:g}: {count:,} images"))
    if value is not None:
        place = min(max(value, edges[0]), edges[-1])
        panel.lines.append(Line([(place, 0), (place, most)]))
    return panel


def _boxes(chart: Chart, rows: Sequence[Row], up: str) -> list[Row]:
    """For each value on the x axis the median, 5 % and 95 % as its ends, and the box around the half in the middle."""
    across = chart.x.field
    values = sorted({row[across] for row in rows})
    half = 0.3 * min((b - a for a, b in pairwise(values)), default=1.0)
    stacked: list[Row] = []
    for x in values:
        heights = [row[up] for row in rows if row[across] == x]
        low, first, median, last, high = np.quantile(heights, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
        box = [_point(x + side, y) for side, y in ((-half, first), (half, first), (half, last), (-half, last))]
        whole = int(x) if float(x).is_integer() else x
        ends = {f"{up}_lower": low, f"{up}_upper": high}
        stacked.append({**rows[0], across: whole, up: median, **ends, "number": len(heights), "box": box})
    return stacked


def _lines(chart: Chart, rows: list[Row], up: str, look: int) -> list[Line]:
    points = [_point(row[chart.x.field], row[up]) for row in rows]
    if chart.x.scale == "log":  # of more than 60 points in a tenfold, none can be told apart
        steps = [int(60 * math.log10(x)) for x, _ in points]
        points = [point for point, step, before in zip(points, steps, [None, *steps], strict=False) if step != before]
    lines = [Line(points, look, "closed" if chart.kind == "radar" else "cloud" if chart.kind == "cloud" else "open")]
    if chart.band:
        low, high = ([_point(row[chart.x.field], row[f"{up}_{end}"]) for row in rows] for end in ("lower", "upper"))
        lines.append(Line([*low, *high[::-1]], look, "area"))
    return lines


def _mark(chart: Chart, row: Row, up: str, look: int) -> Mark:
    size = 1.0 if chart.kind == "points" else 0.35 if chart.x.scale == "log" else 0.55
    texts = []
    for key, name in chart.said.items():
        value, ends = row[key], _bounds(row, key)
        if isinstance(value, str):
            texts.append(f"{name} “{value}”".lstrip())
        elif isinstance(value, int):
            texts.append(f"{name} {value:,}")
        else:
            texts.append(f"{name} {value:.4f}" + (f" ({ends[0]:.4f} to {ends[1]:.4f})" if ends else ""))
    return Mark(
        *_point(row[chart.x.field], row[up]),
        look,
        across=None if chart.band else _bounds(row, chart.x.field),
        up=None if chart.band else _bounds(row, up),
        size=0.4 * row[chart.size] if chart.size else 0.7 if chart.panel else size,
        said=f"{shown_name(row)}: {', '.join(texts)}",
        text=row[chart.label] if chart.label else "",
        captions=row.get("members", ()),
    )


def _point(x: float, y: float) -> Point:
    return round(x, 6), round(y, 6)


def _bounds(row: Row, field: str) -> Point | None:
    """The interval, if it has a length; a percentile interval may exclude the value."""
    lower, upper = row.get(f"{field}_lower"), row.get(f"{field}_upper")
    if lower is None or upper is None or lower == upper:
        return None
    return _point(min(lower, row[field]), max(upper, row[field]))


def _axis(axis: Axis, rows: Sequence[Row]) -> PanelAxis:
    values = [row[axis.field] for row in rows] + [end for row in rows for end in _bounds(row, axis.field) or ()]
    low, high = min(values), max(values)
    log = axis.scale in ("log", "log counts") and low > 0
    room = 0.12 * (high - low or abs(high) or 1)
    most = math.inf if axis.most is None else max(1.02 * axis.most, high)
    ends = {
        "zero": (0.0, 1.12 * high or 1.0),
        "log": (1.0 if low == 1 else 0.8 * low, 1.05 * max(high, 2)),
        "log counts": (low / 1.15, 1.15 * high) if log else (low - 0.5, high + 0.5),
        "counts": (low - 0.5, high + 0.5),
        "measures": (low - 0.3, high + 0.3),
        "places": (high + 0.5, 0.5),
    }.get(axis.scale, (max(low - room, min(low, 0.0)), min(high + room, most)))
    ticks: list[tuple[float, str]] = []
    if axis.scale in ("counts", "log counts"):
        counts = sorted(set(values))
        ticks = [(value, f"{value:,.6g}") for value in counts[:: -(-len(counts) // 12)]]  # at most 12
    elif log:
        powers = range(math.ceil(math.log10(ends[0]) - 1e-9), math.floor(math.log10(ends[1]) + 1e-9) + 1)
        ticks = [(10.0**power, f"{10.0**power:,g}") for power in powers]
    elif axis.scale == "measures":
        ticks = list({row[axis.field]: row["measure"] for row in rows}.items())
    elif axis.scale == "places":
        ticks = [(place, str(place)) for place in range(1, math.ceil(ends[0]))]
    elif axis.scale != "plane":
        ticks = _ticks(ends)
    return PanelAxis(axis.label + (f" → {axis.better}" if axis.better else ""), ends, ticks, log)


def from_zero(high: float) -> PanelAxis:
    """An axis without a label from 0 to the round value at or above this one."""
    step = round_step((high if high > 0 else 1.0) / _MOST_TICKS, (1, 2, 5, 10))
    values = [number * step for number in range(max(math.ceil(high / step - 1e-9), 1) + 1)]
    return PanelAxis("", (0.0, values[-1]), [(value, f"{value:,.6g}") for value in values])


def _ticks(ends: Point) -> list[tuple[float, str]]:
    return [(value, f"{value:,.6g}") for value in round_values(*ends)]


def round_values(low: float, high: float, most: int = _MOST_TICKS) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten from `low` to `high`, about `most`."""
    step = round_step((high - low) / most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def round_step(rough: float, factors: Iterable[float] = (1, 2, 2.5, 5, 10)) -> float:
    """The least of the factors times a power of ten that is not below `rough`; 1 for 0."""
    power = 10.0 ** math.floor(math.log10(rough or 1.0))
    return next(factor * power for factor in factors if factor * power >= rough * (1 - 1e-12))


def _equal_f(beta2: float, across: Point, up: Point) -> list[Line]:
    """Lines of equal F = (1 + β²)·d·a / (β²·d + a), for accuracy a on the x axis and diversity d on the y axis."""
    (left, right), (low, high) = across, up
    left, low = max(left, 0.0), max(low, 0.0)
    most = (1 + beta2) * high * right / (beta2 * high + right)
    lines = []
    for level in round_values(0, most, 8):
        steps = [high - (high - low) * step / 400 for step in range(400)]
        curve = [_point(beta2 * level * d / ((1 + beta2) * d - level), d) for d in steps if (1 + beta2) * d > level]
        seen = [point for point in curve if left <= point[0] <= right]
        if level > 0 and len(seen) > 1:
            lines.append(Line(seen, said=f"F {level:g}"))
    return lines
