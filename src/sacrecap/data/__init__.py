"""Reading and writing files: captions, and the objects of images."""

from importlib import import_module
from typing import TYPE_CHECKING

from sacrecap.choices import IMAGE_IDS, ON_DUPLICATE
from sacrecap.data.atomic import atomic_write
from sacrecap.data.captions import FORMATS, read_both, read_candidates, read_caption_sets, read_references

if TYPE_CHECKING:
    from sacrecap.data.objects import OBJECT_FORMATS, read_objects
    from sacrecap.data.writers import WRITTEN_FORMATS, unite, write_candidates, write_caption_sets, write_objects

__all__ = [
    "FORMATS",
    "IMAGE_IDS",
    "OBJECT_FORMATS",
    "ON_DUPLICATE",
    "WRITTEN_FORMATS",
    "atomic_write",
    "read_both",
    "read_candidates",
    "read_caption_sets",
    "read_objects",
    "read_references",
    "unite",
    "write_candidates",
    "write_caption_sets",
    "write_objects",
]
__dir__ = __all__.copy


_LATER = {
    "sacrecap.data.objects": ("OBJECT_FORMATS", "read_objects"),
    "sacrecap.data.writers": ("WRITTEN_FORMATS", "unite", "write_candidates", "write_caption_sets", "write_objects"),
}


def __getattr__(name: str) -> object:
    """Writers and the reader of objects load on first use: programs without them start faster."""
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'sacrecap.data' has no attribute {name!r}")
