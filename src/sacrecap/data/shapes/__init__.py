"""Shapes of caption files of data sets and programs, in addition to the formats that the native reader knows.

A family of shapes is a module here; each shape declares its columns, see `family`. To add one, add a `Shape` to one
of the modules, and its name here: the command line loads only names.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrecap.data.shapes.family import Shape

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
    """The shapes by name. A file is recognised as the first one that fits it."""
    from sacrecap.data.shapes import audio, flickr, harness, hub, lines, suite, video

    modules = (suite, video, audio, harness, hub, flickr, lines)
    return {shape.name: shape for module in modules for shape in module.ALL}
