"""A made-up data set drawn by code: scenes of coloured shapes, with captions as varied as people's.

A scene is one to three shapes on a plain ground. A shape has a kind, a colour, a size and a place, so that a caption
can be right or wrong about each. The describer of a caption has an individual style: which word of several (most say
*circle*, some *disc*), how much detail, which shape first, whether to say where. Scene and captions of number i depend
only on the seed and i: a larger set begins with the smaller one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sacrecap.data import atomic_write
from sacrecap.errors import UsageError, of_extra
from sacrecap_captioning.settings import PathLike, make_folder, silent

if TYPE_CHECKING:
    from PIL.Image import Image

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
    cells: list[int] = []
    # Until no two of these cells of a 3 × 3 grid touch.
    while not cells or any(abs(a // 3 - b // 3) < 2 and abs(a % 3 - b % 3) < 2 for a, b in combinations(cells, 2)):
        cells = random.choice(9, count, replace=False).tolist()
    shapes = []
    for kind, cell in zip(random.choice(list(KINDS), count, replace=False).tolist(), cells, strict=True):
        row, column = divmod(cell, 3)
        x, y = (13 + 19 * place + int(random.integers(-1, 2)) for place in (column, row))
        size = any_of(SIZES, random)
        shapes.append(SceneShape(kind, any_of(COLOURS, random), size, row, column, x, y))
    shapes.sort(key=lambda shape: shape.size)  # "large" stands before "small"
    return Scene(tuple(shapes), any_of(GROUNDS, random))


def any_of(words: Iterable[str], random: np.random.Generator) -> str:
    """One of the words, each as likely."""
    choices = list(words)
    return choices[int(random.integers(len(choices)))]


SIDE = 64
"""Pixels of an image's side."""


def draw(scene: Scene) -> Image:
    """The scene in `SIDE` × `SIDE` pixels, RGB."""
    with of_extra("train", "drawing scenes"):
        from PIL import Image, ImageDraw
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
    "cross": [  # three corners of an arm, turned
        ((x, y), (-y, x), (-x, -y), (y, -x))[turn] for turn in range(4) for x, y in ((-0.3, -1), (0.3, -1), (0.3, -0.3))
    ],
    "bar": [(-1.1, -0.35), (1.1, -0.35), (1.1, 0.35), (-1.1, 0.35)],
}


_RELATIONS: dict[str, tuple[str, ...]] = {
    "left": ("left of", "to the left of", "next to", "beside"),
    "right": ("right of", "to the right of", "next to", "beside"),
    "above": ("above", "over", "on top of", "higher than"),
    "below": ("below", "under", "beneath", "lower than"),
}
_PLACES = (
    ("top left corner", "top", "top right corner"),
    ("left", "middle", "right"),
    ("bottom left corner", "bottom", "bottom right corner"),
)
_PLACE_PHRASES = {
    "left": ("on the {}", "at the {} edge"),
    "right": ("on the {}", "at the {} edge"),
    "top": ("at the {}", "near the {}"),
    "bottom": ("at the {}", "near the {}"),
}
_IN = ("in the {}", "at the {}", "near the {}", "towards the {}")
"""For the middle and the corners."""
_OPENINGS = ("", "there is ", "a picture of ", "an image with ", "i see ", "we can see ", "a drawing of ", "here is ")
_GROUND_PHRASES = ("on a {} background", "on {}", "in front of a {} background", "against a {} wall")
_JOINS = ("and", "with", "along with", "as well as")
_EXTRAS = ("bright", "simple", "neat", "solid", "nice", "lone", "plain", "flat")


def describe(scene: Scene, random: np.random.Generator) -> str:
    """One person's caption of the scene."""
    detail = random.random()  # of the person: from terse to thorough
    shapes = list(scene.shapes)
    if random.random() < 0.3:
        random.shuffle(shapes)
    shapes = shapes[: 1 if detail < 0.15 else 2 if detail < 0.75 else 3]
    phrases = []
    for shape in shapes:  # with an article and some of its attributes
        words = [_pick(KINDS[shape.kind], random)]
        if random.random() < 0.92:
            words.insert(0, _pick(COLOURS[shape.colour][1], random, first=0.75))
        if random.random() < 0.15 + 0.45 * detail:
            words.insert(0, _pick(SIZES[shape.size][1], random, first=0.5))
        if random.random() < 0.06:
            words.insert(0, any_of(_EXTRAS, random))
        phrases.append(f"{'an' if words[0][0] in 'aeiou' else 'a'} {' '.join(words)}")
    text = phrases[0]
    if len(phrases) == 1 and random.random() < 0.3 + 0.5 * detail:
        place = _PLACES[shapes[0].row][shapes[0].column]
        text += f" {_pick(_PLACE_PHRASES.get(place, _IN), random).format(place)}"
    if len(phrases) >= 2:
        related = random.random() < 0.3 + 0.4 * detail
        across, down = shapes[0].x - shapes[1].x, shapes[0].y - shapes[1].y
        along, before, behind = (across, "left", "right") if abs(across) >= abs(down) else (down, "above", "below")
        link = _pick(_RELATIONS[before if along < 0 else behind] if related else _JOINS, random)
        text += f" {link} {phrases[1]}"
    if len(phrases) == 3:
        text += f" and {phrases[2]}"
    if random.random() < 0.4 * detail:
        text += f" {_pick(_GROUND_PHRASES, random).format(_pick(GROUNDS[scene.ground][1], random))}"
    return _pick(_OPENINGS, random, first=0.6) + text


