"""Rows of a part, batch by batch, without those that cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from sacrecap.data.cells import AS_ONE, is_missing, told
from sacrecap.data.partitioned.column_checks import ColumnCheck
from sacrecap.data.partitioned.columns import ChosenColumns, Resolved, resolve
from sacrecap.data.partitioned.files import import_pyarrow
from sacrecap.data.partitioned.part import BadRow, Part, Raw
from sacrecap.data.rows import column
from sacrecap.data.shapes import POSITION, NoIdsError, shape_of_columns
from sacrecap.errors import DataError, naming

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow

ROWS = 16_384
"""Rows that a batch has at most."""

T = TypeVar("T")


@dataclass
class Batch:
    """Rows that can be used, and those that cannot."""

    image_ids: pyarrow.Array
    """Strings."""
    references: pyarrow.Array | None
    """Lists of strings, of one at least; None if none are wanted."""
    captions: tuple[pyarrow.Array, ...]
    """A column per system: strings, or lists of strings, of one at least."""
    rows: npt.NDArray[np.int64]
    """Number of each row in its file, from 1; of JSON lines in its part, to which `text.rows_before` is added."""
    bad: list[BadRow] = field(default_factory=list)
    """The rows that were left out, in order."""
    groups: pyarrow.Array | None = None
    """The group of each image, or null; None where the file has none."""
    whole: pyarrow.RecordBatch | None = None
    """All columns of the rows, as they are in the file, where they are wanted."""

    def without(self, reasons: Mapping[int, str], part: Part) -> Batch:
        """The part's batch without rows, which are given by their places with what is wrong with them."""
        import numpy as np

        from sacrecap.data.partitioned.text import rows_before

        if not reasons:
            return self
        before = rows_before(part)
        bad = (
            BadRow(part.file, before + int(self.rows[place]), self.image_ids[place].as_py(), reason)
            for place, reason in reasons.items()
        )
        kept = np.ones(len(self.rows), dtype=bool)
        kept[list(reasons)] = False
        mask = import_pyarrow().array(kept)
        return Batch(
            self.image_ids.filter(mask),
            None if self.references is None else self.references.filter(mask),
            tuple(own.filter(mask) for own in self.captions),
            self.rows[kept],
            sorted([*self.bad, *bad], key=lambda one: one.row or 0),
            None if self.groups is None else self.groups.filter(mask),
            None if self.whole is None else self.whole.filter(mask),
        )

    def longer_than(self, size: int) -> Iterator[tuple[int, str]]:
        """The captions and references of more bytes than that, each with the place of its row."""
        import numpy as np
        import pyarrow.compute as pc

        for own in (self.references, *self.captions):
            if own is None:
                continue
            places, texts = np.arange(len(own)), own
            if hasattr(own, "value_lengths"):
                places, texts = np.repeat(places, np.asarray(own.value_lengths())), own.flatten()
            for place in np.flatnonzero(np.asarray(pc.binary_length(texts)) > size).tolist():
                yield int(places[place]), texts[place].as_py()


def batches(part: Part, columns: ChosenColumns, *, rows: int = ROWS, whole: bool = False) -> Iterator[Batch]:
    """The rows of a part, in order. The next batch is read in a thread while the caller works on this one.

    A row is bad whose id is null, or whose id, references or caption is of another type, no UTF-8, too long or has
    control characters, or that has no references beside its captions; so is a line that is no JSON, and a row of CSV
    with too few or too many fields. `sacrecap.data.cells` says what is missing, as in a file that is read whole.

    Args:
        part: one of `find_parts`.
        columns: where ids, references and captions are.
        rows: the most rows of a batch, except of text files.
        whole: whether all columns are wanted, too; of JSON lines, those that were chosen and the line itself.

    Raises:
        DataError: a file is broken, gone or changed, or lacks a column; the message names the file.

    Warns:
        DataWarning: at the end, of references that are empty and left out.
    """
    from sacrecap.data.partitioned.text import rows_before

    left_out: list[int] = []
    for batch, gone in ahead(lambda: _checked(part, columns, rows, whole)):
        left_out += gone
        yield batch
    if left_out:
        told(part.file, "row", [rows_before(part) + row for row in left_out])


