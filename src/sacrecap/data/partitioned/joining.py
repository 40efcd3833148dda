"""Two inputs joined by image id: references, which may be a row per caption, and the candidates of each system.

The rows of all inputs go to buckets on disk by their ids, part by part; then each bucket is joined by itself. Memory
holds one bucket, whatever the size of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sacrecap.data import remedies
from sacrecap.data.partitioned.batches import ROWS, batches
from sacrecap.data.partitioned.buckets import Runs, bucket_count, read_bucket
from sacrecap.data.partitioned.columns import RECOGNISED, ChosenColumns
from sacrecap.data.partitioned.files import file_system, import_pyarrow, join_url
from sacrecap.data.partitioned.part import BadRow, Part
from sacrecap.data.partitioned.parts import find_parts
from sacrecap.errors import DataError, some

if TYPE_CHECKING:
    import pyarrow

JOINED = "joined"
"""The format of parts that a join writes: Arrow files, whose texts were looked at before."""
_REFERENCES = "references"
_NAMED = 5

Result = TypeVar("Result")
Map = Callable[[Callable[[Part], Any], Sequence[Part]], Iterable[tuple[Part, Any]]]
"""Calls a function for each part, as `Engine.map` does."""


@dataclass(frozen=True)
class Side:
    """One of the inputs that are joined."""

    kind: str
    """What its rows are called in the folder."""
    name: str
    """What messages call it."""
    columns: ChosenColumns


@dataclass
class Some:
    """Images that something is wrong with: how many, and the first of them."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, other: Some) -> None:
        """Adds others."""
        self.count += other.count
        self.first = [*self.first, *other.first][:_NAMED]

    def __str__(self) -> str:
        return some(self.first + [""] * (self.count - len(self.first)))


@dataclass
class Bucket:
    """What came out of a bucket."""

    part: Part | None
    """The joined rows; None if there are none."""
    candidates: list[int]
    """Images of each system."""
    described: Some
    """Images that have references."""
    extra: list[Some]
    """Images of each system without references."""
    missing: list[Some]
    """Images with references that each system lacks."""
    repeated: list[Some]
    """Images of each system with several candidates."""
    left_out: int = 0
    """Images that some system has no candidate for, which are left out."""


class Joined(NamedTuple):
    """Joined rows."""

    parts: list[Part]
    columns: ChosenColumns
    """The columns of these parts."""
    bad: list[BadRow]
    """Rows of the inputs that cannot be used, which were left out."""
    left_out: int
    """Images that some system has no candidate for, which were left out."""


def join(
    references: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    folder: str,
    *,
    image_id: str = RECOGNISED,
    references_column: str = RECOGNISED,
    caption_column: str = RECOGNISED,
    on_missing: str = "error",
    on_extra: str = "error",
    sets: bool = False,
    buckets: int | None = None,
    map: Map | None = None,
) -> Joined:
    """Joins references and the candidates of each system by image id, into parts in a folder.

    Args:
        references: files, folders and patterns, as for `find_parts`: a row per image with a list, or a row per caption.
        systems: the same of each system's candidates, by its name.
        folder: an empty folder, or its URL, that all workers can write; it may go when the parts were read.
        image_id: column of the image ids in all inputs; by default the one that the format of each file has.
        references_column: column of the references, likewise.
        caption_column: column of the candidates, likewise.
        on_missing: what an image without candidate means: an `error`; `skip` leaves it out, for all systems; `zero`
            gives it an empty candidate.
        on_extra: what a candidate without references means: an `error`, or `skip` leaves it out.
        sets: whether images may have several candidates, which are caption sets.
        buckets: how many there are; by default as many as let each fit into memory.
        map: how a function is called for each part: by default for one after the other, in this process.

    Raises:
        DataError: an input cannot be read; or images lack references or candidates, or have several candidates.
    """
    names = tuple(systems)
    sides = [
        Side(_REFERENCES, "the references", ChosenColumns(image_id, references_column, ())),
        *(
            Side(
                f"candidates{number}",
                f"system {name!r}" if len(names) > 1 else "the candidates",
                ChosenColumns(image_id, None, (caption_column,)),
            )
            for number, name in enumerate(names)
        ),
    ]
    inputs = [find_parts(references), *(find_parts(own) for own in systems.values())]
    every = [part for parts in inputs for part in parts]
    count = buckets or bucket_count(every)
    map = map or _in_order
    bad: list[BadRow] = []
    numbered: dict[int, Side] = {}
    work: list[Part] = []
    for side, parts in zip(sides, inputs, strict=True):
        for part in parts:
            numbered[len(work)] = side
            work.append(replace(part, number=len(work)))
    for _, own in map(partial(split, numbered, folder, count), work):
        bad += own
    empty = [Part(number, folder, JOINED, None, None, 0, None) for number in range(count)]
    function = partial(joined, len(names), folder, on_missing=on_missing, on_extra=on_extra, sets=sets)
    found = [bucket for _, bucket in sorted(map(function, empty), key=lambda one: one[0].number)]
    _check(found, [side.name for side in sides], on_missing, on_extra)
    parts = [bucket.part for bucket in found if bucket.part is not None]
    parts = [replace(part, number=number) for number, part in enumerate(parts)]
    return Joined(parts, joined_columns(len(names)), sorted(bad), sum(one.left_out for one in found))


