"""The look of pictures: one colour and one mark for each system everywhere, and plain text."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, TypedDict

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B")
"""Colours of systems: those of Okabe and Ito, which colour-blind people can distinguish, with brown for yellow."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "h")
"""Marks of systems; with this number of marks, each pair of colour and mark occurs once in 56 systems."""
PEOPLE = ("#1C1F22", "*")
_LONGEST_NAME = 44

RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5A6269",
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E6E8E9",
    "grid.linewidth": 0.7,
    "xtick.color": "#5A6269",
    "ytick.color": "#5A6269",
    "xtick.labelcolor": "#1C1F22",
    "ytick.labelcolor": "#1C1F22",
    "text.color": "#1C1F22",
    "axes.labelcolor": "#1C1F22",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "savefig.dpi": 200,
    "svg.hashsalt": "sacrecap",
    # Names and captions come from anywhere: a dollar sign in them must not start a formula.
    "text.parse_math": False,
    "text.usetex": False,
}


class Look(TypedDict):
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
        return {"name": "people", "people": True, "colour": PEOPLE[0], "mark": PEOPLE[1]}
    marked = MARKS[(number if mark is None else mark) % len(MARKS)]
    colour = COLOURS[number % len(COLOURS)]
    return {"name": elided(name, _LONGEST_NAME), "people": False, "colour": colour, "mark": marked}


def shown_name(row: Mapping[str, Any]) -> str:
    """The name in pictures of a row's system."""
    return "people" if row["kind"] == "people" else str(row["system"])


def elided(text: str, most: int, *, tail: int = 0) -> str:
    """The text on one line of limited length: blanks for control characters, … for the part that is left out, which is
    before the last `tail` characters.
    """
    line = " ".join("".join(" " if unicodedata.category(sign)[0] == "C" else sign for sign in text).split())
    return line if len(line) <= most else line[: most - tail - 1].rstrip() + "…" + line[len(line) - tail :]
