"""The parts of a scene, and random scenes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np

MOST_SHAPES = 3
"""Of a scene."""

Colour = tuple[int, int, int]

KINDS: dict[str, tuple[str, ...]] = {
    "circle": ("circle", "disc", "ball", "dot"),
    "square": ("square", "box", "block"),
    "triangle": ("triangle", "wedge", "pyramid"),
    "star": ("star", "starlet"),
    "cross": ("cross", "plus", "plus sign"),
    "ring": ("ring", "hoop", "loop"),
    "bar": ("bar", "stripe", "line"),
}
"""Kinds of shapes, and what people call them, the commonest first."""
COLOURS: dict[str, tuple[Colour, tuple[str, ...]]] = {
    "red": ((214, 39, 40), ("red", "crimson", "scarlet")),
    "green": ((44, 150, 60), ("green", "emerald")),
    "blue": ((31, 90, 214), ("blue", "azure", "navy")),
    "yellow": ((240, 208, 30), ("yellow", "golden", "lemon")),
    "purple": ((140, 70, 180), ("purple", "violet", "lilac")),
    "orange": ((245, 130, 20), ("orange", "tangerine")),
    "pink": ((245, 130, 190), ("pink", "rose")),
    "brown": ((130, 80, 45), ("brown", "chestnut")),
}
"""Colours of shapes, and what people call them, the commonest first."""
GROUNDS: dict[str, tuple[Colour, tuple[str, ...]]] = {
    "white": ((250, 250, 250), ("white", "blank", "plain white")),
    "black": ((20, 20, 20), ("black", "dark")),
    "grey": ((150, 150, 150), ("grey", "dull grey")),
}
SIZES: dict[str, tuple[int, tuple[str, ...]]] = {
    "small": (8, ("small", "little", "tiny")),
    "large": (12, ("large", "big", "huge")),
}
"""Half a shape's extent in pixels, and what people call it."""


class SceneShape(NamedTuple):
    """One thing of a scene."""

    kind: str
    colour: str
    size: str
    row: int
    """0 (top), 1, 2."""
    column: int
    """0 (left), 1, 2."""
    x: int
    y: int
    """Centre in pixels."""


class Scene(NamedTuple):
    """The scene as it is drawn and described."""

    shapes: tuple[SceneShape, ...]
    """One to three, the largest first, none in another's way."""
    ground: str


def any_scene(random: np.random.Generator, most: int) -> Scene:
    """A scene of at most so many shapes."""
    count = min(int(random.choice([1, 2, MOST_SHAPES], p=[0.3, 0.5, 0.2])), most)
    cells = _cells(count, random)
    shapes = []
    for kind, cell in zip(random.choice(list(KINDS), count, replace=False).tolist(), cells, strict=True):
        row, column = divmod(cell, 3)
        x, y = (13 + 19 * place + int(random.integers(-1, 2)) for place in (column, row))
        size = any_of(SIZES, random)
        shapes.append(SceneShape(kind, any_of(COLOURS, random), size, row, column, x, y))
    shapes.sort(key=lambda shape: shape.size)  # "large" stands before "small"
    return Scene(tuple(shapes), any_of(GROUNDS, random))


def _cells(count: int, random: np.random.Generator) -> list[int]:
    """Cells of the 3 × 3 grid, of which no two touch."""
    while True:
        cells = [int(cell) for cell in random.choice(9, count, replace=False)]
        if all(abs(a // 3 - b // 3) == 2 or abs(a % 3 - b % 3) == 2 for a, b in combinations(cells, 2)):
            return cells


def any_of(words: Iterable[str], random: np.random.Generator) -> str:
    """One of the words, each as likely."""
    choices = list(words)
    return choices[int(random.integers(len(choices)))]