def _in_order(function: Callable[[Part], Result], parts: Sequence[Part]) -> Iterator[tuple[Part, Result]]:
    for part in parts:
        yield part, function(part)


def joined_columns(systems: int) -> ChosenColumns:
    """The columns of joined rows."""
    return ChosenColumns("image_id", _REFERENCES, tuple(f"candidates{number}" for number in range(systems)))


def split(sides: Mapping[int, Side], folder: str, buckets: int, part: Part) -> list[BadRow]:
    """Sends the rows of a part to the buckets; returns those that cannot be used. `sides` goes by numbers of parts."""
    import pyarrow

    side = sides[part.number]
    runs = Runs(folder, side.kind, part.number, buckets)
    bad: list[BadRow] = []
    lists = pyarrow.large_list(pyarrow.large_string())
    for batch in batches(part, side.columns):
        bad += batch.bad
        captions = batch.references if batch.references is not None else batch.captions[0]
        if not (pyarrow.types.is_list(captions.type) or pyarrow.types.is_large_list(captions.type)):
            offsets = pyarrow.array(range(len(captions) + 1), type=pyarrow.int64())
            captions = pyarrow.LargeListArray.from_arrays(offsets, captions.cast(pyarrow.large_string()))
        arrays = [batch.image_ids.cast(pyarrow.large_string()), captions.cast(lists)]
        runs.add(pyarrow.RecordBatch.from_arrays(arrays, names=["image_id", "captions"]))
    runs.finish()
    return bad


def joined(
    systems: int, folder: str, bucket: Part, *, on_missing: str = "error", on_extra: str = "error", sets: bool = False
) -> Bucket:
    """Joins the rows of a bucket, which goes by its number, and writes those of images that have what they need."""
    import numpy as np
    import pyarrow
    import pyarrow.compute as pc

    def of(ids: pyarrow.Array, chosen: Any) -> Some:
        places = np.flatnonzero(chosen)
        return Some(len(places), ids.take(pyarrow.array(places[:_NAMED])).to_pylist())

    ids, described = _grouped(read_bucket(folder, _REFERENCES, bucket.number))
    kept = np.ones(len(ids), dtype=bool)
    found = Bucket(None, [], of(ids, kept), [], [], [])
    columns = []
    for number in range(systems):
        own_ids, captions = _grouped(read_bucket(folder, f"candidates{number}", bucket.number))
        found.candidates.append(len(own_ids))
        found.extra.append(of(own_ids, np.asarray(pc.index_in(own_ids, value_set=ids).is_null())))
        several = np.asarray(pc.list_value_length(captions)) > 1
        found.repeated.append(of(own_ids, several if not sets else several[:0]))
        places = pc.index_in(ids, value_set=own_ids)
        missing = np.asarray(places.is_null())
        found.missing.append(of(ids, missing))
        if on_missing == "skip":
            kept &= ~missing
        empty = pyarrow.array([[""]], type=captions.type)
        columns.append(pyarrow.concat_arrays([captions, empty]).take(places.fill_null(len(own_ids))))
    wrong = any(one.count for one in found.repeated)
    wrong = wrong or (on_missing == "error" and any(one.count for one in found.missing))
    wrong = wrong or (on_extra == "error" and any(one.count for one in found.extra))
    found.left_out = int(np.count_nonzero(~kept))
    if wrong or not kept.any():
        return found
    if not sets:
        columns = [one.flatten() for one in columns]
    table = pyarrow.table(
        [ids, described, *columns], names=["image_id", _REFERENCES, *joined_columns(systems).captions]
    )
    if not kept.all():
        table = table.filter(pyarrow.array(kept))
    found.part = _written(table, folder, bucket.number)
    return found


