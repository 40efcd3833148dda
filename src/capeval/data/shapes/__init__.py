"""Shapes of caption files that data sets and programs have, beside the formats that the native reader knows.

A family of shapes is a module here; each shape says which columns it has, see `family`. A new one is a `Shape` in one
of the modules, and its name here: names alone are loaded with the command line.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capeval.data.shapes.family import Shape

SHAPES = (
    "msrvtt",
    "vatex",
    "activitynet",
    "textcaps",
    "clotho",
    "dcase",
    "audiocaps",
    "flickr-csv",
    "flickr-hub",
    "lavis",
    "llava",
    "lmms-eval",
    "vlmevalkit",
    "predictions",
    "coco-hub",
    "hub",
    "imagefolder",
    "gts",
    "rows",
    "lists",
    "text",
)
"""Names of the shapes, for options such as ``--reference-format``."""


@cache
def shapes() -> dict[str, Shape]:
    """The shapes by name. The first that fits a file is what the file is recognised as."""
    from capeval.data.shapes import audio, flickr, harness, hub, lines, suite, video

    modules = (suite, video, audio, harness, hub, flickr, lines)
    return {shape.name: shape for module in modules for shape in module.ALL}
