"""A made-up data set drawn by code: scenes of coloured shapes, with captions as varied as people's.

A scene is one to three shapes on a plain ground. A shape has a kind, a colour, a size and a place, so that a caption
can be right or wrong about each. The describer of a caption has an individual style: which word of several (most say
*circle*, some *disc*), how much detail, which shape first, whether to say where. Scene and captions of number i depend
only on the seed and i: a larger set begins with the smaller one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import PathLike
from sacrecap.errors import UsageError
from sacrecap_captioning.data.scene import MOST_SHAPES, Scene, any_scene, describe, draw
from sacrecap_captioning.folders import make_folder

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

    Raises:
        UsageError: fewer than 10 images, whose splits would be empty; no caption per image; no shape per scene, or more
            than `MOST_SHAPES`.
    """
    if images < 10 or captions < 1:
        raise UsageError(f"scenes need 10 images and 1 caption per image at least, got {images} and {captions}")
    if not 1 <= shapes <= MOST_SHAPES:
        raise UsageError(f"the most shapes of a scene are 1 to {MOST_SHAPES}, got {shapes}")
    return [_described(number, seed, captions, shapes) for number in range(images)]


def write_scenes(
    folder: PathLike,
    images: int,
    *,
    seed: int = 0,
    captions: int = 5,
    shapes: int = MOST_SHAPES,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Draws scenes into a folder: `images/NAME.png`, and `dataset.json` as Karpathy's splits are, written last.

    Args:
        folder: created if it does not exist; existing scenes are replaced.
        images: number of images.
        seed: seed of everything random.
        captions: number of captions per image.
        shapes: most shapes per scene; captioners learn scenes of one shape fastest.
        progress: called with the number of finished images.

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
    for done, one in enumerate(described, 1):
        with atomic_write(place / "images" / one.name, "wb") as file:
            draw(one.scene).save(file, "PNG")
        if progress is not None:
            progress(done)
    with atomic_write(place / DATASET) as file:
        json.dump(_karpathy(described), file)


def _described(number: int, seed: int, captions: int, shapes: int) -> Described:
    random = np.random.default_rng([seed, number])
    scene = any_scene(random, shapes)
    split = {8: "val", 9: "test"}.get(number % 10, "train")
    texts = tuple(describe(scene, random) for _ in range(captions))
    return Described(f"scene_{number:06}.png", split, scene, texts)


def _karpathy(described: Sequence[Described]) -> dict[str, object]:
    """The content of `dataset.json`; `objects` is ours: the kinds of shapes of an image."""
    return {
        "dataset": "scenes",
        "images": [
            {
                "filename": one.name,
                "imgid": number,
                "split": one.split,
                "objects": [shape.kind for shape in one.scene.shapes],
                "sentences": [{"raw": text, "tokens": text.split(), "imgid": number} for text in one.captions],
            }
            for number, one in enumerate(described)
        ],
    }