def _grouped(table: pyarrow.Table | None) -> tuple[pyarrow.Array, pyarrow.Array]:
    """The ids in order of first mention, and all captions of each, in order."""
    import numpy as np
    import pyarrow

    if table is None or not table.num_rows:
        lists = pyarrow.large_list(pyarrow.large_string())
        return pyarrow.array([], type=pyarrow.large_string()), pyarrow.array([], type=lists)
    ids, lists = (_whole(table.column(name)) for name in ("image_id", "captions"))
    encoded = ids.dictionary_encode()
    if len(encoded.dictionary) == len(ids):
        return ids, lists
    codes = np.asarray(encoded.indices)
    order = np.argsort(codes, kind="stable")
    texts = lists.take(pyarrow.array(order)).flatten()
    counts = np.bincount(codes, weights=np.asarray(pyarrow.compute.list_value_length(lists)))
    offsets = np.concatenate([[0], np.cumsum(counts.astype(np.int64))])
    return encoded.dictionary, pyarrow.LargeListArray.from_arrays(pyarrow.array(offsets), texts)


def _whole(column: Any) -> Any:
    whole = column.combine_chunks()
    return whole.chunk(0) if hasattr(whole, "chunks") else whole


def _written(table: pyarrow.Table, folder: str, bucket: int) -> Part:
    """Writes joined rows as a part."""
    pyarrow = import_pyarrow()
    url = join_url(folder, f"{JOINED}-{bucket:06}.arrow")
    with file_system(url).writing(url) as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=ROWS)
        end = -(-table.num_rows // ROWS)
    return Part(bucket, url, JOINED, 0, end, table.nbytes, table.num_rows)


def _check(found: Sequence[Bucket], names: Sequence[str], on_missing: str, on_extra: str) -> None:
    """Raises `DataError` for what is an error, over all buckets."""
    references = names[0]
    described = Some()
    for bucket in found:
        described.add(bucket.described)
    for number, name in enumerate(names[1:]):
        extra, missing, repeated = Some(), Some(), Some()
        for bucket in found:
            extra.add(bucket.extra[number])
            missing.add(bucket.missing[number])
            repeated.add(bucket.repeated[number])
        images = sum(bucket.candidates[number] for bucket in found)
        if extra.count and extra.count == images and described.count:
            raise DataError(
                f"{name}: none of its {images:,} images is in {references}: it has {extra}, the references have "
                f"{described}; {remedies.for_other_ids(described.first, extra.first)}"
            )
        if extra.count and on_extra == "error":
            raise DataError(f"{name}: candidate for {extra}, not in {references}; {remedies.for_extra()}")
        if repeated.count:
            raise DataError(f"{name}: more than one candidate for {repeated}; {remedies.for_repeated()}")
        if missing.count and on_missing == "error":
            raise DataError(f"{name}: no candidate for {missing}; {remedies.for_missing()}")
