"""A small example data set: 60 made-up photographs and captions for them.

Everything here was written for sacrecap; no photograph exists. The README in
this folder (``PATH / "README.md"``) says what each file holds.

The functions read the JSON files each time they are called, so a caller may
change what it gets without touching anyone else's copy.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypedDict

__all__ = [
    "CAPTION_SETS",
    "PATH",
    "SYSTEMS",
    "ImageObjects",
    "caption_set_path",
    "caption_sets",
    "objects",
    "objects_path",
    "references",
    "references_path",
    "system_path",
    "systems",
]
__dir__ = __all__.copy

PATH: Final[Path] = Path(str(files(__name__)))
"""The folder that holds the example's files."""

SYSTEMS: Final[tuple[str, ...]] = ("careful", "plain", "template")
"""The made-up captioning systems, best first."""

CAPTION_SETS: Final[tuple[str, ...]] = ("varied", "safe", "wild")
"""The made-up systems that give five captions for each image."""


class ImageObjects(TypedDict):
    """The objects in one image: ``{"image_id": ..., "objects": {label: count}}``."""

    image_id: str
    objects: dict[str, int]


def references_path() -> Path:
    """The path of the reference captions' file."""
    return PATH / "references.json"


def objects_path() -> Path:
    """The path of the object annotations' file."""
    return PATH / "objects.json"


def system_path(name: str) -> Path:
    """The path of the captions of one of ``SYSTEMS``. Raises ``ValueError`` for another name."""
    return PATH / "systems" / f"{_known(name, SYSTEMS, 'system')}.json"


def caption_set_path(name: str) -> Path:
    """The path of one of ``CAPTION_SETS``. Raises ``ValueError`` for another name."""
    return PATH / "sets" / f"{_known(name, CAPTION_SETS, 'caption set')}.json"


def references() -> dict[str, list[str]]:
    """The reference captions: ``{image_id: [five sentences]}``."""
    return dict(_load(references_path()))


def systems() -> dict[str, dict[str, str]]:
    """The systems' captions: ``{system: {image_id: caption}}``, best system first."""
    return {name: _load(system_path(name)) for name in SYSTEMS}


def objects() -> list[ImageObjects]:
    """The objects in each image: ``[{"image_id": ..., "objects": {label: count}}]``."""
    return list(_load(objects_path()))


def caption_sets() -> dict[str, dict[str, list[str]]]:
    """The sets of captions: ``{system: {image_id: [five captions]}}``."""
    return {name: _load(caption_set_path(name)) for name in CAPTION_SETS}


def _known(name: str, names: tuple[str, ...], what: str) -> str:
    if name not in names:
        raise ValueError(f"no example {what} {name!r}; there are {', '.join(names)}")
    return name


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
