"""NanoDet-g, which finds COCO's 80 kinds of things, in NumPy: the detector that sacrecap brings (`sacrecap-detector`).

RangiLyu, NanoDet (https://github.com/RangiLyu/nanodet). A convolutional network, fed with 416 × 416 pixels, says for
each point of three grids (52², 26², 13²) how likely each label is there, and, as distributions over 0 to 10 steps of
the grid, how far the edges of the thing's box are. `models/detector/make.py` made the file, and describes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sacrecap.errors import MissingDependencyError
from sacrecap.vision.detector import Detection

if TYPE_CHECKING:
    from PIL.Image import Image

Array = npt.NDArray[np.float32]

LEAST_SCORE = 0.05
"""Scores of detections are above this."""
MOST = 100
"""Number of detections of a picture, the best ones."""
_OVERLAP = 0.6
"""Of two boxes with one label that share more of their union than this, the better one stays."""
_SMALL = 2**18
"""Multiplications of a call of BLAS. OpenBLAS does not share so few out among threads: what it adds in which order, and
so the last bits of a score, depends on how many share.
"""


class NanoDet:
    """The detector of the package `sacrecap-detector`, for `threads` pictures at a time; 0 means one per core.

    Raises `MissingDependencyError` where the package is not installed.
    """

    threshold = 0.4
    """See `Detector.threshold`."""

    def __init__(self, threads: int = 0) -> None:
        self._layers = _layers(installed_file())
        self.name: str = self._layers.described["name"]
        self.labels: Sequence[str] = self._layers.described["labels"]
        self.threads = threads or os.cpu_count() or 1

    def detect(self, images: Sequence[Image]) -> list[list[Detection]]:
        """See `Detector.detect`: at most `MOST` of each image, the best first, with scores above `LEAST_SCORE`."""
        with ThreadPoolExecutor(min(self.threads, len(images) or 1)) as pool:
            return list(pool.map(self._of_image, images))

    def _of_image(self, image: Image) -> list[Detection]:
        pixels, scale, edge = self._layers.fed(image)
        scores, labels, boxes = best(*candidates(self._layers.run(pixels)))
        boxes = np.clip((boxes - np.tile(edge, 2)) / np.tile(scale, 2), 0, np.tile(image.size, 2))
        rows = zip(labels.tolist(), scores.tolist(), boxes.tolist(), strict=True)
        return [Detection(self.labels[label], score, tuple(box)) for label, score, box in rows]


def installed_file() -> str:
    """The path of the network's file. Raises `MissingDependencyError` where the package is not installed."""
    package = find_spec("sacrecap_detector")  # located, not imported: it is data alone
    if package is None or not package.submodule_search_locations:
        raise MissingDependencyError("detecting objects", extra="detect")
    return os.path.join(next(iter(package.submodule_search_locations)), "data", "nanodet-g.npz")


