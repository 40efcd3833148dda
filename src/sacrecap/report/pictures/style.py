"""The look of pictures: one colour and one mark for each system everywhere, and plain text."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B")
"""Colours of systems: those of Okabe and Ito, which colour-blind people can distinguish, with brown for yellow."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "h")
"""Marks of systems; with this number of marks, each pair of colour and mark occurs once in 56 systems."""

RADIUS = 5.5
"""Of a mark of size 1."""


class Look(NamedTuple):
    """The name of a system (or of what else has a colour) as written in pictures, its colour and its mark.

    Pages draw people in the ink of the page.
    """

    name: str
    people: bool
    colour: str
    mark: str


def look(number: int, name: str, *, people: bool, mark: int | None = None) -> Look:
    """The look of the system with this index; its mark may have another index."""
    if people:
        return Look("people", True, "#1C1F22", "*")
    marked = MARKS[(number if mark is None else mark) % len(MARKS)]
    return Look(elided(name, 44), False, COLOURS[number % len(COLOURS)], marked)


def ink(look: Look) -> str:
    """Its colour; people are drawn in the ink of the page, which differs in light and dark."""
    return "currentColor" if look.people else look.colour


def outline(mark: str, radius: float = RADIUS) -> str:
    """The outline of a mark around 0, 0 as SVG writes paths, about as wide as a circle of this radius."""
    if mark == "o":
        return f"M{radius:g} 0A{radius:g} {radius:g} 0 1 1 {-radius:g} 0A{radius:g} {radius:g} 0 1 1 {radius:g} 0Z"
    if mark == "*":
        return _polygon([(number / 5 - 0.5, radius * (0.52 if number % 2 else 1.35)) for number in range(10)])
    if mark in ("P", "X"):
        near, far = 0.4 * radius, 1.15 * radius
        tilt, long, short = math.atan2(near, far) / math.pi, math.hypot(near, far), math.hypot(near, near)
        arm = ((-tilt, long), (tilt, long), (0.25, short))
        turn = 0.25 if mark == "X" else 0.0
        return _polygon([(side / 2 + turn + angle, reach) for side in range(4) for angle, reach in arm])
    # Polygons: how many corners, and by how many half turns they are turned.
    corners, turn = {"s": (4, 0.25), "^": (3, 0.0), "D": (4, 0.0), "v": (3, 1.0), "h": (6, 0.0)}[mark]
    return _polygon([(turn - 0.5 + 2 * number / corners, 1.2 * radius) for number in range(corners)])


def _polygon(corners: list[tuple[float, float]]) -> str:
    places = ((reach * math.cos(math.pi * angle), reach * math.sin(math.pi * angle)) for angle, reach in corners)
    return f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in places)}Z"


def shown_name(row: Mapping[str, Any]) -> str:
    """The name in pictures of a row's system."""
    return "people" if row["kind"] == "people" else str(row["system"])


def elided(text: str, most: int, *, tail: int = 0) -> str:
    """The text on one line of limited length: blanks for control characters, … for the part that is left out, which is
    before the last `tail` characters.
    """
    line = " ".join("".join(" " if unicodedata.category(sign)[0] == "C" else sign for sign in text).split())
    return line if len(line) <= most else line[: most - tail - 1].rstrip() + "…" + line[len(line) - tail :]
