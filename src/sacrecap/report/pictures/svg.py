"""A panel as SVG without a script and without a style: the page's sheet gives the colours of both schemes.

Classes say what is drawn: `grid`, `axis` and `tick`; `line`, `guide` and `area`; `reach`, the interval of a `mark`;
`bar` and `word`. What has a look has the class `look-0`, `look-1` … besides.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from sacrecap.report.pictures.style import elided

if TYPE_CHECKING:
    from sacrecap.report.pictures.panels import Line, Mark, Panel, PanelAxis, Point

_LONGEST = 18
"""Letters of a text beside the vertical axis."""
_LETTER = 7.0
"""Width of a letter, as pages draw it on a phone."""
_RIGHT, _BELOW, _ABOVE = 12, 24, 16
_RADIUS = 5.0


def svg(panel: Panel, label: str, *, width: int = 400, height: int = 160) -> str:
    """A plot, or columns; it scales to the width that it gets.

    Args:
        panel: what is drawn.
        label: what the picture says, for those who do not see it.
        width: of the picture in its own units, in which a letter has about 6.
        height: the same.
    """
    return _Drawing(panel, width, height).svg(label)


class _Drawing:
    def __init__(self, panel: Panel, width: int, height: int) -> None:
        longest = max((len(_name(text)) for _, text in panel["y"]["ticks"]), default=0)
        self.panel, self.width, self.height = panel, width, height
        self.left, self.right = 12 + _LETTER * longest, width - _RIGHT
        self.top, self.bottom = _ABOVE, height - _BELOW

    def svg(self, label: str) -> str:
        parts = [*map(self._area, self.panel["lines"]), *self._axes(), *map(self._line, self.panel["lines"])]
        parts += map(self._bar if self.panel["kind"] == "columns" else self._mark, self.panel["marks"])
        return (
            f'<svg class="chart" viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(label)}">'
            f"{''.join(parts)}</svg>"
        )

    def _x(self, value: float) -> float:
        return _at(self.panel["x"], value, self.left, self.right)

    def _y(self, value: float) -> float:
        return _at(self.panel["y"], value, self.bottom, self.top)

    def _axes(self) -> list[str]:
        parts = []
        for value, text in self.panel["y"]["ticks"]:
            parts.append(_stroke("grid", (self.left, self._y(value)), (self.right, self._y(value))))
            parts.append(_text("tick side", self.left - 8, self._y(value) + 4, _name(text)))
        ticks = self.panel["x"]["ticks"]
        room = _LETTER * max((len(text) for _, text in ticks), default=0) + 6
        every = max(1, math.ceil(room * len(ticks) / (self.right - self.left)))
        for value, text in ticks[::every]:
            half = _LETTER * len(text) / 2
            parts.append(_text("tick", min(max(self._x(value), half), self.width - half), self.height - 8, text))
        return [*parts, _stroke("axis", (self.left, self.bottom), (self.right, self.bottom))]

    def _path(self, points: list[Point]) -> str:
        return "L".join(f"{self._x(x):g} {self._y(y):g}" for x, y in points)

    def _area(self, line: Line) -> str:
        if line["kind"] != "area":
            return ""
        return f'<path class="area look-{line["look"]}" d="M{self._path(line["points"])}Z"/>'

    def _line(self, line: Line) -> str:
        if line["kind"] == "area":
            return ""
        kind = "guide" if line["look"] is None else f"line look-{line['look']}"
        return f'<path class="{kind}" d="M{self._path(line["points"])}"/>'

    def _bar(self, mark: Mark) -> str:
        low, high = mark["across"] or (mark["x"], mark["x"])
        left, right, top = self._x(low), self._x(high), self._y(mark["y"])
        gap = min(2.0, (right - left) / 4)
        return (
            f'<rect class="bar look-{mark["look"]}" x="{left + gap / 2:.1f}" y="{top:g}" '
            f'width="{right - left - gap:.1f}" height="{self.bottom - top:.1f}">{_title(mark)}</rect>'
        )

    def _mark(self, mark: Mark) -> str:
        x, y, reach = self._x(mark["x"]), self._y(mark["y"]), f"reach look-{mark['look']}"
        across, up, parts = mark["across"], mark["up"], []
        if across is not None:
            parts.append(_stroke(reach, (self._x(across[0]), y), (self._x(across[1]), y)))
        if up is not None:
            parts.append(_stroke(reach, (x, self._y(up[0])), (x, self._y(up[1]))))
        if mark["size"]:
            radius = _RADIUS * math.sqrt(mark["size"])
            circle = f'<circle class="mark look-{mark["look"]}" cx="{x:g}" cy="{y:g}" r="{radius:.1f}">'
            parts.append(f"{circle}{_title(mark)}</circle>")
        if mark["text"]:
            parts.append(_text("word", x, y - _RADIUS, mark["text"]))
        return "".join(parts)


def _name(text: str) -> str:
    """A text beside the vertical axis: systems of one team often differ in their last letters only."""
    return elided(text, _LONGEST, tail=_LONGEST // 2)


def _at(axis: PanelAxis, value: float, start: float, end: float) -> float:
    """Where a value lies between two coordinates; what is beyond an end lies there."""
    low, high = axis["ends"]
    return round(start + (end - start) * min(max((value - low) / (high - low), 0.0), 1.0), 1)


def _stroke(kind: str, start: Point, end: Point) -> str:
    return f'<line class="{kind}" x1="{start[0]:g}" x2="{end[0]:g}" y1="{start[1]:g}" y2="{end[1]:g}"/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _title(mark: Mark) -> str:
    return f"<title>{escape(mark['said'])}</title>" if mark["said"] else ""
