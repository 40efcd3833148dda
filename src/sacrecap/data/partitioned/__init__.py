"""Large inputs, in parts: many files, read batch by batch in bounded memory.

Needs pyarrow, which is imported when an input is read.
"""

from sacrecap.data.partitioned.batches import Batch, batches
from sacrecap.data.partitioned.buckets import bucket_count
from sacrecap.data.partitioned.columns import ChosenColumns
from sacrecap.data.partitioned.duplicates import Duplicates, SeenIds, check_duplicates, find_duplicates
from sacrecap.data.partitioned.image_scores import ImageScores, PartScores, Written
from sacrecap.data.partitioned.joining import Joined, join
from sacrecap.data.partitioned.part import BadRow, Part
from sacrecap.data.partitioned.parts import PART_BYTES, find_parts, fingerprint

__all__ = [
    "PART_BYTES",
    "BadRow",
    "Batch",
    "ChosenColumns",
    "Duplicates",
    "ImageScores",
    "Joined",
    "Part",
    "PartScores",
    "SeenIds",
    "Written",
    "batches",
    "bucket_count",
    "check_duplicates",
    "find_duplicates",
    "find_parts",
    "fingerprint",
    "join",
]
