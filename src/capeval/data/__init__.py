"""Reading and writing caption files."""

from typing import TYPE_CHECKING

from capeval.data.atomic import atomic_write
from capeval.data.captions import FORMATS, read_candidates, read_caption_sets, read_references

if TYPE_CHECKING:
    from capeval.data.writers import WRITTEN_FORMATS, write_candidates

__all__ = [
    "FORMATS",
    "WRITTEN_FORMATS",
    "atomic_write",
    "read_candidates",
    "read_caption_sets",
    "read_references",
    "write_candidates",
]


def __getattr__(name: str) -> object:
    """Writers load when they are asked for: whoever only reads does not pay for them."""
    if name in ("WRITTEN_FORMATS", "write_candidates"):
        from capeval.data import writers

        return getattr(writers, name)
    raise AttributeError(f"module 'capeval.data' has no attribute {name!r}")
