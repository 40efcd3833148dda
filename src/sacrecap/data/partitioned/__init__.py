"""Large inputs, in parts: many files, read batch by batch in bounded memory.

Needs pyarrow, which is imported when an input is read.
"""

from sacrecap.data.partitioned.batches import Batch, batches, id_columns
from sacrecap.data.partitioned.columns import RECOGNISED, ChosenColumns
from sacrecap.data.partitioned.condition import Condition
from sacrecap.data.partitioned.image_scores import ImageScores, PartScores, Written
from sacrecap.data.partitioned.part import BadRow, Part
from sacrecap.data.partitioned.partitioning import PART_BYTES, find_parts, fingerprint

__all__ = [
    "PART_BYTES",
    "RECOGNISED",
    "BadRow",
    "Batch",
    "ChosenColumns",
    "Condition",
    "ImageScores",
    "Part",
    "PartScores",
    "Written",
    "batches",
    "find_parts",
    "fingerprint",
    "id_columns",
]
