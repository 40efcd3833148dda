"""Two inputs joined by image id: references, which may be a row per caption, and the candidates of each system.

A shuffle brings the rows of an image together; then each shard is joined by itself. Memory holds one shard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial as bound
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap import _core
from sacrecap.data import remedies
from sacrecap.data.partitioned import RECOGNISED, BadRow, ChosenColumns, Part, batches, find_parts, fingerprint
from sacrecap.engines.plan import Shuffle
from sacrecap.errors import DataError, some

if TYPE_CHECKING:
    import pyarrow

    from sacrecap.engines.plan import Engine

_REFERENCES = "references"
_NAMED = 5
_SHARD_BYTES = 16 << 20
"""Bytes of files that make a shard: about four times as many in memory."""
_MOST_SHARDS = 256


class Side(NamedTuple):
    """One of the inputs that are joined."""

    name: str
    """What messages call it."""
    columns: ChosenColumns


class Piece(NamedTuple):
    """Rows of a part that belong to a shard."""

    side: int
    part: int
    rows: pyarrow.Table
    """With the columns `image_id`, and `captions`: lists."""


@dataclass
class Some:
    """Images that something is true of: how many, and the first of them."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, other: Some) -> None:
        """Adds others."""
        self.count += other.count
        self.first = [*self.first, *other.first][:_NAMED]

    def __str__(self) -> str:
        return some(self.first + [""] * (self.count - len(self.first)))


class Images(NamedTuple):
    """What there is to say of the images of a system in a shard; of the references, only who is there."""

    there: Some
    extra: Some
    """Those without references."""
    missing: Some
    """Those with references that the system lacks."""
    repeated: Some
    """Those with several candidates."""


class Shard(NamedTuple):
    """What came out of a shard."""

    images: list[Images]
    """Of each side."""
    left_out: int
    """Images that some system has no candidate for, which are left out."""
    rows: int = 0
    """Joined rows."""
    bytes: int = 0


class Joined(NamedTuple):
    """Joined rows."""

    parts: list[Part]
    columns: ChosenColumns
    """The columns of these parts."""
    bad: list[BadRow]
    """Rows and files of the inputs that cannot be used, which were left out."""
    left_out: int
    """Images that some system has no candidate for, which were left out."""


