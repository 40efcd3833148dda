"""The detector that sacrecap brings: recorded outputs of the original runtime, slow convolutions, feed and boxes."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from sacrecap.vision import NANODET, load_detector
from sacrecap.vision.nanodet import Layers, best, candidates, convolved, installed_file, pooled, resized

Array = npt.NDArray[np.float32]
RECORDED = Path(__file__).parents[1] / "goldens/nanodet.npz"


def waves() -> npt.NDArray[np.uint8]:
    """Colours that change at three paces: whole numbers alone, so that every machine has the same."""
    y, x = np.mgrid[:416, :416]
    return np.stack([(x * x + 3 * y) // 64 % 256, (5 * x + y * y) // 32 % 256, (x * y) // 16 % 256], -1).astype(
        np.uint8
    )


def blocks() -> npt.NDArray[np.uint8]:
    """Rectangles on each other."""
    pixels = np.full((416, 416, 3), 200, np.uint8)
    for number in range(40):
        top, left = number * 97 % 360, number * 61 % 350
        height, width = 20 + number * 13 % 90, 15 + number * 29 % 120
        pixels[top : top + height, left : left + width] = [number * 53 % 256, number * 101 % 256, number * 7 % 256]
    return pixels


def figure() -> npt.NDArray[np.uint8]:
    """Something like a person on a lawn: a head, a body, arms, legs."""
    y, x = np.mgrid[:416, :416]
    pixels = np.where((y > 260)[..., None], [70, 140, 60], [150, 190, 235]).astype(np.uint8)
    pixels[(x - 208) ** 2 + (y - 110) ** 2 < 32**2] = [224, 172, 140]
    pixels[(y < 100) & ((x - 208) ** 2 + (y - 106) ** 2 < 34**2)] = [60, 40, 30]
    for top, bottom, left, right, colour in [
        (142, 250, 170, 246, [180, 40, 40]),
        (146, 240, 146, 168, [224, 172, 140]),
        (146, 240, 248, 270, [224, 172, 140]),
        (250, 372, 172, 204, [40, 50, 110]),
        (250, 372, 212, 244, [40, 50, 110]),
    ]:
        pixels[top:bottom, left:right] = colour
    return pixels


PICTURES: dict[str, Callable[[], npt.NDArray[np.uint8]]] = {"waves": waves, "blocks": blocks, "figure": figure}


@pytest.fixture(scope="module")
def network() -> Layers:
    return Layers(installed_file())


@pytest.mark.parametrize("picture", PICTURES)
def test_outputs_are_those_of_the_original_runtime(network: Layers, picture: str) -> None:
    """TensorFlow.js 4.22.0 on the published graph: models/detector/record.js. Rows of each grid, the best ones too."""
    pixels, scale, edge = network.fed(Image.fromarray(PICTURES[picture]()))
    assert (scale.tolist(), edge.tolist()) == ([1, 1], [0, 0])
    with np.load(RECORDED) as recorded:
        for number, output in enumerate(network.run(pixels)):
            rows = output.reshape(-1, 124)[recorded[f"{picture}.{number}.rows"]]
            scores = 1 / (1 + np.exp(-rows[:, :80]))
            assert np.abs(scores - recorded[f"{picture}.{number}.scores"]).max() < 1e-5
            assert np.abs(rows[:, 80:] - recorded[f"{picture}.{number}.distances"]).max() < 1e-4


def slow_convolution(x: Array, kernel: Array, bias: Array, stride: int) -> Array:
    """As the definition says, number by number."""
    rows, columns, channels, out = kernel.shape
    made = np.zeros((math.ceil(x.shape[0] / stride), math.ceil(x.shape[1] / stride), out))
    for top, left, to in np.ndindex(*made.shape):
        made[top, left, to] = bias[to]
        for row, column, of in np.ndindex(rows, columns, channels):
            y, z = top * stride + row - rows // 2, left * stride + column - columns // 2
            if 0 <= y < x.shape[0] and 0 <= z < x.shape[1]:
                made[top, left, to] += float(x[y, z, of]) * float(kernel[row, column, of, to])
    return made.astype(np.float32)


@pytest.mark.parametrize("shape", [(6, 9), (7, 4), (1, 1)])
@pytest.mark.parametrize(("side", "stride"), [(3, 1), (3, 2), (1, 1)])
def test_convolutions_are_those_of_the_definition(shape: tuple[int, int], side: int, stride: int) -> None:
    chance = np.random.default_rng(5)
    x, kernel = chance.normal(size=(*shape, 3)), chance.normal(size=(side, side, 3, 5))
    given = [array.astype(np.float32) for array in (x, kernel, chance.normal(size=5))]
    assert convolved(*given, stride) == pytest.approx(slow_convolution(*given, stride), abs=1e-5)


def test_convolutions_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(6)
    given = [chance.normal(size=size).astype(np.float32) for size in ((8, 8, 4), (3, 3, 4, 10), (10,))]
    whole = convolved(*given, 1)
    monkeypatch.setattr("sacrecap.vision.nanodet._SMALL", 8 * 4 * 3)
    assert convolved(*given, 1) == pytest.approx(whole, abs=1e-5)


@pytest.mark.parametrize("shape", [(6, 8), (7, 5)])
def test_pools_and_sizes_are_those_of_the_definition(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(7).normal(size=(*shape, 2)).astype(np.float32)
    pool, twice = pooled(x), resized(x, (2 * shape[0], 2 * shape[1]))
    for row, column in np.ndindex(*pool.shape[:2]):
        window = x[max(0, 2 * row - 1) : 2 * row + 2, max(0, 2 * column - 1) : 2 * column + 2]
        assert pool[row, column].tolist() == window.max(axis=(0, 1)).tolist()
    for row, column in np.ndindex(*twice.shape[:2]):
        expected = np.zeros(2)
        for number, other in np.ndindex(*shape):
            y, z = min(max((row - 0.5) / 2, 0), shape[0] - 1), min(max((column - 0.5) / 2, 0), shape[1] - 1)
            expected += max(0, 1 - abs(y - number)) * max(0, 1 - abs(z - other)) * x[number, other]
        assert twice[row, column] == pytest.approx(expected, abs=1e-6)


def test_a_picture_is_fed_as_in_training(network: Layers) -> None:
    """Blue first, the longer side 416 but enlarged twice at most, centred on black, with mean and deviation."""
    black = -np.float32([103.53, 116.28, 123.675]) / np.float32([57.375, 57.12, 58.395])
    red = (np.float32([0, 0, 255]) - [103.53, 116.28, 123.675]) / [57.375, 57.12, 58.395]
    for size, fed in [((832, 208), (416, 104)), ((100, 50), (200, 100)), ((1, 1), (2, 2)), ((9000, 1), (416, 1))]:
        pixels, scale, edge = network.fed(Image.new("RGB", size, "red"))
        left, top = (416 - fed[0]) // 2, (416 - fed[1]) // 2
        inside = np.zeros((416, 416), bool)
        inside[top : top + fed[1], left : left + fed[0]] = True
        assert pixels[inside] == pytest.approx(np.broadcast_to(red, pixels[inside].shape), abs=1e-5)
        assert pixels[~inside] == pytest.approx(np.broadcast_to(black, pixels[~inside].shape), abs=1e-5)
        assert scale == pytest.approx([fed[0] / size[0], fed[1] / size[1]])
        assert edge.tolist() == [left, top]


def test_boxes_are_where_the_distributions_say() -> None:
    grids = [np.full((side, side, 124), -20, np.float32) for side in (52, 26, 13)]
    grids[1][3, 5, 16] = 2  # a dog around the centre of the place (3, 5), whose steps are of 16 pixels
    for edge, steps in enumerate((1, 2, 3, 4)):
        grids[1][3, 5, 80 + 11 * edge + steps] = 30
    scores, labels, boxes = candidates(grids)
    assert (scores.tolist(), labels.tolist()) == (pytest.approx([0.880797]), [16])
    assert boxes.tolist() == [[5.5 * 16 - 16, 3.5 * 16 - 32, 5.5 * 16 + 48, 3.5 * 16 + 64]]
    assert [len(one) for one in candidates([np.full_like(grid, -20) for grid in grids])] == [0, 0, 0]


def test_of_two_boxes_the_better_one_stays() -> None:
    boxes = np.float32([[0, 0, 10, 10], [0, 0, 10, 7], [0, 0, 10, 5], [0, 0, 10, 10], [50, 50, 60, 60]])
    scores, labels = np.float32([0.5, 0.9, 0.4, 0.8, 0.7]), np.array([1, 1, 1, 2, 1])
    kept, theirs, places = best(scores, labels, boxes)
    assert kept.tolist() == pytest.approx([0.9, 0.8, 0.7])
    assert theirs.tolist() == [1, 2, 1]
    assert places[0].tolist() == [0, 0, 10, 7]
    many = best(np.linspace(1, 0.1, 300, dtype=np.float32), np.arange(300), np.tile(boxes[:1], (300, 1)))
    assert [len(part) for part in many] == [100, 100, 100]


def test_detections_do_not_depend_on_threads_or_the_batch() -> None:
    pictures = [Image.fromarray(make()) for make in PICTURES.values()]
    pictures += [picture.resize((300, 170)) for picture in pictures]
    alone = load_detector(threads=1)
    assert (alone.name, len(alone.labels), alone.threshold) == (NANODET, 80, 0.4)
    found = alone.detect(pictures)
    assert alone.detect([]) == []
    assert found == load_detector(threads=5).detect(pictures) == [alone.detect([picture])[0] for picture in pictures]
    assert found[2][0].score > alone.threshold
    for picture, detections in zip(pictures, found, strict=True):
        assert all(one.label in alone.labels and 0.05 < one.score < 1 for one in detections)
        assert all(0 <= one.box[0] <= one.box[2] <= picture.width for one in detections)
        assert all(0 <= one.box[1] <= one.box[3] <= picture.height for one in detections)
        assert [one.score for one in detections] == sorted((one.score for one in detections), reverse=True)


def test_the_bits_do_not_depend_on_the_threads_of_the_library_below() -> None:
    program = (
        "import hashlib, numpy as np\nfrom sacrecap.vision.nanodet import Layers, installed_file\n"
        "pixels = np.random.default_rng(3).normal(size=(416, 416, 3)).astype(np.float32)\n"
        "made = Layers(installed_file()).run(pixels)\n"
        "print(hashlib.sha256(b''.join(one.tobytes() for one in made)).hexdigest())"
    )
    found = set()
    for threads in ("1", "2", "7"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads}
        ran = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        found.add(ran.stdout)
    assert len(found) == 1
