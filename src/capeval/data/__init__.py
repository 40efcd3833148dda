"""Reading and writing caption files."""

from capeval.data.atomic import atomic_write
from capeval.data.captions import FORMATS, read_candidates, read_caption_sets, read_references
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