def join(
    engine: Engine,
    references: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    *,
    image_id: str = RECOGNISED,
    references_column: str = RECOGNISED,
    caption_column: str = RECOGNISED,
    on_missing: str = "error",
    on_bad_file: str = "error",
    sets: bool = False,
    shards: int | None = None,
) -> Joined:
    """Joins references and the candidates of each system by image id, into parts that the engine keeps.

    Args:
        engine: reads, shuffles and joins.
        references: files, folders and patterns, as for `find_parts`: a row per image with a list, or a row per caption.
        systems: the same of each system's candidates, by its name.
        image_id: column of the image ids in all inputs; by default the one that the format of each file has.
        references_column: column of the references, likewise.
        caption_column: column of the candidates, likewise.
        on_missing: what an image without candidate means: an `error`; `skip` leaves it out, for all systems; `zero`
            gives it an empty candidate.
        on_bad_file: what a file means that cannot be read: an `error`, or `skip` leaves it out.
        sets: whether images may have several candidates, which are caption sets.
        shards: how many there are; by default as many as let each fit into memory.

    Raises:
        DataError: an input cannot be read; or images lack references or candidates, or have several candidates.
    """
    sides = [Side("the references", ChosenColumns(image_id, references_column, (), caption_column))]
    for name in systems:
        called = f"system {name!r}" if len(systems) > 1 else "the candidates"
        sides.append(Side(called, ChosenColumns(image_id, None, (caption_column,))))
    bad: list[BadRow] = []
    given = bad if on_bad_file == "skip" else None
    inputs = [find_parts(own, bad=given) for own in (references, *systems.values())]
    work = [(side, part) for side, parts in enumerate(inputs) for part in parts]
    side_of = {number: side for number, (side, _) in enumerate(work)}
    parts = [replace(part, number=number) for number, (_, part) in enumerate(work)]
    size = sum(part.bytes for part in parts)
    count = shards or min(1 + size // _SHARD_BYTES, _MOST_SHARDS)
    finish = bound(joined, len(systems), on_missing=on_missing, sets=sets)
    shuffle = Shuffle(count, _together, finish)
    for _, own in engine.map(bound(split, sides, side_of, count, on_bad_file), parts, shuffle=shuffle):
        bad += own
    about, found = fingerprint(parts), []
    made: list[Part] = []
    for number, (shard, table) in enumerate(engine.gather(shuffle)):
        found.append(shard)
        if shard.rows:
            made.append(Part(len(made), JOINED, JOINED, number, None, shard.bytes, shard.rows, 0, about, table))
    _check(found, [side.name for side in sides], on_missing)
    return Joined(
        made,
        joined_columns(len(systems)),
        sorted(bad, key=lambda one: (one.file, one.row or 0)),
        sum(one.left_out for one in found),
    )


JOINED = "joined"


def joined_columns(systems: int) -> ChosenColumns:
    """The columns of joined rows."""
    return ChosenColumns("image_id", _REFERENCES, tuple(f"candidates{number}" for number in range(systems)))


def split(sides: Sequence[Side], side_of: Mapping[int, int], shards: int, on_bad_file: str, part: Part) -> list[Any]:
    """The rows of a part that cannot be used, then the pieces for each shard; `side_of` goes by numbers of parts."""
    side = side_of[part.number]
    try:
        bad, pieces = _split(sides[side].columns, shards, part)
    except DataError as error:
        if on_bad_file == "error":
            raise
        bad, pieces = [BadRow.of_file(part.file, error)], [None] * shards
    return [bad, *([Piece(side, part.number, own)] if own is not None else [] for own in pieces)]


def _split(columns: ChosenColumns, shards: int, part: Part) -> tuple[list[BadRow], list[pyarrow.Table | None]]:
    import numpy as np
    import pyarrow

    bad: list[BadRow] = []
    waiting: list[list[pyarrow.Table]] = [[] for _ in range(shards)]
    lists = pyarrow.large_list(pyarrow.large_string())
    for batch in batches(part, columns):
        bad += batch.bad
        captions = batch.references if batch.references is not None else batch.captions[0]
        if not (pyarrow.types.is_list(captions.type) or pyarrow.types.is_large_list(captions.type)):
            offsets = pyarrow.array(range(len(captions) + 1), type=pyarrow.int64())
            captions = pyarrow.LargeListArray.from_arrays(offsets, captions.cast(pyarrow.large_string()))
        ids = batch.image_ids.cast(pyarrow.large_string())
        table = pyarrow.table([ids, captions.cast(lists)], names=["image_id", "captions"])
        places = np.frombuffer(_core.image_keys(ids), dtype="<u8") % np.uint64(shards)
        for shard in np.unique(places):
            waiting[int(shard)].append(table.take(pyarrow.array(np.flatnonzero(places == shard))))
    return bad, [pyarrow.concat_tables(own) if own else None for own in waiting]


def _together(*pieces: list[Piece]) -> list[Piece]:
    return [piece for own in pieces for piece in own]


def joined(
    systems: int, *pieces: list[Piece], on_missing: str = "error", sets: bool = False
) -> tuple[Shard, pyarrow.Table | None]:
    """Joins the rows of a shard: those of images that have what they need."""
    import numpy as np
    import pyarrow
    import pyarrow.compute as pc

    def of(ids: pyarrow.Array, chosen: Any) -> Some:
        places = np.flatnonzero(chosen)
        return Some(len(places), ids.take(pyarrow.array(places[:_NAMED])).to_pylist())

    in_order = sorted(_together(*pieces), key=lambda piece: piece.part)
    (ids, described), *others = (
        _grouped([piece.rows for piece in in_order if piece.side == side]) for side in range(1 + systems)
    )
    has_some = pc.greater(pc.list_value_length(described), 0)
    ids, described = ids.filter(has_some), described.filter(has_some)
    kept = np.ones(len(ids), dtype=bool)
    images, columns = [Images(of(ids, kept), Some(), Some(), Some())], []
    for own_ids, captions in others:
        places = pc.index_in(ids, value_set=own_ids)
        missing = np.asarray(places.is_null())
        several = np.asarray(pc.list_value_length(captions)) > (1 if not sets else np.inf)
        extra = np.asarray(pc.index_in(own_ids, value_set=ids).is_null())
        everyone = np.ones(len(own_ids), dtype=bool)
        images.append(Images(of(own_ids, everyone), of(own_ids, extra), of(ids, missing), of(own_ids, several)))
        if on_missing == "skip":
            kept &= ~missing
        empty = pyarrow.array([[""]], type=captions.type)
        columns.append(pyarrow.concat_arrays([captions, empty]).take(places.fill_null(len(own_ids))))
    wrong = any(own.extra.count or own.repeated.count for own in images)
    wrong = wrong or (on_missing == "error" and any(own.missing.count for own in images))
    found = Shard(images, int(np.count_nonzero(~kept)))
    if wrong or not kept.any():
        return found, None
    if not sets:
        columns = [one.flatten() for one in columns]
    table = pyarrow.table(
        [ids, described, *columns], names=["image_id", _REFERENCES, *joined_columns(systems).captions]
    )
    table = table.filter(pyarrow.array(kept))
    return found._replace(rows=table.num_rows, bytes=table.nbytes), table


def _grouped(tables: Sequence[pyarrow.Table]) -> tuple[pyarrow.Array, pyarrow.Array]:
    """The ids in order of first mention, and all captions of each, in order."""
    import pyarrow
    import pyarrow.compute as pc

    if not tables:
        lists = pyarrow.large_list(pyarrow.large_string())
        return pyarrow.array([], type=pyarrow.large_string()), pyarrow.array([], type=lists)
    table = pyarrow.concat_tables(tables).combine_chunks()
    ids, lists = (table.column(name).combine_chunks() for name in ("image_id", "captions"))
    if pc.count_distinct(ids).as_py() == len(ids):
        return ids, lists
    texts = pyarrow.table([ids.take(pc.list_parent_indices(lists)), lists.flatten()], names=["image_id", "captions"])
    grouped = texts.group_by("image_id", use_threads=False).aggregate([("captions", "list")])  # threads mix the order
    return grouped["image_id"].combine_chunks(), grouped["captions_list"].combine_chunks()


def _check(found: Sequence[Shard], names: Sequence[str], on_missing: str) -> None:
    """Raises `DataError` for what is an error, over all shards."""
    totals = [Images(Some(), Some(), Some(), Some()) for _ in names]
    for shard in found:
        for total, images in zip(totals, shard.images, strict=True):
            for one, own in zip(total, images, strict=True):
                one.add(own)
    references, described = names[0], totals[0].there
    for name, (there, extra, missing, repeated) in zip(names[1:], totals[1:], strict=True):
        if extra.count and extra.count == there.count and described.count:
            raise DataError(
                f"{name}: none of its {there.count:,} images is in {references}: it has {extra}, the references have "
                f"{described}; {remedies.for_other_ids(described.first, extra.first)}"
            )
        if extra.count:
            raise DataError(f"{name}: candidate for {extra}, not in {references}; {remedies.for_extra()}")
        if repeated.count:
            raise DataError(f"{name}: more than one candidate for {repeated}; {remedies.for_repeated()}")
        if missing.count and on_missing == "error":
            raise DataError(f"{name}: no candidate for {missing}; {remedies.for_missing()}")
