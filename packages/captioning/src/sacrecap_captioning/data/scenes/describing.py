"""Captions of scenes: a small grammar, and a style for each person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sacrecap_captioning.data.scenes.scene import COLOURS, GROUNDS, KINDS, SIZES, Scene, SceneShape, any_of

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
    said = [_thing(shape, detail, random) for shape in shapes]
    text = said[0]
    if len(said) == 1 and random.random() < 0.3 + 0.5 * detail:
        place = _PLACES[shapes[0].row][shapes[0].column]
        text += f" {_pick(_PLACE_PHRASES.get(place, _IN), random).format(place)}"
    if len(said) >= 2:
        related = random.random() < 0.3 + 0.4 * detail
        link = _pick(_RELATIONS[_relation(shapes[0], shapes[1])], random) if related else _pick(_JOINS, random)
        text += f" {link} {said[1]}"
    if len(said) == 3:
        text += f" and {said[2]}"
    if random.random() < 0.4 * detail:
        text += f" {_pick(_GROUND_PHRASES, random).format(_pick(GROUNDS[scene.ground][1], random))}"
    return _pick(_OPENINGS, random, first=0.6) + text


def _thing(shape: SceneShape, detail: float, random: np.random.Generator) -> str:
    """A shape with an article and some of its attributes."""
    words = [_pick(KINDS[shape.kind], random)]
    if random.random() < 0.92:
        words.insert(0, _pick(COLOURS[shape.colour][1], random, first=0.75))
    if random.random() < 0.15 + 0.45 * detail:
        words.insert(0, _pick(SIZES[shape.size][1], random, first=0.5))
    if random.random() < 0.06:
        words.insert(0, any_of(_EXTRAS, random))
    return f"{'an' if words[0][0] in 'aeiou' else 'a'} {' '.join(words)}"


def _relation(a: SceneShape, b: SceneShape) -> str:
    """The position of a relative to b."""
    across, down = a.x - b.x, a.y - b.y
    if abs(across) >= abs(down):
        return "left" if across < 0 else "right"
    return "above" if down < 0 else "below"


def _pick(words: Sequence[str], random: np.random.Generator, first: float = 0.6) -> str:
    """The commonest word, or one of the others, the earlier the likelier."""
    if len(words) == 1 or random.random() < first:
        return words[0]
    shares = _SHARES[len(words) - 1]
    return words[1 + int(np.searchsorted(shares, random.random()))]


_SHARES = [np.cumsum(1 / np.arange(1, n + 1)) / np.sum(1 / np.arange(1, n + 1)) for n in range(len(_OPENINGS))]
"""Cumulative shares of the choices among n words; the i-th word has weight 1 / i."""
