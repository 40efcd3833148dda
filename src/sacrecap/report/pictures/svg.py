"""The one way to draw: a panel as SVG, for a page, whose sheet gives the colours of both schemes, or in a file.

Classes say what is drawn: `grid`, `axis`, `tick`, `axis-label`; `line`, `closed`, `cloud`, `fitted`, `guide`, `area`;
`reach`, the interval of a `mark`; `bar`, `word`. What has a look has the class `look-0`, `look-1` … besides.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from itertools import cycle
from typing import NamedTuple

from sacrecap.data.objects import Located
from sacrecap.report.explanation_pictures import plain
from sacrecap.report.pictures.charts import Chart
from sacrecap.report.pictures.panels import Line, Mark, Panel, PanelAxis, Point, looks_of, panels_of, round_values
from sacrecap.report.pictures.style import RADIUS, Look, elided, ink, outline
from sacrecap.scoring.intervals import Interval

_LETTER = 7.0
"""Width of a letter, as pages draw it on a phone."""
_STYLE = (
    'text{font:11px "DejaVu Sans",Verdana,sans-serif;fill:#5A6269}.axis-label,.word,.name{font-size:12px;fill:#1C1F22}'
    ".side{fill:#1C1F22}.title{font-size:12.5px;font-weight:bold;fill:#1C1F22}"
    ".small{font-size:9px}.grid{stroke:#E6E8E9}.axis{stroke:#5A6269;fill:none}.ring{stroke:#DCDFE0;fill:none}"
    ".zero{stroke:#8A9299}.guide{stroke:#8A9299;stroke-dasharray:4 3;fill:none}.line{fill:none;stroke-width:1.75}"
    ".closed{fill:none;stroke-width:1.4}.fitted{stroke:#C62828;stroke-width:2}.area{fill-opacity:.15}"
    ".cloud{stroke-width:3.5;stroke-linecap:round;stroke-opacity:.4}.reach{stroke-width:1.6}.mark{stroke:#fff}"
    ".bars .reach{stroke:#1C1F22}"
)
"""Of files: on white."""


def svg(
    panel: Panel, label: str, *, looks: Sequence[Look] = (), width: int = 400, height: int = 0, focus: bool = False
) -> str:
    """The panel for a page; it scales to the width that it gets.

    Args:
        panel: what is drawn.
        label: what the picture says, for those who do not see it.
        looks: those of lines and marks; without them, the sheet alone says how they look.
        width: of the picture in its own units, in which a letter has about 6.
        height: the same; by default what the kind of the panel needs.
        focus: whether the keyboard reaches each mark, which then tells what it is.
    """
    drawing = _Drawing(panel, looks, width, height or _height(panel, width), focus)
    box = " ".join(f"{side:g}" for side in (drawing.left, drawing.right, drawing.top, drawing.bottom))
    return (
        f'<svg class="chart {panel.kind}" viewBox="0 0 {width} {drawing.height}" '
        f'role="{"group" if focus else "img"}" data-box="{box}" aria-label="{escape(label)}">{drawing.content()}</svg>'
    )


def figures(chart: Chart, names: Sequence[str], systems: Sequence[int], looks: Sequence[Look] = ()) -> str:
    """The panels of a chart, whose looks are those of these systems; without any, each panel is of a system.

    `names` are those of the panels, or that of all; the title of a panel follows.
    """
    looks = looks or looks_of(chart)
    parts = "".join(
        figure(
            panel,
            ": ".join(filter(None, [name, panel.title])),
            looks,
            systems or [number],
            note="" if panel.kind == "plane" else chart.note,
        )
        for number, (name, panel) in enumerate(zip(cycle(names), panels_of(chart), strict=False))
    )
    if systems:
        return parts
    return f'</div><p class="legend">{escape(chart.note)}</p><div class="plots planes">{parts}'


def figure(
    panel: Panel, title: str, looks: Sequence[Look], systems: Sequence[int] = (), *, note: str = "", focus: bool = True
) -> str:
    """A panel under its title; `systems` are those of the looks, or that of the panel."""
    drawn = svg(panel, title, looks=looks, width=240 if panel.kind in ("plane", "radar") else 400, focus=focus)
    legend = f'<span class="legend">{escape(note)}</span>' if note else ""
    below = f'<p class="legend">{escape(panel.below)}</p>' if panel.below else ""
    return (
        f'<figure class="picture" data-systems="{" ".join(map(str, systems))}"><figcaption>'
        f"<strong>{escape(title)}</strong>{legend}</figcaption>{drawn}{below}</figure>"
    )


def plots(looks: Sequence[Look], title: str, *drawn: str, first: int = 100) -> str:
    """Figures, under boxes that show and hide the systems of these looks in all of them; after the `first`, folded."""
    more = "".join(drawn[first:])
    folded = f'<details><summary>More pictures</summary><div class="plots">{more}</div></details>' if more else ""
    boxes = "".join(
        f'<label class="choice"><input type="checkbox" checked data-system="{number}"><span class="system">'
        f'<svg class="key" viewBox="-9 -9 18 18" aria-hidden="true"><use href="#mark-{number}"/></svg>'
        f"<bdi>{escape(look.name)}</bdi></span></label>"
        for number, look in enumerate(looks)
    )
    marks = "".join(f'<g id="mark-{number}">{_symbol(look)}</g>' for number, look in enumerate(looks))
    return (
        f'<svg class="marks" aria-hidden="true"><defs>{marks}</defs></svg>'
        f'<fieldset id="chooser"><legend class="legend">{title}</legend>{boxes}</fieldset>'
        f'<div class="plots">{"".join(drawn[:first])}</div>{folded}'
    )


def boxes(size: tuple[int, int], objects: Sequence[Located]) -> str:
    """Boxes with their labels, to lie on a picture of this size, in whose pixels they are."""
    width, height = size
    letter, drawn = max(size) / 18, []
    for label, score, box in objects:
        left, right = (min(max(side, 0), width) for side in box[::2] or (0, 0))
        top, bottom = (min(max(side, 0), height) for side in box[1::2] or (0, 0))
        if left < right and top < bottom:
            start, anchor = (left, "start") if left + right < width else (right, "end")
            drawn.append(
                f'<g tabindex="0" role="img"><title>{plain(label)} {score:.2f}</title><rect x="{left:.0f}" '
                f'y="{top:.0f}" width="{right - left:.0f}" height="{bottom - top:.0f}"/>'
                f"{_text('word', start, min(top, height - letter), label, anchor)}</g>"
            )
    return (
        f'<svg class="boxes" viewBox="0 0 {width} {height}" font-size="{letter:g}" role="group" '
        f'aria-label="Objects: {plain(", ".join(label for label, *_ in objects))}">{"".join(drawn)}</svg>'
    )


class Strip(NamedTuple):
    """A number that stands in a row of its own."""

    name: str
    value: float
    interval: Interval | None
    look: int = 0
    """0, or 1 for what stands beside others to be compared."""
    other: tuple[float, Interval | None] | None = None
    """What stands in its row below it, of look 1, and its interval."""


def strips(rows: Sequence[Strip], what: str, *, ends: Point | None = None, guides: Sequence[float] = ()) -> str:
    """SVG of the rows, on a scale between `ends`, by default the least and the largest; with lines at `guides`. `what`
    they are is for those who cannot see it.
    """
    marks = [
        Mark(x, place + 0.3 * below, max(row.look, below), across, size=0.6, said=f"{row.name}: {x:.4f}")
        for place, row in enumerate(rows)
        for below, (x, across) in enumerate([(row.value, row.interval), *([row.other] if row.other else [])])
    ]
    reached = [end for mark in marks for end in mark.across or (mark.x,)]
    low, high = ends or (min(reached, default=0.0), max(reached, default=1.0))
    room = 0.0 if ends else 0.03 * (high - low or 1.0)
    ticks = [(tick, f"{tick:,.6g}") for tick in round_values(low, high, 5)] if high > low else [(low, f"{low:g}")]
    last = len(rows) - 0.5
    panel = Panel(
        "plot",
        PanelAxis("", (low - room, high + room), ticks),
        PanelAxis("", (last, -0.5), [(float(place), row.name) for place, row in enumerate(rows)]),
        [Line([(guide, -0.5), (guide, last)]) for guide in guides],
        marks,
    )
    bounds = [f" [{row.interval[0]:.4f}, {row.interval[1]:.4f}]" if row.interval else "" for row in rows]
    listed = "; ".join(f"{row.name} {row.value:.4f}{end}".strip() for row, end in zip(rows, bounds, strict=True))
    return svg(panel, f"{what}: {listed}", height=40 + 26 * len(rows))


def titled(pictures: Iterable[tuple[str, str]]) -> str:
    """What each picture shows, and the picture."""
    drawn = (
        f'<figure class="picture"><figcaption><strong>{escape(what)}</strong></figcaption>{picture}</figure>'
        for what, picture in pictures
    )
    return f'<div class="plots">{"".join(drawn)}</div>'


def document(chart: Chart, looks: Sequence[Look] = ()) -> str:
    """A chart as a file: its panels, the names of the looks beside them, and the note below."""
    panels, looks = panels_of(chart), looks or looks_of(chart)
    across, width, height = _layout(panels)
    named = [] if panels[0].kind in ("bars", "radar") else looks
    texts = [_wrapped(panel.below, 300, width) if panel.kind != "text" else [] for panel in panels]
    top, below = 22 * any(panel.title for panel in panels), 12 * max(map(len, texts))
    row = top + height + below + 10
    right = across * (width + 10)
    whole = right + (40 + _LETTER * max((len(look.name) for look in named), default=0) if named else 10)
    note = _wrapped(chart.note, 800, whole - 20)
    bottom = max(row * math.ceil(len(panels) / across), 20 * len(named)) + 10
    parts, most = [], int(width / 7.4)
    for number, (panel, text) in enumerate(zip(panels, texts, strict=True)):
        if panel.kind == "text":  # a list in the colours of looks
            listed = zip(panel.below.split("\n"), looks, strict=False)
            colours = [(ink(look), line) for entry, look in listed for line in _wrapped(entry, 200, width)]
            drawn = "".join(
                f'<g style="fill:{colour}">{_text("small", 0, top + 12 * n, line, "start", style="fill:inherit")}</g>'
                for n, (colour, line) in enumerate(colours, 1)
            )
        else:
            drawn = _text("title", 0, 12, elided(panel.title, most, tail=most // 2), "start") if panel.title else ""
            content = _Drawing(panel, looks, width, height, False).content()
            drawn += f'<g class="{panel.kind}" transform="translate(0 {top})">{content}</g>'
            drawn += "".join(_text("small", width / 2, top + height + 12 * n, line) for n, line in enumerate(text, 1))
        parts.append(_at_place(10 + number % across * (width + 10), 10 + number // across * row, drawn))
    for number, look in enumerate(named):
        key = _text("axis-label", 14, 4, look.name, "start")
        parts.append(_at_place(right + 14, 24 + 20 * number, _symbol(look) + key))
    parts += [_text("small", 10, bottom + 8 + 12 * number, line, "start") for number, line in enumerate(note)]
    size = f'width="{whole:g}" height="{bottom + 12 * len(note) + 8:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {whole:g} {bottom + 12 * len(note) + 8:g}" '
        f'color="#1C1F22"><style>{_STYLE}</style><rect {size} fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _symbol(look: Look) -> str:
    """The mark of a look, around 0, 0."""
    return f'<path class="mark" fill="{ink(look)}" d="{outline(look.mark)}"/>'


def _height(panel: Panel, width: int) -> int:
    heights = {"plane": width, "radar": width, "bars": 44 * len(panel.marks) + 56, "columns": 160}
    return heights.get(panel.kind, round(0.7 * width))


def _layout(panels: Sequence[Panel]) -> tuple[int, int, int]:
    """Panels in a row, and the width and the height of each."""
    first = panels[0]
    match first.kind:
        case "bars":
            return 1, 500, _height(first, 500)
        case "plane":
            return min(5, len(panels)), 210, 210
        case "radar":  # the three panels of a system in a row; of more than four systems, those of two
            return 3 if len(panels) <= 12 else 6, 250, 250
    if _slanted(first):
        return 1, 130 + 90 * len(first.x.ticks), 280
    return (1, 470, 400) if len(panels) == 1 else (2, 310, 290) if len(panels) < 5 else (4, 250, 250)


def _wrapped(text: str, most: int, width: float) -> list[str]:
    return textwrap.wrap(elided(text, most), int(width / 5.2)) if text else []


def _at_place(x: float, y: float, drawn: str) -> str:
    return f'<g transform="translate({x:g} {y:g})">{drawn}</g>'


class _Drawing:
    def __init__(self, panel: Panel, looks: Sequence[Look], width: int, height: int, focus: bool) -> None:
        self.panel, self.looks, self.focus = panel, looks, focus
        self.width, self.height = width, height
        x, y = panel.x, panel.y
        # The room for texts around what is drawn.
        sides: dict[str, tuple[float, ...]] = {"plane": (1, 1, 1, 1), "radar": (0, 0, 0, 0), "bars": (8, 12, 14, 42)}
        if panel.kind in sides:
            left, right, top, bottom = sides[panel.kind]
        else:
            left = 12 + _LETTER * max((len(_name(text)) for _, text in y.ticks), default=0) + 16 * bool(y.label)
            right = 44 if any(line.look is None and line.said for line in panel.lines) else 12
            top, bottom = 16, 24.0 + 18 * bool(x.label)
            if _slanted(panel):  # the first text reaches to the left of its place
                bottom += 2.6 * max(len(text) for _, text in x.ticks)
                left = max(left, 5.6 * len(x.ticks[0][1]) - 0.5 * (width - right - left) / len(x.ticks))
        self.left, self.right, self.top, self.bottom = left, width - right, top, height - bottom

    def content(self) -> str:
        panel = self.panel
        areas = [self._line(line) for line in panel.lines if line.kind == "area"]
        axes = self._rings() if panel.kind == "radar" else self._axes()
        lines = [self._line(line) for line in panel.lines if line.kind != "area"]
        draw = {"bars": self._bar, "columns": self._column}.get(panel.kind, self._mark)
        marks = [draw(mark) for mark in panel.marks]
        return "".join([*areas, *axes, *(marks + lines if panel.kind == "columns" else lines + marks)])

    def _at(self, x: float, y: float) -> Point:
        across, up = self.panel.x, self.panel.y
        if self.panel.kind != "radar":
            return _place(across, x, self.left, self.right), _place(up, y, self.bottom, self.top)
        angle, (low, high) = 2 * math.pi * x / len(across.ticks) - math.pi / 2, up.ends
        reach = 0.41 * self.width * (y - low) / (high - low)
        return round(self.width / 2 + reach * math.cos(angle), 1), round(self.width / 2 + reach * math.sin(angle), 1)

    def _axes(self) -> list[str]:
        x, y, left, right, top, bottom = self.panel.x, self.panel.y, self.left, self.right, self.top, self.bottom
        if self.panel.kind == "plane":
            return [f'<path class="axis" d="M{left} {top}V{bottom}H{right}V{top}Z"/>']
        parts = []
        slanted = _slanted(self.panel)
        room = _LETTER * max((len(text) for _, text in x.ticks), default=0) + 6
        every = 1 if slanted else max(1, math.ceil(room * len(x.ticks) / (right - left)))
        for value, text in x.ticks[::every]:
            place, half = _place(x, value, left, right), 3.1 * len(text)
            if self.panel.kind != "columns":
                parts.append(_stroke("grid", [(place, top), (place, bottom)]))
            parts.append(
                _text("tick", 0, 0, text, "end", f"translate({place + 4:g} {bottom + 16:g}) rotate(-25)")
                if slanted
                else _text("tick", min(max(place, half), self.width - half), bottom + 16, text)
            )
        for value, text in y.ticks:
            up = _place(y, value, bottom, top)
            parts.append(_stroke("grid", [(left, up), (right, up)]))
            parts.append(_text("tick side", left - 8, up + 4, _name(text), "end"))
        if y.label:
            turned = f"translate(12 {(top + bottom) / 2:g}) rotate(-90)"
            parts.append(_text("axis-label up", 0, 0, elided(y.label, int((bottom - top) / 5.6)), "middle", turned))
        if x.label:
            parts.append(_text("axis-label", (left + right) / 2, self.height - 6, x.label))
        side = f'<path class="axis" d="M{left:g} {top:g}V{bottom:g}H{right:g}"/>'
        return [*parts, side if y.label else _stroke("axis", [(left, bottom), (right, bottom)])]

    def _rings(self) -> list[str]:
        spokes, up = self.panel.x.ticks, self.panel.y
        parts = []
        for value, text in up.ticks:
            kind = "ring zero" if text == "0" else "ring"
            parts.append(f'<path class="{kind}" d="M{self._path([(spoke, value) for spoke, _ in spokes])}Z"/>')
            parts.append(_text("tick", *self._at(0.15, value), text, "start") if text else "")
        for spoke, text in spokes:
            x, y = self._at(spoke, up.ends[0] + 1.11 * (up.ends[1] - up.ends[0]))
            parts += [_stroke("ring", [self._at(spoke, end) for end in up.ends]), _text("tick", x, y + 4, text)]
        return parts

    def _path(self, points: Sequence[Point], join: str = "L", end: str = "") -> str:
        return join.join(f"{x:g} {y:g}{end}" for x, y in (self._at(*point) for point in points))

    def _line(self, line: Line) -> str:
        """A line, or an area in a pale colour; a guide is dashed, and says at its end what it is."""
        if line.look is None:
            x, y = self._at(*line.points[-1])
            text = _text("tick", x + 5, y - 4, line.said, "start") if line.said else ""
            kind = "fitted" if line.kind == "fitted" else "guide"
            return f'<path class="{kind}" d="M{self._path(line.points)}"/>{text}'
        path = self._path(line.points, "M", "h.01") if line.kind == "cloud" else self._path(line.points)
        colour = self._colour(line.look, "fill" if line.kind == "area" else "stroke")
        end = "Z" if line.kind in ("area", "closed") else ""
        kind = "line" if line.kind == "open" else line.kind
        return f'<path class="{kind} look-{line.look}"{colour} d="M{path}{end}"/>'

    def _colour(self, look: int, attribute: str = "fill") -> str:
        return f' {attribute}="{ink(self.looks[look])}"' if self.looks else ""

    def _seen(self, kind: str, mark: Mark) -> str:
        attributes = ' tabindex="0" role="img"' if self.focus and mark.said else ""
        members = f' data-captions="{" ".join(map(str, mark.captions))}"' if mark.captions else ""
        return f'class="{kind} look-{mark.look}"{self._colour(mark.look)}{attributes}{members}'

    def _column(self, mark: Mark) -> str:
        """A column; what can be pressed has a target of the full height, so that low columns can be hit."""
        low, high = mark.across or (mark.x, mark.x)
        (left, top), (right, _) = self._at(low, mark.y), self._at(high, 0)
        gap = min(2.0, (right - left) / 4)
        box = f'x="{left + gap / 2:.1f}" width="{right - left - gap:.1f}"'
        drawn = f'{box} y="{top:g}" height="{self.bottom - top:.1f}"'
        if not self.focus:
            return f"<rect {self._seen('bar', mark)} {drawn}>{_title(mark)}</rect>"
        ends = f'data-low="{low!r}" data-high="{high!r}" data-count="{mark.y:g}" aria-label="{escape(mark.said)}"'
        target = f'<rect class="target" {box} y="{self.top:g}" height="{self.bottom - self.top:g}"/>'
        return f'<g class="bar" {ends}>{_title(mark)}{target}<rect class="count" {drawn}/></g>'

    def _bar(self, mark: Mark) -> str:
        (left, y), (right, _) = self._at(0, mark.y), self._at(mark.x, mark.y)
        box = f'x="{left:g}" y="{y:g}" width="{right - left:.1f}" height="15"'
        name = _text("name", left + 2, y - 5, elided(mark.text, int(self.width / 7)), "start")
        ends = [(self._at(end, mark.y)[0], y + 7.5) for end in mark.across or ()]
        whisker = _stroke("reach", ends) if ends else ""
        whisker += "".join(_stroke("reach", [(x, y + 4), (x, y + 11)]) for x, _ in ends)
        return f"<rect {self._seen('bar', mark)} {box}>{_title(mark)}</rect>{name}{whisker}"

    def _mark(self, mark: Mark) -> str:
        """A mark, its intervals as a cross, and its text."""
        (x, y), look = self._at(mark.x, mark.y), mark.look
        crosses = [
            [self._at(end, mark.y) for end in mark.across or ()],
            [self._at(mark.x, end) for end in mark.up or ()],
        ]
        parts = [_stroke(f"reach look-{look}", ends, self._colour(look, "stroke")) for ends in crosses if ends]
        if mark.size:
            radius, seen = RADIUS * math.sqrt(mark.size), self._seen("mark", mark)
            shape = self.looks[look].mark if self.looks else "o"
            if shape == "o":
                parts.append(f'<circle {seen} cx="{x:g}" cy="{y:g}" r="{radius:.1f}">{_title(mark)}</circle>')
            else:
                place = f'd="{outline(shape, radius)}" transform="translate({x:g} {y:g})"'
                parts.append(f"<path {seen} {place}>{_title(mark)}</path>")
        if mark.text:
            at = (x + 7, y - 6, mark.text, "start") if self.looks else (x, y - RADIUS, mark.text, "middle")
            parts.append(_text("word", *at))
        return "".join(parts)


def _slanted(panel: Panel) -> bool:
    """Whether the texts below are names, which stand at an angle."""
    return panel.kind == "plot" and any(len(text) > 7 for _, text in panel.x.ticks)


def _name(text: str) -> str:
    """A text beside the vertical axis: systems of one team often differ in their last letters only."""
    return elided(text, 18, tail=9)


def _place(axis: PanelAxis, value: float, start: float, end: float) -> float:
    """Where a value lies between two coordinates; what is beyond an end lies there."""
    low, high = map(math.log, axis.ends) if axis.log else axis.ends
    share = ((math.log(value) if axis.log else value) - low) / (high - low or 1.0)
    return round(start + (end - start) * min(max(share, 0.0), 1.0), 1)


def _stroke(kind: str, ends: Sequence[Point], colour: str = "") -> str:
    start, end = ends
    return f'<line class="{kind}"{colour} x1="{start[0]:g}" x2="{end[0]:g}" y1="{start[1]:g}" y2="{end[1]:g}"/>'


def _text(kind: str, x: float, y: float, text: str, anchor: str = "middle", turned: str = "", style: str = "") -> str:
    place = f'transform="{turned}"' if turned else f'x="{round(x, 1):g}" y="{round(y, 1):g}"'
    style = f' style="{style}"' if style else ""
    return f'<text{style} class="{kind}" {place} text-anchor="{anchor}">{plain(text)}</text>'


def _title(mark: Mark) -> str:
    return f"<title>{plain(mark.said)}</title>" if mark.said else ""