def _pick(words: Sequence[str], random: np.random.Generator, first: float = 0.6) -> str:
    """The commonest word, or one of the others, the earlier the likelier."""
    if len(words) == 1 or random.random() < first:
        return words[0]
    shares = _SHARES[len(words) - 1]
    return words[1 + int(np.searchsorted(shares, random.random()))]


_SHARES = [np.cumsum(1 / np.arange(1, n + 1)) / np.sum(1 / np.arange(1, n + 1)) for n in range(len(_OPENINGS))]
"""Cumulative shares of the choices among n words; the i-th word has weight 1 / i."""


DATASET = "dataset.json"
"""The Karpathy file of the folder."""


@dataclass(frozen=True)
class Described:
    """A scene of the data set with its captions."""

    name: str
    """File name of the image, which is the image id."""
    split: str
    scene: Scene
    captions: tuple[str, ...]


def make_scenes(images: int, *, seed: int = 0, captions: int = 5, shapes: int = MOST_SHAPES) -> list[Described]:
    """Scenes with captions; of ten images eight are for training, one for validation, one for testing.

    `captions` are per image, and `shapes` the most of a scene: captioners learn scenes of one shape fastest.

    Raises:
        UsageError: fewer than 10 images, whose splits would be empty; no caption per image; no shape per scene, or more
            than `MOST_SHAPES`.
    """
    if images < 10 or captions < 1:
        raise UsageError(f"scenes need 10 images and 1 caption per image at least, got {images} and {captions}")
    if not 1 <= shapes <= MOST_SHAPES:
        raise UsageError(f"the most shapes of a scene are 1 to {MOST_SHAPES}, got {shapes}")
    described = []
    for number in range(images):
        random = np.random.default_rng([seed, number])
        scene = any_scene(random, shapes)
        split = {8: "val", 9: "test"}.get(number % 10, "train")
        texts = tuple(describe(scene, random) for _ in range(captions))
        described.append(Described(f"scene_{number:06}.png", split, scene, texts))
    return described


def write_scenes(
    folder: PathLike,
    images: int,
    *,
    seed: int = 0,
    captions: int = 5,
    shapes: int = MOST_SHAPES,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Draws the scenes of `make_scenes` into a folder, which is made, or whose scenes are replaced.

    They are `images/NAME.png`, and `dataset.json` as Karpathy's splits are, written last. `progress` is called with the
    number of finished images.

    Raises:
        UsageError: see `make_scenes`.
        DataError: the folder cannot be written in.
        MissingDependencyError: Pillow is not installed.
    """
    described = make_scenes(images, seed=seed, captions=captions, shapes=shapes)
    place = Path(folder)
    make_folder(place)
    make_folder(place / "images")
    (place / DATASET).unlink(missing_ok=True)  # of another set, whose images are now replaced
    for finished, scene in enumerate(described, 1):
        with atomic_write(place / "images" / scene.name, "wb") as file:
            draw(scene.scene).save(file, "PNG")
        (progress or silent)(finished)
    with atomic_write(place / DATASET) as file:
        json.dump(_karpathy(described), file)


def _karpathy(described: Sequence[Described]) -> dict[str, object]:
    """The content of `dataset.json`; `objects` is ours: the kinds of shapes of an image."""
    return {
        "dataset": "scenes",
        "images": [
            {
                "filename": scene.name,
                "imgid": number,
                "split": scene.split,
                "objects": [shape.kind for shape in scene.scene.shapes],
                "sentences": [{"raw": text, "tokens": text.split(), "imgid": number} for text in scene.captions],
            }
            for number, scene in enumerate(described)
        ],
    }
