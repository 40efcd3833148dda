"""Charts drawn by matplotlib: each function takes a description and returns a figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from sacrecap.report.pictures.style import Look, elided, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sacrecap.report.pictures.charts import Axis, Chart, Row
    from sacrecap.report.pictures.single_images import Scaling, SetTopics

_SIZE = 62.0
_GREY = "#8A9299"
_FITTED = "#C62828"
"""Red, as in the papers."""
_F_LINES = 8
_MOST_RADARS = 10
_RADAR_WIDTH, _ROW_HEIGHT, _RADIUS = 1.45, 2.4, 0.46
"""Size in inches."""


def chart(described: Chart, looks: Sequence[Look] | None = None) -> Figure:
    """Points, or lines with points, with their intervals; or bars.

    `looks`: of the systems, in the order of their first rows.
    """
    systems = _by_system(described.rows)
    looks = looks or _looks_of(systems)
    if described.kind == "bars":
        return _bars(described, looks)
    across = min(2, len(described.y))
    down = math.ceil(len(described.y) / across)
    width, height = (4.9, 4.2) if len(described.y) == 1 else (3.2 * across, 0.8 + 2.6 * down)
    if described.x["scale"] == "measures":
        width, height = 1.3 + 0.95 * len(_measures(described)), max(2.6, 1.2 + 0.27 * len(looks))
    figure = Figure(figsize=(width + _room(looks), _height(looks, height)), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).flat
    none = [None] * len(described.y)
    shown = zip(described.y, described.titles or none, described.fitted or none, panels, strict=False)
    for up, title, fitted, axes in shown:
        for one, rows in zip(looks, systems.values(), strict=True):
            _system(axes, described, up, rows, one)
        if fitted is not None:
            axes.plot(*zip(*fitted, strict=True), color=_FITTED, lw=1.6, zorder=4)
        _set_axes(axes, described, up)
        axes.set_title(title or "")
    for axes in list(panels):  # those beyond the last axis
        axes.set_axis_off()
    _legend(figure, looks)
    return figure


def _system(axes: Axes, described: Chart, up: Axis, rows: list[Row], one: Look) -> None:
    """The line, the crosses and the marks of a system."""
    across = described.x["field"]
    rows = [row for row in rows if not described.measures or row["measure"] == up["label"]]
    if described.kind == "cloud":
        axes.scatter(
            [row[across] for row in rows], [row[up["field"]] for row in rows], s=5, color=one.colour, alpha=0.4
        )
        return
    if described.kind == "lines":
        places = [row[across] for row in rows], [row[up["field"]] for row in rows]
        axes.plot(*places, color=one.colour, lw=1.3, solid_capstyle="butt")
    if described.band:
        low, high = ([row[f"{up['field']}_{end}"] for row in rows] for end in ("lower", "upper"))
        axes.fill_between([row[across] for row in rows], low, high, color=one.colour, alpha=0.15, lw=0)
    for row in rows[-1:] if described.x["scale"] == "log" else rows:
        x, y = row[across], row[up["field"]]
        xerr, yerr = _sides(row, across), _sides(row, up["field"])
        if (xerr or yerr) and not described.band:
            axes.errorbar(x, y, xerr=xerr, yerr=yerr, color=one.colour, lw=1.2, zorder=2)
        _mark(axes, x, y, one, _SIZE if len(described.y) == 1 else 44 if described.measures else 34)
        if described.label is not None:
            axes.annotate(row[described.label], (x, y), xytext=(6, 5), textcoords="offset points", fontsize=7.5)


def _set_axes(axes: Axes, described: Chart, up: Axis) -> None:
    """Labels, scales and ends."""
    axes.margins({"around": 0.15, "counts": 0.08, "measures": 0.08}.get(described.x["scale"], 0.05))
    for letter, shown, arrow in (("x", described.x, "→"), ("y", up, "↑")):
        own = axes.xaxis if letter == "x" else axes.yaxis
        own.set_label_text(_label(shown, arrow))
        if shown["scale"] == "zero":
            axes.set(**{f"{letter}lim": (0, None)})
        if shown["scale"] in ("log", "log counts"):
            axes.set(**{f"{letter}scale": "log"})
            own.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
            axes.minorticks_off()
        if shown["scale"] in ("counts", "log counts"):
            own.set_ticks(sorted({row[shown["field"]] for row in described.rows}))
        if shown["scale"] == "measures":
            names = _measures(described)
            own.set_ticks(range(len(names)), names, rotation=25, ha="right", rotation_mode="anchor")
        if shown["scale"] == "places":
            last = len(_by_system(described.rows))
            axes.set(ylim=(last + 0.5, 0.5), yticks=range(1, last + 1))
            axes.grid(visible=False, axis="y")
    if described.x["most"] is not None:  # the axis ends there, with room for half a mark
        axes.set_xlim(right=min(axes.get_xlim()[1], 1.03 * described.x["most"]))
    if up["field"] == "vocabulary":
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    if described.beta2 is not None:
        _equal_f(axes, described.beta2)


def _measures(described: Chart) -> list[str]:
    return list(dict.fromkeys(row["measure"] for row in described.rows))


def _label(shown: Axis, arrow: str) -> str:
    return f"{shown['label']} ({arrow} {shown['better']})" if shown["better"] else shown["label"]


def _bars(described: Chart, looks: Sequence[Look]) -> Figure:
    """One bar per row, from 0, with the interval as a line."""
    field = described.x["field"]
    figure = Figure(figsize=(4.9 + _room(looks), 0.9 + 0.42 * len(looks)), layout="constrained")
    axes = figure.add_subplot()
    places = range(len(looks))
    for place, row, one in zip(places, described.rows, looks, strict=True):
        value = row[field]
        axes.barh(place, value, height=0.62, color=one.colour)
        axes.errorbar(value, place, xerr=_sides(row, field), color="#1C1F22", lw=1.2, capsize=2.5)
        end = max(value, row.get(f"{field}_upper") or value)
        axes.annotate(f"{value:.3f}", (end, place), xytext=(6, 0), textcoords="offset points", va="center")
    axes.set(xlabel=_label(described.x, "→"), yticks=list(places), xlim=(0, None))
    axes.set_yticklabels([one.name for one in looks])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.12)
    return figure


def scaling(planes: list[Scaling], looks: list[Look]) -> Figure:
    """One panel per image: similar captions are near each other; a mark's area is the number of equal captions."""
    across = min(3, len(planes))
    down = math.ceil(len(planes) / across)
    figure = Figure(figsize=(2.7 * across + _room(looks), 0.5 + 2.9 * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).flat
    for one, axes in zip(planes, panels, strict=False):  # takes no panel beyond the last image
        for mark in sorted(one.marks, key=lambda mark: -len(mark.captions)):
            _mark(axes, mark.x, mark.y, looks[mark.system], 26 * len(mark.captions), alpha=0.8)
        axes.set_title(elided(one.image_id, 26))
        axes.set(xticks=[], yticks=[], xlabel=f"shows {one.share:.0%} of the squared distances", aspect="equal")
        axes.margins(0.2)
        axes.set_adjustable("datalim")
        axes.spines[["top", "right"]].set_visible(True)
    for axes in list(panels):
        axes.set_axis_off()
    _legend(figure, [looks[number] for number in sorted({mark.system for one in planes for mark in one.marks})])
    return figure


def topics(sets: list[SetTopics], looks: list[Look]) -> Figure:
    """One row per system, one radar per caption: the length on each spoke is how much the caption is about that
    topic.
    """
    across = max(min(max(len(one.captions) for one in sets), _MOST_RADARS), 3)
    width, height = 0.3 + _RADAR_WIDTH * across, 0.45 + _ROW_HEIGHT * len(sets)
    figure = Figure(figsize=(width, height))
    # One drawing area for all, measured in inches: separate axes for each radar would be slow.
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.set_axis_off()
    axes.text(0.15, height - 0.12, elided(sets[0].image_id, 12 * across), va="top", fontsize=10, fontweight="bold")
    for number, one in enumerate(sets):
        _row_of_radars(axes, one, looks[one.system], across, height - 0.4 - _ROW_HEIGHT * number)
    return figure


def _row_of_radars(axes: Axes, one: SetTopics, seen: Look, across: int, top: float) -> None:
    rest = len(one.captions) - across
    more = f"  (the first {across} of {len(one.captions)} captions)" if rest > 0 else ""
    axes.text(0.15, top - 0.06, seen.name + more, color=seen.colour, fontweight="bold", va="top")
    named = [
        ", ".join(("−" if load < 0 else "") + elided(word, 24) for word, load in topic.words) for topic in one.topics
    ]
    keys = " · ".join(f"{place}: {words or '–'}" for place, words in enumerate(named, start=1))
    axes.text(0.15, top - 0.26, _wrapped(keys, 26 * across, 2), fontsize=7.5, color="#5A6269", va="top")
    furthest = max((abs(load) for topic in one.topics for load in topic.captions), default=1.0) or 1.0
    for number, text in enumerate(one.captions[:across]):
        x = 0.15 + _RADAR_WIDTH * (number + 0.5)
        _radar(axes, (x, top - 1.22), [topic.captions[number] / furthest for topic in one.topics], seen)
        axes.text(x, top - 1.84, _wrapped(text, 24, 3), fontsize=6.5, ha="center", va="top", linespacing=1.15)


def _radar(axes: Axes, centre: tuple[float, float], loads: list[float], seen: Look, spokes: int = 5) -> None:
    """Loads of −1 to 1 on spokes; a hollow dot is a negative load."""
    loads = [*loads, *[0.0] * (spokes - len(loads))]
    angles = [math.pi / 2 - 2 * math.pi * spoke / spokes for spoke in range(spokes)]

    def at(shares: Iterable[float]) -> tuple[list[float], list[float]]:
        reach = [_RADIUS * share for share in shares]
        x = [centre[0] + length * math.cos(angle) for length, angle in zip(reach, angles, strict=True)]
        y = [centre[1] + length * math.sin(angle) for length, angle in zip(reach, angles, strict=True)]
        return x, y

    grid: list[tuple[float, float]] = []  # rings and spokes in one line with gaps: many lines are slow
    gap = (math.nan, math.nan)
    for ring in (0.5, 1.0):
        corners = list(zip(*at([ring] * spokes), strict=True))
        grid += [*corners, corners[0], gap]
    for spoke, (x, y) in enumerate(zip(*at([1.0] * spokes), strict=True)):
        grid += [centre, (x, y), gap]
        label = (centre[0] + 1.18 * (x - centre[0]), centre[1] + 1.18 * (y - centre[1]))
        axes.text(*label, str(spoke + 1), fontsize=6, color="#5A6269", ha="center", va="center")
    axes.plot(*zip(*grid, strict=True), color="#DCDFE0", lw=0.6, zorder=0)
    places = at(abs(load) for load in loads)
    axes.fill(*places, facecolor=seen.colour, alpha=0.3, lw=0)
    axes.fill(*places, fill=False, edgecolor=seen.colour, lw=1.1)
    for face, dots in ((seen.colour, [load > 0 for load in loads]), ("white", [load < 0 for load in loads])):
        shown = [(one, other) for one, other, dot in zip(*places, dots, strict=True) if dot]
        if shown:
            axes.plot(
                *zip(*shown, strict=True),
                "o",
                ms=3,
                lw=0,
                markerfacecolor=face,
                markeredgecolor=seen.colour,
                markeredgewidth=0.8,
            )


def _wrapped(text: str, width: int, lines: int) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(elided(text, 400), width, max_lines=lines, placeholder=" …"))


