"""Pictures drawn by matplotlib: one function for each part of a panel."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from sacrecap.report.pictures.style import Look, elided

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sacrecap.report.pictures.panels import Line, Mark, Panel, Picture, Point

    Project = Callable[[float, float], Point]

_SIZE = 62.0
_BAR = 0.34
_INK, _SOFT, _GREY, _PALE = "#1C1F22", "#5A6269", "#8A9299", "#DCDFE0"
_FITTED = "#C62828"
"""Red, as in the papers."""
_LETTERS = 15
"""Of a small text in an inch."""


def figure(shown: Picture) -> Figure:
    """The panels, the names of the looks next to them, and the note below."""
    panels, looks = shown["panels"], shown["looks"]
    across, width, height = _layout(panels, len(looks))
    down = math.ceil(len(panels) / across)
    named = [] if panels[0]["kind"] in ("bars", "radar") else looks
    room = 0.45 + 0.09 * max((len(one["name"]) for one in named), default=0)
    size = width * across + room, max(height * down, 0.3 + 0.212 * len(named))
    note = textwrap.wrap(elided(shown["note"], 800), int(_LETTERS * size[0]))
    made = Figure(figsize=(size[0], size[1] + 0.15 * len(note)), layout="constrained")
    layout: Any = made.get_layout_engine()
    layout.set(h_pad=0.08)
    grid = made.subplots(down, across, squeeze=False).flat
    for panel, axes in zip(panels, grid, strict=False):  # takes no place beyond the last panel
        _panel(axes, panel, looks, width)
    for axes in grid:
        axes.set_axis_off()
    _legend(made, named)
    made.supxlabel("\n".join(note), fontsize=7, color=_SOFT, x=0.01, ha="left")
    return made


def _layout(panels: Sequence[Panel], looks: int) -> tuple[int, float, float]:
    """Panels in a row, and the width and the height of each, in inches."""
    first = panels[0]
    match first["kind"]:
        case "bars":
            return 1, 5.2, 0.7 + 0.42 * len(first["marks"])
        case "plane":
            return min(5, len(panels)), 2.2, 2.45
        case "radar":
            return 3, 2.7, 2.9
    if _slanted(first):
        return 1, 1.3 + 0.95 * len(first["x"]["ticks"]), 1.2 + 0.27 * looks
    return (1, 4.9, 4.2) if len(panels) == 1 else (2, 3.2, 3.0) if len(panels) < 5 else (4, 2.6, 2.6)


def _panel(axes: Axes, panel: Panel, looks: Sequence[Look], width: float) -> None:
    project: Project = lambda x, y: (x, y)  # noqa: E731
    if panel["kind"] in ("radar", "text"):
        axes.set_axis_off()
    if panel["kind"] == "radar":
        project = _radar(axes, panel)
    elif panel["kind"] == "text":
        _list(axes, panel["below"].split("\n"), looks, int(_LETTERS * width))
        return
    else:
        _axes(axes, panel)
    for line in panel["lines"]:
        _line(axes, line, looks, project)
    for mark in panel["marks"]:
        draw = _bar if panel["kind"] == "bars" else _mark
        draw(axes, mark, looks[mark["look"]])
    axes.set_title(elided(panel["title"], int(10 * width)))
    if panel["below"]:
        below = textwrap.fill(elided(panel["below"], 300), int(_LETTERS * width))
        axes.text(0.5, -0.04, below, va="top", ha="center", fontsize=6.5, color=_SOFT, transform=axes.transAxes)


def _list(axes: Axes, lines: Sequence[str], looks: Sequence[Look], most: int) -> None:
    """Lines of text one below the other, each in the colour of its look."""
    place = 1.0
    for line, one in zip(lines, looks, strict=False):
        parts = textwrap.wrap(elided(line, 200), most, subsequent_indent="   ")
        axes.text(0, place, "\n".join(parts), va="top", fontsize=7, color=one["colour"], transform=axes.transAxes)
        place -= 0.055 * len(parts)


def _axes(axes: Axes, panel: Panel) -> None:
    """Labels, scales, ends and ticks."""
    for letter, shown in (("x", panel["x"]), ("y", panel["y"])):
        own: Any = axes.xaxis if letter == "x" else axes.yaxis
        own.set_label_text(shown["label"])
        axes.set(**{f"{letter}scale": "log" if shown["log"] else "linear", f"{letter}lim": shown["ends"]})
        own.set_minor_locator(NullLocator())
        own.set_ticks([value for value, _ in shown["ticks"]], [text for _, text in shown["ticks"]])
    if _slanted(panel):
        axes.tick_params(axis="x", rotation=25)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    if panel["kind"] == "plane":
        axes.set_aspect("equal")
        axes.spines[["top", "right"]].set_visible(True)


def _slanted(panel: Panel) -> bool:
    """Whether the texts of the x axis are names."""
    return any(len(text) > 7 for _, text in panel["x"]["ticks"])


def _radar(axes: Axes, panel: Panel) -> Project:
    """Rings and spokes; returns where a value on a spoke is."""
    spokes, (low, high) = len(panel["x"]["ticks"]), panel["y"]["ends"]

    def project(spoke: float, value: float) -> Point:
        angle, reach = math.pi / 2 - 2 * math.pi * spoke / spokes, (value - low) / (high - low)
        return reach * math.cos(angle), reach * math.sin(angle)

    for value, text in panel["y"]["ticks"]:
        ring = [project(spoke, value) for spoke in range(spokes + 1)]
        axes.plot(*zip(*ring, strict=True), color=_PALE if text != "0" else _GREY, lw=0.7, zorder=0)
        axes.text(*project(0.15, value), text, fontsize=6, color=_SOFT, ha="left", va="center")
    for spoke, text in panel["x"]["ticks"]:
        axes.plot(*zip((0, 0), project(spoke, high), strict=True), color=_PALE, lw=0.7, zorder=0)
        axes.text(*project(spoke, 1.2 * high), text, fontsize=7, color=_SOFT, ha="center", va="center")
    axes.set(xlim=(-1.2, 1.2), ylim=(-0.95, 1.2), aspect="equal")
    return project


def _line(axes: Axes, line: Line, looks: Sequence[Look], project: Project) -> None:
    """A line, or an area in a pale colour; a guide is dashed, and says at its end what it is."""
    places = list(zip(*(project(*point) for point in line["points"]), strict=True))
    if line["kind"] == "fitted":
        axes.plot(*places, color=_FITTED, lw=1.6, zorder=4)
        return
    if line["look"] is None:
        axes.plot(*places, color=_GREY, lw=0.7, ls=(0, (4, 3)), zorder=1)
        end = line["points"][-1]
        _text(axes, line["said"], end, (4, 3), fontsize=7, color=_SOFT)
        return
    colour = looks[line["look"]]["colour"]
    if line["kind"] == "cloud":
        axes.scatter(places[0], places[1], s=5, color=colour, alpha=0.4)
    elif line["kind"] == "area":
        axes.fill(*places, facecolor=colour, alpha=0.15, lw=0)
    elif line["kind"] == "closed":
        axes.fill(*places, facecolor="none", edgecolor=colour, lw=1.1)
    else:
        axes.plot(*places, color=colour, lw=1.3, solid_capstyle="butt")


def _mark(axes: Axes, mark: Mark, seen: Look) -> None:
    """A mark, its intervals as a cross, and its text."""
    (x, y), size = (mark["x"], mark["y"]), _SIZE * mark["size"] * (1.9 if seen["mark"] == "*" else 1.0)
    for ends in filter(None, [mark["across"]]):
        axes.plot(ends, [y, y], color=seen["colour"], lw=1.2, zorder=2)
    for ends in filter(None, [mark["up"]]):
        axes.plot([x, x], ends, color=seen["colour"], lw=1.2, zorder=2)
    axes.scatter(
        [x], [y], s=size, color=seen["colour"], marker=seen["mark"], edgecolors="white", linewidths=0.8, zorder=3
    )
    _text(axes, mark["text"], (x, y), (6, 5), fontsize=7.5)


def _bar(axes: Axes, mark: Mark, seen: Look) -> None:
    """A bar from 0, its interval, and its text above it."""
    axes.barh(mark["y"] + 0.15, mark["x"], height=_BAR, color=seen["colour"])
    for ends in filter(None, [mark["across"]]):
        axes.errorbar(
            mark["x"],
            mark["y"] + 0.15,
            xerr=[[mark["x"] - ends[0]], [ends[1] - mark["x"]]],
            color=_INK,
            lw=1.2,
            capsize=2.5,
        )
    _text(axes, mark["text"], (0, mark["y"] - 0.05), (2, 0))


def _text(axes: Axes, text: str, beside: Point, offset: Point, **look: Any) -> None:
    axes.annotate(text, beside, xytext=offset, textcoords="offset points", annotation_clip=False, **look)


def _legend(figure: Figure, looks: Sequence[Look]) -> None:
    """Names next to the drawing; set as texts, because a label that begins with _ would be left out."""
    handles = [
        Line2D(
            [],
            [],
            color=one["colour"],
            marker=one["mark"],
            markersize=11 if one["mark"] == "*" else 8,
            markeredgecolor="white",
            lw=0,
            label=str(number),
        )
        for number, one in enumerate(looks)
    ]
    if not handles:
        return
    legend = figure.legend(handles=handles, loc="outside right upper", handletextpad=0.3, borderpad=0)
    for text, one in zip(legend.get_texts(), looks, strict=True):
        text.set_text(one["name"])
