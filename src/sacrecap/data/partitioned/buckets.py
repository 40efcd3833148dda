"""Rows in buckets on disk: rows of the same image id are in the same bucket, whatever part they come from.

Workers write runs: files of so many bytes that have a record batch for each bucket. To read a bucket is to read its
batch of each run, so there are few files, and memory holds one run or one bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from sacrecap.data.partitioned.arrow import opened_file
from sacrecap.data.partitioned.checks import extents
from sacrecap.data.partitioned.files import file_system, import_pyarrow, join_url

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow

    from sacrecap.data.partitioned.part import Part

_RUN_BYTES = 32 << 20
"""Bytes of rows in memory that make a run."""
_BUCKET_BYTES = 64 << 20
"""Bytes of rows in memory that a bucket is meant to have."""
_UNPACKED = 4
"""About how many bytes a byte of a file becomes in memory."""
_MOST_BUCKETS = 4096


def bucket_count(parts: Sequence[Part]) -> int:
    """How many buckets these parts need for each to fit into memory."""
    return min(max(sum(part.bytes for part in parts) * _UNPACKED // _BUCKET_BYTES, 1), _MOST_BUCKETS)


class Runs:
    """The rows of a part, going to buckets.

    A part that is done again writes the same files again.

    Args:
        folder: where, as a path or URL.
        kind: what the rows are; rows of different kinds may go to one folder.
        part: the number of the part.
        buckets: how many there are.
    """

    def __init__(self, folder: str, kind: str, part: int, buckets: int) -> None:
        self._folder, self._name, self._buckets = folder, f"{kind}-{part:06}", buckets
        self._waiting: list[pyarrow.RecordBatch] = []
        self._bytes = self._runs = 0

    def add(self, batch: pyarrow.RecordBatch) -> None:
        """Adds rows, which have a column `image_id` of strings."""
        self._waiting.append(batch)
        self._bytes += batch.nbytes
        if self._bytes >= _RUN_BYTES:
            self.finish()

    def finish(self) -> None:
        """Writes the rows that are left."""
        import numpy as np

        if not self._waiting:
            return
        pyarrow = import_pyarrow()
        table = pyarrow.Table.from_batches(self._waiting).combine_chunks()
        self._waiting, self._bytes = [], 0
        places = buckets_of(table.column("image_id").combine_chunks(), self._buckets)
        order = np.argsort(places, kind="stable")
        cuts = np.searchsorted(places[order], np.arange(self._buckets + 1))
        batch = table.take(pyarrow.array(order)).combine_chunks().to_batches()[0]
        url = join_url(self._folder, f"{self._name}-{self._runs:04}.arrow")
        self._runs += 1
        options = pyarrow.ipc.IpcWriteOptions(compression="lz4")
        with file_system(url).writing(url) as file, pyarrow.ipc.new_file(file, batch.schema, options=options) as writer:
            for first, end in pairwise(cuts):
                writer.write_batch(batch.slice(first, end - first))


def read_bucket(folder: str, kind: str, bucket: int) -> pyarrow.Table | None:
    """The rows of a bucket, in the order of parts and rows; None if no rows of this kind were written."""
    pyarrow = import_pyarrow()
    batches = []
    for name in file_system(folder).names(folder):
        if name.rsplit("-", 2)[0] == kind:
            with opened_file(join_url(folder, name)) as file:
                batches.append(file.get_batch(bucket))
    return pyarrow.Table.from_batches(batches) if batches else None


def buckets_of(ids: pyarrow.Array, buckets: int) -> npt.NDArray[np.int64]:
    """The bucket of each id, by a hash of its bytes, eight at a time."""
    import numpy as np

    offsets, data = extents(ids)
    lengths = np.diff(offsets)
    whole = np.concatenate([data, np.zeros(8, dtype=np.uint8)])
    words = np.ndarray((len(data) + 1,), dtype="<u8", buffer=whole, strides=(1,))
    masks = np.array([(1 << 8 * count) - 1 for count in range(9)], dtype=np.uint64)
    hashes = lengths.astype(np.uint64)
    for start in range(0, int(lengths.max(initial=0)), 8):
        longer = np.flatnonzero(lengths > start)
        rest = np.minimum(lengths[longer] - start, 8)
        own = words[offsets[longer] + start] & masks[rest]
        mixed = (hashes[longer] ^ own) * np.uint64(0x9E37_79B9_7F4A_7C15)
        hashes[longer] = mixed ^ (mixed >> np.uint64(29))
    hashes *= np.uint64(0xBF58_476D_1CE4_E5B9)
    found: npt.NDArray[np.int64] = ((hashes >> np.uint64(32)) % np.uint64(buckets)).astype(np.int64)
    return found
