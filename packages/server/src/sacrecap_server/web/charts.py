"""Charts as SVG inside a page: bars, and estimates with intervals. Colours and text come from `study.css`.

They are 400 units wide and scale down to a phone. Whoever does not see them gets the text of `label`; pages have the
numbers as text besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from sacrecap_server.web.pictures import Scale

WIDTH = 400
_ROW = 26
_MOST_NAME = 17


@dataclass(frozen=True)
class EstimateRow:
    """A value on the scale, with its interval where there is one."""

    name: str
    value: float
    interval: Sequence[float] | None = None


@dataclass(frozen=True)
class Band:
    """A part of the scale with a judgment, which its colour and its word tell."""

    begin: float
    end: float
    word: str
    kind: str
    """good, fair or bad: the class of the colour."""


@dataclass(frozen=True)
class CountBar:
    """A count, and what stands below it; marked bars have another colour and a pattern of their own."""

    label: str
    count: int
    marked: bool = False


def estimates(
    rows: Sequence[EstimateRow],
    label: str,
    *,
    low: float = 0.0,
    high: float = 1.0,
    bands: Sequence[Band] = (),
    dots: Sequence[float] = (),
    line: float | None = None,
) -> Markup:
    """A row per estimate on one scale.

    Args:
        rows: from top to bottom.
        label: what the picture says, in words.
        low: left end of the scale.
        high: right end.
        bands: judgments of parts of the scale, written above them.
        dots: further values, as small dots in a row of their own at the bottom.
        line: a value to compare with, as a dashed line.
    """
    left = 12 if all(not row.name for row in rows) else 128
    top = 20 if bands else 6
    height = top + _ROW * len(rows) + (16 if dots else 0)

    scale = Scale(low, high)

    def x(value: float) -> float:
        return round(scale.at(min(max(value, low), high), left, WIDTH - 16), 1)

    parts = []
    for band in bands:
        begin, end = x(band.begin), x(band.end)
        parts.append(
            f'<rect class="band {band.kind}" x="{begin}" y="{top}" width="{round(end - begin, 1)}" '
            f'height="{height - top}"/>'
        )
        if end - begin > 5 * len(band.word):
            middle = round((begin + end) / 2, 1)
            parts.append(f'<text class="word" x="{middle}" y="{top - 6}">{escape(band.word)}</text>')
    if line is not None:
        parts.append(f'<line class="aim" x1="{x(line)}" x2="{x(line)}" y1="{top}" y2="{height}"/>')
    for number, row in enumerate(rows):
        y = top + _ROW * number + _ROW / 2
        if row.name:
            parts.append(f'<text class="name" x="{left - 8}" y="{y + 4}">{escape(_short(row.name))}</text>')
        if row.interval is not None:
            parts.append(f'<line class="reach" x1="{x(row.interval[0])}" x2="{x(row.interval[1])}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle class="dot" cx="{x(row.value)}" cy="{y}" r="5"/>')
    parts += [f'<circle class="small" cx="{x(value)}" cy="{height - 9}" r="3"/>' for value in dots]
    parts.append(f'<line class="axis" x1="{x(low)}" x2="{x(high)}" y1="{height}" y2="{height}"/>')
    parts += [f'<text class="tick" x="{x(tick)}" y="{height + 16}">{tick:g}</text>' for tick in scale.ticks()]
    return _picture(parts, height + 22, label)


def bars(values: Sequence[CountBar], label: str) -> Markup:
    """Vertical bars from nothing up, with the largest count at the side and as many labels as there is room for."""
    height, top, left = 120, 14, 34
    most = max((bar.count for bar in values), default=0) or 1
    step = (WIDTH - left - 4) / max(len(values), 1)
    room = max(max((len(bar.label) for bar in values), default=1) * 6 + 8, step)
    every = -(-room // step) if values else 1
    parts = [
        f'<text class="side" x="{left - 6}" y="{top + 4}">{most:,}</text>',
        f'<text class="side" x="{left - 6}" y="{height + 4}">0</text>',
        f'<line class="grid" x1="{left}" x2="{WIDTH - 4}" y1="{top}" y2="{top}"/>',
    ]
    for number, bar in enumerate(values):
        x, tall = left + number * step, (height - top) * bar.count / most
        kind = "bar marked" if bar.marked else "bar"
        gap = min(2.0, step / 4)
        parts.append(
            f'<rect class="{kind}" x="{x + gap / 2:.1f}" y="{height - tall:.1f}" width="{step - gap:.1f}" '
            f'height="{tall:.1f}"/>'
        )
        if number % every == 0:
            parts.append(f'<text class="tick" x="{x + step / 2:.1f}" y="{height + 16}">{escape(bar.label)}</text>')
    parts.append(f'<line class="axis" x1="{left}" x2="{WIDTH - 4}" y1="{height}" y2="{height}"/>')
    return _picture(parts, height + 22, label)


def _short(name: str) -> str:
    return name if len(name) <= _MOST_NAME else name[: _MOST_NAME - 1] + "…"


def _picture(parts: Sequence[str], height: float, label: str) -> Markup:
    inside = "".join(parts)
    return Markup(  # noqa: S704  (all text in the parts is escaped)
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label)}">{inside}</svg>'
    )