def _room(looks: Sequence[Look]) -> float:
    """Width for the names next to a drawing, in inches."""
    return 0.45 + 0.09 * max(len(one.name) for one in looks)


def _height(looks: Sequence[Look], least: float) -> float:
    """Height in inches: as much as the drawing needs, or the names next to it."""
    return max(least, 0.3 + 0.212 * len(looks))


def _looks_of(systems: Iterable[tuple[str, str]]) -> list[Look]:
    """Colours and marks of systems by name and kind."""
    return [look(number, name, people=kind == "people") for number, (name, kind) in enumerate(systems)]


def _by_system(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    systems: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        systems.setdefault((row["system"], row["kind"]), []).append(row)
    return systems


def _sides(row: Row, field: str) -> list[list[float]] | None:
    """The interval of a field as matplotlib takes it; a percentile interval may exclude the value."""
    value, lower, upper = row[field], row.get(f"{field}_lower"), row.get(f"{field}_upper")
    if lower is None or upper is None:
        return None
    return [[max(value - lower, 0.0)], [max(upper - value, 0.0)]]


def _mark(axes: Axes, x: float, y: float, seen: Look, size: float = _SIZE, alpha: float = 1.0) -> None:
    larger = 1.9 if seen.mark == "*" else 1.0
    axes.scatter(
        [x],
        [y],
        s=size * larger,
        color=seen.colour,
        marker=seen.mark,
        edgecolors="white",
        linewidths=0.8,
        alpha=alpha,
        zorder=3,
    )


def _legend(figure: Figure, looks: Iterable[Look]) -> None:
    """Names next to the drawing; set as texts, because a label that begins with _ would be left out."""
    shown = list(looks)
    handles = [
        Line2D(
            [],
            [],
            color=one.colour,
            marker=one.mark,
            markersize=11 if one.mark == "*" else 8,
            markeredgecolor="white",
            lw=0,
            label=str(number),
        )
        for number, one in enumerate(shown)
    ]
    legend = figure.legend(handles=handles, loc="outside right upper", handletextpad=0.3, borderpad=0)
    for text, one in zip(legend.get_texts(), shown, strict=True):
        text.set_text(one.name)


def _equal_f(axes: Axes, beta2: float) -> None:
    """Lines of equal F = (1 + β²)·d·a / (β²·d + a), as a = β²·d·F / ((1 + β²)·d − F)."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    left, low = max(left, 0.0), max(low, 0.0)
    most = (1 + beta2) * right * high / (beta2 * right + high)
    steps = [left + (right - left) * step / 400 for step in range(1, 401)]
    for level in MaxNLocator(_F_LINES).tick_values(0, most):
        line = [(d, beta2 * d * level / ((1 + beta2) * d - level)) for d in steps if (1 + beta2) * d > level]
        if level <= 0 or not line or not low <= line[-1][1] <= high:
            continue
        seen = [(d, a) for d, a in line if a <= high]
        axes.plot(*zip(*seen, strict=True), color=_GREY, lw=0.7, ls=(0, (4, 3)), zorder=1)
        axes.annotate(
            f"F {level:g}",
            seen[-1],
            xytext=(4, 0),
            textcoords="offset points",
            fontsize=7,
            color="#5A6269",
            ha="left",
            va="center",
            annotation_clip=False,
        )
    axes.set(xlim=(left, right), ylim=(low, high))
