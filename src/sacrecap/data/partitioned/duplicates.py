"""Image ids that are in the input several times, found through buckets on disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sacrecap.data.partitioned.batches import Batch
from sacrecap.data.partitioned.buckets import Runs, read_bucket
from sacrecap.data.partitioned.files import import_pyarrow
from sacrecap.errors import DataError, some

if TYPE_CHECKING:
    from sacrecap.data.partitioned.part import Part

_KIND = "ids"
_NAMED = 5
"""Ids that are told by bucket; the others are only counted."""


@dataclass(frozen=True)
class Duplicates:
    """Ids that are there several times."""

    count: int
    """How many ids."""
    first: list[tuple[str, list[tuple[int, int]]]]
    """Some of them, in order of the first mention, each with the numbers of part and row of all its places."""


class SeenIds:
    """The ids of a part, going to buckets. Arguments as of `Runs`."""

    def __init__(self, folder: str, part: int, buckets: int) -> None:
        self._part = part
        self._runs = Runs(folder, _KIND, part, buckets)

    def add(self, batch: Batch) -> None:
        """Adds the ids of a batch."""
        pyarrow = import_pyarrow()
        part = pyarrow.repeat(pyarrow.scalar(self._part, pyarrow.int32()), len(batch.rows))
        columns = {
            "image_id": batch.image_ids.cast(pyarrow.large_string()),
            "part": part,
            "row": pyarrow.array(batch.rows),
        }
        self._runs.add(pyarrow.RecordBatch.from_arrays(list(columns.values()), names=list(columns)))

    def finish(self) -> None:
        """Writes what is left."""
        self._runs.finish()


def find_duplicates(folder: str, bucket: int) -> Duplicates:
    """The ids of a bucket that are there several times, whichever parts they are in."""
    import numpy as np

    table = read_bucket(folder, _KIND, bucket)
    if table is None or not table.num_rows:
        return Duplicates(0, [])
    encoded = table.column("image_id").combine_chunks().dictionary_encode()
    if len(encoded.dictionary) == table.num_rows:
        return Duplicates(0, [])
    codes = np.asarray(encoded.indices)
    several = np.flatnonzero(np.bincount(codes) > 1)
    parts, rows = np.asarray(table.column("part")), np.asarray(table.column("row"))
    first = []
    for code in several[:_NAMED]:
        places = np.flatnonzero(codes == code)
        first.append((encoded.dictionary[int(code)].as_py(), [(int(parts[n]), int(rows[n])) for n in places]))
    return Duplicates(len(several), first)


def check_duplicates(found: Iterable[Duplicates], parts: Sequence[Part]) -> None:
    """Raises `DataError` for ids that are there several times; it names files and rows of the first."""
    found = [one for one in found if one.count]
    if not found:
        return
    from sacrecap.data.partitioned.text import rows_before

    by_number = {part.number: part for part in parts}
    first = sorted((one for own in found for one in own.first), key=lambda one: one[1])
    count = sum(own.count for own in found)
    places = [(by_number[part], row) for part, row in first[0][1]]
    shown = " and ".join(f"{part.file}, row {rows_before(part) + row}" for part, row in places[:2])
    shown += f" and {len(places) - 2:,} more rows" if len(places) > 2 else ""
    named = some([image for image, _ in first] + [""] * (count - len(first)))
    raise DataError(
        f"the input has {named} several times: {first[0][0]} in {shown}; give each image in one row, or references and "
        "candidates as inputs of their own, which are joined by image id"
    )
