"""Each image's scores as a Parquet data set: a file per part of the input, then a manifest, which makes it whole."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from sacrecap.data.partitioned.files import import_pyarrow, join_url, names_in, remove, writing
from sacrecap.errors import DataError, UsageError, engine_option

if TYPE_CHECKING:
    import pyarrow
    from typing_extensions import Self

    from sacrecap.data.partitioned.condition import Condition
    from sacrecap.data.partitioned.part import Part

MANIFEST = "_manifest.json"
"""Name of the file that says that a data set is whole. It is written last; readers of Parquet pass over its name."""
_UNFINISHED = "_unfinished"
"""Name of the file that says that a run writes here, until there is a manifest."""
_ROWS = 1 << 17
"""Rows of a row group."""


class Written(NamedTuple):
    """A file of the data set."""

    file: str
    """Its name in the folder."""
    rows: int
    bytes: int
    sha256: str


class ImageScores:
    """The data set. It can be pickled; workers write parts of it by `part`.

    Args:
        url: the folder, or its URL; it is made where there is none.
        keep: which images are written, with all columns of the input beside their scores; None for all, without those.
    """

    def __init__(self, url: str, keep: Condition | None = None) -> None:
        self.url, self.keep = url, keep

    def begin(self, *, resume: bool = False) -> None:
        """Makes the folder ready, before any part is written; with `resume`, parts that were written before stay.

        Raises:
            UsageError: the folder has scores of a run that is finished or was cut off, or files that are none.
            DataError: the folder cannot be written.
        """
        names = names_in(self.url)
        if MANIFEST in names:
            raise UsageError(
                f"{self.url}: has the scores of a run that is finished; choose another folder, or remove it"
            )
        others = [name for name in names if not name.startswith((".", "_"))]
        mark = join_url(self.url, _UNFINISHED)
        if resume and _UNFINISHED in names:
            return
        if others and _UNFINISHED in names:
            raise UsageError(
                f"{self.url}: has the scores of a run that was cut off; go on with {engine_option('resume', True)}, or "
                "choose another folder, or remove it"
            )
        if others:
            raise UsageError(f"{self.url}: has other files, as {others[0]}; choose an empty folder, or a new one")
        with writing(mark):
            pass

    def name(self, part: Part) -> str:
        """The name of the file of a part of the input, whatever other parts there are."""
        return f"part-{part.place}.parquet"

    def part(self, part: Part) -> PartScores:
        """The scores of a part of the input, to be added to."""
        return PartScores(self.url, self.name(part), self.keep)

    def finish(self, about: Mapping[str, object], written: Sequence[Written]) -> None:
        """Writes the manifest: what the data set is about, and its files with their rows and checksums.

        Args:
            about: what else the manifest says, as the version of sacrecap and the metrics' signatures.
            written: what `PartScores.finish` returned for each part.

        Raises:
            DataError: a file is not there or cannot be read, or the manifest cannot be written.
        """
        every = names_in(self.url)
        names = {name for name in every if name.startswith("part-") and name.endswith(".parquet")}
        found = [one for one in written if one.rows]
        lost = [one.file for one in found if one.file not in names]
        if lost:
            raise DataError(f"{join_url(self.url, lost[0])}: was written and is gone; score again")
        # What workers left that were killed, and parts of an earlier attempt.
        left = [name for name in every if name.startswith(".part-")]
        for name in [*left, *sorted(names - {one.file for one in found})]:
            remove(join_url(self.url, name))
        manifest = {**about, "rows": sum(one.rows for one in found), "files": [one._asdict() for one in found]}
        with writing(join_url(self.url, MANIFEST)) as file:
            file.write(json.dumps(manifest, ensure_ascii=False, indent=1).encode() + b"\n")
        remove(join_url(self.url, _UNFINISHED))


class _Counted:
    """A file that is written, with the number of its bytes and their checksum."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.bytes = 0
        self.digest = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Writes bytes."""
        piece = memoryview(data)
        self._file.write(piece)
        self.bytes += piece.nbytes
        self.digest.update(piece)
        return piece.nbytes

    def flush(self) -> None:
        """Hands on what was written."""
        self._file.flush()


class PartScores:
    """The scores of one part's images, which take their place in the data set by `finish`, or not at all.

    A context: where it ends by an error, what was written goes.
    """

    def __init__(self, folder: str, name: str, keep: Condition | None = None) -> None:
        self._url, self._name, self._keep = join_url(folder, name), name, keep
        self._stack = contextlib.ExitStack()
        self._file: _Counted | None = None
        self._writer: Any = None
        self._waiting: list[pyarrow.RecordBatch] = []
        self._rows = self._all_rows = 0

    def add(
        self,
        image_ids: pyarrow.Array,
        columns: Mapping[str, bytes],
        system: str | None = None,
        beside: pyarrow.RecordBatch | None = None,
    ) -> None:
        """Adds the scores of some images.

        Args:
            image_ids: strings.
            columns: for each metric's key, float64 of the machine's byte order, one per image; NaN is written as null.
            system: the name of the system, where there are several; with it for all images, or for none.
            beside: the rows of the images in the input.
        """
        import numpy as np
        import pyarrow

        arrays = {"image_id": image_ids}
        if system is not None:
            arrays["system"] = pyarrow.repeat(system, len(image_ids))
        scores = {key: np.frombuffer(values, dtype=np.float64) for key, values in columns.items()}
        for name, own in zip(beside.schema.names, beside.columns, strict=True) if beside is not None else ():
            if name in scores:
                raise DataError(f"the input has a column {name}, as the scores have; give it another name")
            arrays.setdefault(name, own)
        arrays |= {key: pyarrow.array(values, from_pandas=True) for key, values in scores.items()}
        batch = pyarrow.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
        if self._keep is not None:
            self._keep.check(scores)
            batch = batch.filter(pyarrow.array(self._keep.holds(scores, len(image_ids))))
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= _ROWS:
            self._write()

    def finish(self) -> Written:
        """Puts the file in its place. A part without rows has none."""
        if self._rows or self._file is not None:
            self._write()
        if self._file is None:
            return Written(self._name, 0, 0, "")
        self._writer.close()
        self._stack.close()
        return Written(self._name, self._all_rows, self._file.bytes, self._file.digest.hexdigest())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is not None and self._writer is not None:
            with contextlib.suppress(OSError, DataError):
                self._writer.close()
        self._stack.__exit__(*error)

    def _write(self) -> None:
        """Writes the rows that wait as a row group."""
        pyarrow = import_pyarrow()
        if not self._waiting:
            return
        table = pyarrow.Table.from_batches(self._waiting)
        if self._file is None:
            from pyarrow import parquet

            self._file = _Counted(self._stack.enter_context(writing(self._url)))
            self._writer = parquet.ParquetWriter(
                pyarrow.PythonFile(self._file, mode="w"), table.schema, compression="zstd", use_dictionary=["system"]
            )
        self._writer.write_table(table, row_group_size=max(self._rows, 1))
        self._all_rows += self._rows
        self._waiting, self._rows = [], 0
