"""Reading and writing files: captions, and the objects of images."""

from typing import TYPE_CHECKING

from sacrecap.choices import IMAGE_IDS, ON_DUPLICATE
from sacrecap.data.atomic import atomic_write
from sacrecap.data.captions import FORMATS, read_both, read_candidates, read_caption_sets, read_references

if TYPE_CHECKING:
    from sacrecap.data.objects import OBJECT_FORMATS, read_objects
    from sacrecap.data.objects_writer import unite, write_objects
    from sacrecap.data.writers import WRITTEN_FORMATS, write_candidates, write_caption_sets

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
    """Writers and the reader of objects load on first use: programs without them start faster."""
    if name in ("WRITTEN_FORMATS", "write_candidates", "write_caption_sets"):
        from sacrecap.data import writers

        return getattr(writers, name)
    if name in ("OBJECT_FORMATS", "read_objects"):
        from sacrecap.data import objects

        return getattr(objects, name)
    if name in ("unite", "write_objects"):
        from sacrecap.data import objects_writer

        return getattr(objects_writer, name)
    raise AttributeError(f"module 'sacrecap.data' has no attribute {name!r}")
