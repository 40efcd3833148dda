"""Large inputs, in parts: many files, read batch by batch in bounded memory.

Needs pyarrow, which is imported when an input is read.
"""

from capeval.data.partitioned.batches import BadRow, Batch, batches
from capeval.data.partitioned.columns import Columns
from capeval.data.partitioned.parts import PART_BYTES, Part, find_parts, fingerprint

__all__ = ["PART_BYTES", "BadRow", "Batch", "Columns", "Part", "batches", "find_parts", "fingerprint"]
