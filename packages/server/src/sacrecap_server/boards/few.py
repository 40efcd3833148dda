"""Numbers that hang on few images: they would tell about single hidden references, and stay in the server.

What image i adds to a score S of n images is its pseudo-value n · S - (n - 1) · (S without i) (Quenouille 1956); in a
mean of images' scores it is the image's own score. Of values v, (Σ v²)² / Σ v⁴ images count: n if all add the same, k
if only k add anything. A file whose captions match nothing but one image's references has a BLEU that hangs on this
image alone, and two files that differ in two images have a p that hangs on these two, however many images there are.

Of five published systems on COCO, at least 18 % of the images count in each score, and 13 % in each difference of two;
of the example's three systems on its 60 images, 8 % and 15 %.

Runs in the child process; imports nothing of the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from sacrecap._core import Statistics

FEWEST = 0.05
"""Share of the images that have to count."""


def pseudo_values(statistics: Statistics) -> npt.NDArray[np.float64]:
    """What each image adds to the score, float64 of shape (images,)."""
    without = np.frombuffer(statistics.scores_without_each())
    return len(without) * statistics.score() - (len(without) - 1) * without


def hangs_on_few(values: npt.NDArray[np.float64]) -> bool:
    """Whether fewer than 5 % of the images count; also if none adds anything, which would tell as much."""
    squares = values**2
    return bool(squares.sum() ** 2 <= FEWEST * len(values) * (squares**2).sum())
