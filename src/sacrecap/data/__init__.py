"""Reading and writing files: captions, and the objects of images."""

from typing import TYPE_CHECKING

from sacrecap.choices import IMAGE_IDS, ON_DUPLICATE
from sacrecap.data.captions import FORMATS, read_both, read_candidates, read_caption_sets, read_references
from sacrecap.data.writers import WRITTEN_FORMATS, atomic_write, write_candidates, write_caption_sets

if TYPE_CHECKING:
    from sacrecap.data.objects import OBJECT_FORMATS, read_objects, unite, write_objects

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


def __getattr__(name: str) -> object:
    """Objects load on first use: programs without them start faster."""
    if name not in __all__:
        raise AttributeError(f"module 'sacrecap.data' has no attribute {name!r}")
    from sacrecap.data import objects

    return getattr(objects, name)