def id_columns(part: Part) -> tuple[str, ...]:
    """The columns of a part that could be image ids, the best first. Raises `DataError` for a broken file."""
    if part.format == "whole":
        from sacrecap.data.captions import CaptionFile

        return CaptionFile(part.file, part.reading).id_columns(None)
    names: list[str] = []

    def choose(found: list[str]) -> list[str]:
        names.extend(found)
        return found[:1]

    next(_raw(part, choose, 1, whole=False), None)
    return shape_of_columns(names).ids


def ahead(items: Callable[[], Iterator[T]]) -> Iterator[T]:
    """The items, of which the next is made in a thread while the caller works on one."""
    with closing(items()) as made, ThreadPoolExecutor(1) as pool:  # type: ignore[type-var]
        coming = pool.submit(next, made, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, made, None)
            yield item


def _checked(part: Part, columns: ChosenColumns, rows: int, whole: bool) -> Iterator[tuple[Batch, list[int]]]:
    """Batches, with the rows of which a reference is left out."""
    if part.format == "whole":
        if whole:
            raise DataError(
                f"{part.file}: is read whole and has no rows to stand beside scores; write it as JSON lines"
            )
        from sacrecap.data.partitioned.whole import read

        raw, names = read(part, columns)
        yield _check(part, raw, names, columns)
        return
    resolved: list[Resolved] = []

    def choose(names: list[str]) -> list[str]:
        resolved.append(resolve(columns, names, part.file))
        return names if whole and part.format != "jsonl" else resolved[0].all

    begun = False
    for raw in _raw(part, choose, rows, whole, columns.group):
        try:
            yield _check(part, raw, resolved[0], columns, whole=whole)
        except NoIdsError:
            other = next(iter(resolved[0].other_ids), None)
            if begun or columns.image_id or other is None:
                raise
            yield from _checked(part, columns._replace(image_id=other), rows, whole)
            return
        begun = True


def _raw(
    part: Part, choose: Callable[[list[str]], list[str]], rows: int, whole: bool, group: str | None = None
) -> Iterator[Raw]:
    """The part's batches as they are in the file."""
    from sacrecap.data.partitioned import arrow, text

    if part.format == "parquet":
        return arrow.read_parquet(part, choose, rows)
    if part.format == "arrow":
        return arrow.read_arrow(part, choose, rows)
    if part.table is not None:
        return arrow.read_joined(part.table, choose, rows)
    if part.format == "jsonl":
        return text.read_lines(part, choose, whole=whole, group=group)
    return text.read_table(part, choose)


def _check(
    part: Part, raw: Raw, resolved: Resolved, columns: ChosenColumns, *, whole: bool = False
) -> tuple[Batch, list[int]]:
    from sacrecap.data.partitioned.text import rows_before

    is_table = part.format not in ("jsonl", "joined", "whole")
    alone = part.format == "jsonl" and (columns.references is None or not columns.captions)
    # What was read whole, or joined, was cut before.
    separator = AS_ONE if part.format in ("joined", "whole") else part.reading.separator
    found = ColumnCheck(is_table=is_table, words=part.format == "csv", needs_text=alone, separator=separator)
    batch = raw.batch
    with naming(f"{part.file}: "):
        if resolved.image_id == POSITION:
            ids = import_pyarrow().array((raw.rows + rows_before(part)).astype(str).tolist())
        else:
            ids = found.ids(column(batch, resolved.image_id), resolved.image_id)
        references = None
        if columns.references is not None:
            described = [column(batch, name) for name in resolved.references]
            references = found.references(described, resolved.references, alone=not columns.captions)
        captions = tuple(found.captions([column(batch, name) for name in names], names) for names in resolved.captions)
    rows = raw.rows
    gone = [int(rows[place]) for place in sorted(found.left_out) if place not in found.reasons]
    groups = None
    if resolved.group is not None:
        cells = column(batch, resolved.group).to_pylist()
        texts = [None if cell == "" or is_missing(cell, words=part.format == "csv") else str(cell) for cell in cells]
        groups = import_pyarrow().array(texts, import_pyarrow().large_string())
    bad = [one._replace(row=rows_before(part) + (one.row or 0)) for one in raw.bad]
    made = Batch(ids, references, captions, rows, bad, groups, batch if whole else None)
    return made.without(found.reasons, part), gone
