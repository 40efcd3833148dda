"""Drawings of the tables, with matplotlib: each function takes a picture's table and returns a figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from sacrecap.report.pictures.style import Look, elided, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sacrecap.report.pictures.single_images import Scaling, SetTopics
    from sacrecap.report.pictures.tables import (
        CaptionsRow,
        FRow,
        MeasureRow,
        PlaneRow,
        RankingRow,
        Table,
        TradeOffRow,
        VocabularyRow,
        WordRow,
    )

    _Named = TypeVar("_Named", PlaneRow, FRow, VocabularyRow, WordRow, CaptionsRow, MeasureRow, RankingRow)

_SIZE = 62.0
_GREY = "#8A9299"
_F_LINES = 8
_MOST_RADARS = 10
_RADAR_WIDTH, _ROW_HEIGHT, _RADIUS = 1.45, 2.4, 0.46
"""Size in inches."""


def plane(table: Table[PlaneRow], label: str, accuracy: str, beta2: float | None) -> Figure:
    """Diversity on the x axis, accuracy on the y axis, intervals as crosses; lines join points of equal F."""
    looks = _looks(table)
    figure, axes = _one(4.9 + _room(looks), _height(looks, 4.2))
    for row, one in zip(table.rows, looks, strict=True):
        axes.errorbar(*_place(row), **_cross(row), color=one.colour, lw=1.2, zorder=2)
        _mark(axes, *_place(row), one)
    axes.margins(0.15)
    _end_at_one(axes)
    axes.set(xlabel=f"Diversity: {label} (→ more varied)", ylabel=f"{accuracy} (↑ closer to the references)")
    if beta2 is not None:
        _equal_f(axes, beta2)
    _legend(figure, looks)
    return figure


def trade_off(table: Table[TradeOffRow], label: str, accuracy: str, beta2: float, looks: Mapping[str, Look]) -> Figure:
    """The plane of a sweep: one line per model through its points, named by λ; crosses show the range over seeds."""
    shown = list(looks.values())
    figure, axes = _one(5.2 + _room(shown), _height(shown, 4.6))
    written: set[tuple[float, float]] = set()  # lines may share a point: its weight is written once
    for name, one in looks.items():
        rows = [row for row in table.rows if row["line"] == name and row["weight"] is not None]
        axes.plot([row["diversity"] for row in rows], [row["accuracy"] for row in rows], color=one.colour, lw=1.0)
        for row in rows:
            axes.errorbar(*_place(row), **_cross(row), color=one.colour, lw=1.0)
            _mark(axes, *_place(row), one)
            if row["weight"] and _place(row) not in written:
                written.add(_place(row))
                named = "reward only" if row["weight"] == "only" else f"λ {row['weight']}"
                axes.annotate(named, _place(row), xytext=(6, 5), textcoords="offset points", fontsize=7.5)
    for row in table.rows:
        if row["weight"] is None:
            shown.append(look(0, row["line"], people=True))
            _mark(axes, *_place(row), shown[-1])
    axes.margins(0.12)
    _end_at_one(axes)
    axes.set(xlabel=f"Diversity: {label} (→ more varied)", ylabel=f"{accuracy} (↑ closer to the references)")
    _equal_f(axes, beta2)
    _legend(figure, shown)
    return figure


def f(table: Table[FRow], label: str) -> Figure:
    """One bar per row, from 0, with the interval as a line."""
    looks = _looks(table)
    figure, axes = _one(4.9 + _room(looks), 0.9 + 0.42 * len(looks))
    places = range(len(looks))
    for place, row, one in zip(places, table.rows, looks, strict=True):
        value, high = row["f"], row["upper"]
        axes.barh(place, value, height=0.62, color=one.colour)
        axes.errorbar(value, place, xerr=_sides(value, row["lower"], high), color="#1C1F22", lw=1.2, capsize=2.5)
        end = max(value, high if high is not None else value)
        axes.annotate(f"{value:.3f}", (end, place), xytext=(6, 0), textcoords="offset points", va="center")
    axes.set(xlabel=f"{label} (→ better)", yticks=list(places), xlim=(0, None))
    axes.set_yticklabels([one.name for one in looks])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.12)
    return figure


def vocabulary(table: Table[VocabularyRow], label: str) -> Figure:
    """Diversity on the x axis, number of distinct words on the y axis."""
    looks = _looks(table)
    figure, axes = _one(4.9 + _room(looks), _height(looks, 4.0))
    for row, one in zip(table.rows, looks, strict=True):
        x, y = row["diversity"], row["vocabulary"]
        axes.errorbar(x, y, xerr=_sides(x, row["lower"], row["upper"]), color=one.colour, lw=1.2, zorder=2)
        _mark(axes, x, y, one)
    axes.margins(0.15)
    _end_at_one(axes)
    axes.set(xlabel=f"Diversity: {label} (→ more varied)", ylabel="Vocabulary (distinct words)", ylim=(0, None))
    axes.yaxis.set_major_formatter(_THOUSANDS)
    _legend(figure, looks)
    return figure


def words(table: Table[WordRow]) -> Figure:
    """Frequency by rank, one line per system, which ends with the vocabulary."""
    curves = _by_system(table)
    looks = _looks_of(curves)
    figure, axes = _one(4.9 + _room(looks), _height(looks, 4.0))
    for one, rows in zip(looks, curves.values(), strict=True):
        ranks, shares = [row["rank"] for row in rows], [row["per_thousand_words"] for row in rows]
        axes.plot(ranks, shares, color=one.colour, lw=1.4, solid_capstyle="butt")
        _mark(axes, ranks[-1], shares[-1], one)
    axes.set(xscale="log", yscale="log", xlabel="Rank of the word, the commonest first")
    axes.set(ylabel="Occurrences in 1,000 words")
    axes.xaxis.set_major_formatter(_THOUSANDS)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.minorticks_off()
    _legend(figure, looks)
    return figure


def captions(table: Table[CaptionsRow], label: str, accuracy: str) -> Figure:
    """Diversity, and accuracy, of the K most accurate captions, over K; people have one point."""
    curves = _by_system(table)
    looks = _looks_of(curves)
    figure = Figure(figsize=(6.4 + _room(looks), _height(looks, 3.4)), layout="constrained")
    fields: tuple[tuple[Literal["diversity", "accuracy"], str], ...] = (
        ("diversity", f"{label} (↑ more varied)"),
        ("accuracy", f"{accuracy} (↑ closer)"),
    )
    for axes, (field, title) in zip(figure.subplots(1, 2), fields, strict=True):
        for one, rows in zip(looks, curves.values(), strict=True):
            counts, values = [row["captions"] for row in rows], [row[field] for row in rows]
            axes.plot(counts, values, color=one.colour, lw=1.4)
            for x, y in zip(counts, values, strict=True):
                _mark(axes, x, y, one, 34)
        axes.set(xlabel="The K most accurate captions of each set", ylabel=title, ylim=(0, None))
        axes.set_xticks(sorted({row["captions"] for row in table.rows}))
        axes.margins(x=0.08)
    _legend(figure, looks)
    return figure


def measures(table: Table[MeasureRow]) -> Figure:
    """One panel per measure of diversity: the first measure on the x axis, this one on the y axis, and their rank
    correlation.
    """
    from sacrecap.judgments.correlation import plain

    systems = _by_system(table)
    looks = _looks_of(systems)
    first, *others = dict.fromkeys(row["measure"] for row in table.rows)
    across = min(2, len(others))
    down = math.ceil(len(others) / across)
    figure = Figure(figsize=(3.1 * across + _room(looks), _height(looks, 0.5 + 2.6 * down)), layout="constrained")
    values = {
        one: [row["value"] for rows in systems.values() for row in rows if row["measure"] == one]
        for one in (first, *others)
    }
    panels = figure.subplots(down, across, squeeze=False).flat
    for name, axes in zip(others, panels, strict=False):  # takes no panel beyond the last measure
        for one, x, y in zip(looks, values[first], values[name], strict=True):
            _mark(axes, x, y, one, 44)
        if len(looks) > 2 and len(set(values[first])) > 1 < len(set(values[name])):
            axes.set_title(f"Spearman's ρ {plain(values[first], values[name])['spearman']:.2f}")
        axes.set(xlabel=first, ylabel=name)
        axes.margins(0.12)
    for axes in list(panels):
        axes.set_axis_off()
    _legend(figure, looks)
    return figure


def ranking(table: Table[RankingRow]) -> Figure:
    """One column per measure, one line per system through its ranks; the first rank is on top."""
    systems = _by_system(table)
    looks = _looks_of(systems)
    measured = list(dict.fromkeys(row["measure"] for row in table.rows))
    figure, axes = _one(1.3 + 0.95 * len(measured) + _room(looks), _height(looks, 1.2 + 0.27 * len(looks)))
    for one, rows in zip(looks, systems.values(), strict=True):
        places = [(measured.index(row["measure"]), row["rank"]) for row in rows]
        axes.plot(*zip(*places, strict=True), color=one.colour, lw=1.2)
        for x, y in places:
            _mark(axes, x, y, one)
    axes.set(ylabel="Place (1: the most)", yticks=range(1, len(looks) + 1), xticks=range(len(measured)))
    axes.set_xticklabels(measured, rotation=25, ha="right", rotation_mode="anchor")
    axes.set(ylim=(len(looks) + 0.5, 0.5))
    axes.margins(x=0.08)
    axes.grid(visible=False, axis="y")
    _legend(figure, looks)
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


def _room(looks: list[Look]) -> float:
    """Width for the names next to a drawing, in inches."""
    return 0.45 + 0.09 * max(len(one.name) for one in looks)


def _height(looks: list[Look], least: float) -> float:
    """Height in inches: as much as the drawing needs, or the names next to it."""
    return max(least, 0.3 + 0.212 * len(looks))


def _one(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _looks(table: Table[_Named]) -> list[Look]:
    """Colours and marks of the systems of a table with one row per system."""
    return [look(number, row["system"], people=row["kind"] == "people") for number, row in enumerate(table.rows)]


def _looks_of(systems: Iterable[tuple[str, str]]) -> list[Look]:
    """Colours and marks of systems by name and kind."""
    return [look(number, name, people=kind == "people") for number, (name, kind) in enumerate(systems)]


def _by_system(table: Table[_Named]) -> dict[tuple[str, str], list[_Named]]:
    rows: dict[tuple[str, str], list[_Named]] = {}
    for row in table.rows:
        rows.setdefault((row["system"], row["kind"]), []).append(row)
    return rows


def _place(row: PlaneRow | TradeOffRow) -> tuple[float, float]:
    return row["diversity"], row["accuracy"]


def _cross(row: PlaneRow | TradeOffRow) -> dict[str, Any]:
    """The intervals of a point in the plane, as matplotlib takes them."""
    return {
        "xerr": _sides(row["diversity"], row["diversity_lower"], row["diversity_upper"]),
        "yerr": _sides(row["accuracy"], row["accuracy_lower"], row["accuracy_upper"]),
    }


def _sides(value: float, lower: float | None, upper: float | None) -> list[list[float]] | None:
    """An interval as matplotlib takes it; a percentile interval may exclude the value."""
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


def _end_at_one(axes: Axes) -> None:
    """No diversity is above 1: the axis ends there, with room for half a mark."""
    axes.set_xlim(right=min(axes.get_xlim()[1], 1.03))


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


_THOUSANDS = FuncFormatter(lambda value, _: f"{value:,.0f}")
