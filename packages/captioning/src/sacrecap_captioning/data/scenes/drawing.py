"""A scene as an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sacrecap.errors import MissingDependencyError
from sacrecap_captioning.data.scenes.scene import COLOURS, GROUNDS, SIZES, Scene

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 64
"""Pixels of an image's side."""


def draw(scene: Scene) -> Image:
    """The scene in `SIDE` × `SIDE` pixels, RGB."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise MissingDependencyError("drawing scenes", extra="train") from None
    fine = 4  # drawn larger and made smaller, which smooths the edges
    image = Image.new("RGB", (SIDE * fine, SIDE * fine), GROUNDS[scene.ground][0])
    pen = ImageDraw.Draw(image)
    for shape in scene.shapes:
        colour, half = COLOURS[shape.colour][0], SIZES[shape.size][0]
        if shape.kind == "ring":
            box = [fine * v for v in (shape.x - half, shape.y - half, shape.x + half, shape.y + half)]
            pen.ellipse(box, outline=colour, width=fine * max(2, half // 3))
        else:
            outline = [(fine * (shape.x + half * x), fine * (shape.y + half * y)) for x, y in _OUTLINES[shape.kind]]
            pen.polygon(outline, fill=colour)
    return image.resize((SIDE, SIDE), Image.Resampling.BOX)


def _round(points: int, radii: Sequence[float]) -> list[tuple[float, float]]:
    """Corners of a regular outline, whose radii alternate."""
    angles = np.arange(points) * 2 * np.pi / points - np.pi / 2
    radius = np.resize(np.asarray(radii, float), points)
    return list(zip((np.cos(angles) * radius).tolist(), (np.sin(angles) * radius).tolist(), strict=True))


_OUTLINES: dict[str, list[tuple[float, float]]] = {
    "circle": _round(48, [1]),
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "triangle": [(0, -1), (1, 0.9), (-1, 0.9)],
    "star": _round(10, [1.1, 0.42]),
    "cross": [
        (-0.3, -1),
        (0.3, -1),
        (0.3, -0.3),
        (1, -0.3),
        (1, 0.3),
        (0.3, 0.3),
        (0.3, 1),
        (-0.3, 1),
        (-0.3, 0.3),
        (-1, 0.3),
        (-1, -0.3),
        (-0.3, -0.3),
    ],
    "bar": [(-1.1, -0.35), (1.1, -0.35), (1.1, 0.35), (-1.1, 0.35)],
}