class Layers:
    """The network of a file: `run` gives its outputs."""

    def __init__(self, path: str) -> None:
        with np.load(path) as arrays:
            self.described: dict[str, Any] = json.loads(arrays["description"].tobytes())
            self._weights = {name: array.astype(np.float32) for name, array in arrays.items() if "." in name}

    def fed(self, image: Image) -> tuple[Array, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """An RGB image as the network was trained: blue, green, red; centred on black; with normal brightness.

        Returns the pixels, shape (size, size, 3), and what leads from places in the image to places there, for x and y:
        the scale, and the width of the edge.
        """
        from PIL import Image as Pillow

        size = self.described["size"]
        scale = min(size / max(image.size), self.described["largest_scale"])
        width, height = (max(1, round(side * scale)) for side in image.size)
        left, top = (size - width) // 2, (size - height) // 2
        pixels = np.zeros((size, size, 3), np.float32)
        resized = image.resize((width, height), Pillow.Resampling.BICUBIC)
        pixels[top : top + height, left : left + width] = np.asarray(resized)[..., ::-1]
        pixels = (pixels - np.float32(self.described["mean"])) / np.float32(self.described["deviation"])
        return pixels, np.array([width, height]) / image.size, np.array([left, top], float)

    def run(self, pixels: Array) -> list[Array]:
        """Logits of labels and distances, shape (height, width, 80 + 4 · 11), of each grid, for (height, width, 3)."""
        outputs: dict[int, Array] = {-1: pixels}
        for number, step in enumerate(self.described["steps"]):
            of = [outputs[source] for source in step["of"]]
            match step["op"]:
                case "conv":
                    kernel, bias = self._weights[f"{number}.kernel"], self._weights[f"{number}.bias"]
                    x = convolved(of[0], kernel, bias, step["stride"])
                    outputs[number] = x if step["slope"] == 1 else np.maximum(x, np.float32(step["slope"]) * x)
                case "pool":
                    outputs[number] = pooled(of[0])
                case "concat":
                    outputs[number] = np.concatenate(of, axis=2)
                case "add":
                    outputs[number] = of[0] + of[1]
                case "resize":
                    outputs[number] = resized(of[0], step["size"])
        return [outputs[output] for output in self.described["outputs"]]


_layers = cache(Layers)


def convolved(x: Array, kernel: Array, bias: Array, stride: int) -> Array:
    """The convolution of x (height, width, channels), between zeros; kernel (rows, columns, channels, channels out)."""
    rows, columns, channels, out = kernel.shape
    height, width = -(-x.shape[0] // stride), -(-x.shape[1] // stride)
    x = np.pad(x, ((rows // 2, rows // 2), (columns // 2, columns // 2), (0, 0)))
    output = np.empty((height, width, out), np.float32)
    piece = max(1, _SMALL // (width * channels) // 16 * 16)
    for start in range(0, out, piece):
        part = np.broadcast_to(bias[start : start + piece], (height, width, min(piece, out - start))).copy()
        for row, column in np.ndindex(rows, columns):
            window = x[row : row + height * stride : stride, column : column + width * stride : stride]
            part += window[:height, :width] @ kernel[row, column, :, start : start + piece]
        output[:, :, start : start + piece] = part
    return output


def pooled(x: Array) -> Array:
    """The maximum of 3 × 3 at every second place."""
    height, width = -(-x.shape[0] // 2), -(-x.shape[1] // 2)
    x = np.pad(x, ((1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
    largest = x[: 2 * height : 2, : 2 * width : 2]
    for row, column in np.ndindex(3, 3):
        largest = np.maximum(largest, x[row : row + 2 * height : 2, column : column + 2 * width : 2][:height, :width])
    return largest


def resized(x: Array, size: Sequence[int]) -> Array:
    """Another size of x, bilinear by the centres of its places."""
    for axis, count in enumerate(size):
        last = x.shape[axis] - 1
        at = np.clip((np.arange(count) + 0.5) * (last + 1) / count - 0.5, 0, last)
        below = at.astype(int)
        share = np.expand_dims((at - below).astype(np.float32), tuple({0, 1, 2} - {axis}))
        left, right = x.take(below, axis), x.take(np.minimum(below + 1, last), axis)
        x = left + (right - left) * share
    return x


def candidates(outputs: Sequence[Array]) -> tuple[Array, npt.NDArray[np.intp], Array]:
    """Scores, labels (by number) and boxes (left, top, right, bottom) of everything above `LEAST_SCORE`."""
    of_grids = []
    for grid, stride in zip(outputs, (8, 16, 32), strict=True):
        rows, columns, labels = np.nonzero(grid[:, :, :-44] > np.log(LEAST_SCORE / (1 - LEAST_SCORE)))
        bins = grid[rows, columns, -44:].reshape(-1, 4, 11)
        shares = np.exp(bins - bins.max(axis=2, keepdims=True))
        distances = (shares * np.arange(11, dtype=np.float32)).sum(axis=2) / shares.sum(axis=2) * stride
        centres = (np.stack([columns, rows], axis=1) + 0.5) * stride
        boxes = np.concatenate([centres - distances[:, :2], centres + distances[:, 2:]], axis=1)
        of_grids.append((1 / (1 + np.exp(-grid[rows, columns, labels])), labels, boxes.astype(np.float32)))
    scores, labels, boxes = (np.concatenate(parts) for parts in zip(*of_grids, strict=True))
    return scores, labels, boxes


def best(scores: Array, labels: npt.NDArray[np.intp], boxes: Array) -> tuple[Array, npt.NDArray[np.intp], Array]:
    """The candidates that are left where the better of two that overlap suppresses the other, the best first."""
    chosen: list[int] = []
    left = np.argsort(-scores, kind="stable")
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    while left.size and len(chosen) < MOST:
        first, rest = left[0], left[1:]
        chosen.append(int(first))
        corners = np.maximum(boxes[first, :2], boxes[rest, :2]), np.minimum(boxes[first, 2:], boxes[rest, 2:])
        shared = np.maximum(corners[1] - corners[0], 0).prod(axis=1)
        apart = shared <= _OVERLAP * (areas[first] + areas[rest] - shared)
        left = rest[apart | (labels[rest] != labels[first])]
    return scores[chosen], labels[chosen], boxes[chosen]
