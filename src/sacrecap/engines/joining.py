"""Two inputs joined by image id: references, which may be a row per caption, and the candidates of each system.

A shuffle brings the rows of an image together; then each shard is joined by itself. Memory holds one shard. Where no
candidate is of an image of the references, both are read again: by other columns of ids, then by parts of the ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial as bound
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap import _core
from sacrecap.data import remedies
from sacrecap.data.image_ids import key, no_number
from sacrecap.data.partitioned import (
    RECOGNISED,
    BadRow,
    ChosenColumns,
    Part,
    batches,
    find_parts,
    fingerprint,
    id_columns,
)
from sacrecap.data.source import Reading
from sacrecap.engines.passes import bad_row
from sacrecap.engines.plan import Shuffle
from sacrecap.errors import DataError, option, some

if TYPE_CHECKING:
    import pyarrow

    from sacrecap.engines.plan import Engine

_REFERENCES = "references"
_GROUP = "group"
_NAMED = 5
_SHARD_BYTES = 16 << 20
"""Bytes of files that make a shard: about four times as many in memory."""
_MOST_SHARDS = 256


class Side(NamedTuple):
    """One of the inputs that are joined."""

    name: str
    """What messages call it."""
    columns: ChosenColumns
    how: str = "text"
    """The part of an image id by which rows meet: one of `IMAGE_IDS`."""
    must: bool = False
    """Whether an id must have that part, because somebody chose it; it is the id then."""


class Piece(NamedTuple):
    """Rows of a part that belong to a shard."""

    side: int
    part: int
    rows: pyarrow.Table
    """With the columns `image_id` and `captions`: lists; where rows meet by a part of the ids, `own` is the whole; and
    `group`, where there are groups.
    """


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
    spelled: frozenset[str] = frozenset()
    """What is before the numbers of its ids; nothing if rows meet by the whole id."""
    unsure: int = 0
    """Parts of ids that several ids have."""


class Shard(NamedTuple):
    """What came out of a shard."""

    images: list[Images]
    """Of each side."""
    left_out: int
    """Images that some system has no candidate for, which are left out."""
    rows: int = 0
    """Joined rows."""
    bytes: int = 0
    example: tuple[str, str] = ("", "")
    """The least id of an image, as references and as candidates spell it."""


class Joined(NamedTuple):
    """Joined rows."""

    parts: list[Part]
    columns: ChosenColumns
    """The columns of these parts."""
    bad: list[BadRow]
    """Rows and files of the inputs that cannot be used, which were left out."""
    left_out: int
    """Images that some system has no candidate for, which were left out."""
    matched: tuple[str, str, str] | None = None
    """By which part of the ids images were matched, and an example; None for the whole."""


def join(
    engine: Engine,
    references: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    *,
    image_id: str = RECOGNISED,
    references_column: str = RECOGNISED,
    caption_column: str = RECOGNISED,
    group: str | None = None,
    readings: tuple[Reading, Reading] = (Reading(), Reading()),
    image_ids: str = "text",
    on_missing: str = "error",
    on_extra: str = "error",
    on_duplicate: str = "error",
    on_bad_row: str = "skip",
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
        group: column of what images of a group have in common, in the candidates or the references.
        readings: how the files of references are read, and those of candidates.
        image_ids: which part of image ids is compared; by default all, or, where none meet, what meets.
        on_missing: what an image without candidate means: an `error`; `skip` leaves it out, for all systems; `zero`
            gives it an empty candidate.
        on_extra: what a candidate without references means: an `error`, or `skip` leaves it out.
        on_duplicate: what several candidates of an image mean: an `error`; the `first`, the `last`; `skip` leaves the
            image out, for all systems.
        on_bad_row: what a row means that cannot be used: an `error`, or `skip` leaves it out.
        on_bad_file: the same of a file that cannot be read.
        sets: whether images may have several candidates, which are caption sets.
        shards: how many there are; by default as many as let each fit into memory.

    Raises:
        DataError: an input cannot be read; or images lack references or candidates, or have several candidates.
    """
    chosen: dict[str, Any] = {"how": image_ids, "must": image_ids != "text"}
    columns = ChosenColumns(image_id, references_column, (), caption_column, group)
    sides = [Side("the references", columns, **chosen)]
    for name in systems:
        called = f"system {name!r}" if len(systems) > 1 else "the candidates"
        sides.append(Side(called, ChosenColumns(image_id, None, (caption_column,), group=group), **chosen))
    bad: list[BadRow] = []
    given = bad if on_bad_file == "skip" else None
    described, captioned = readings
    inputs = [find_parts(references, reading=described, bad=given)]
    inputs += [find_parts(own, reading=captioned, bad=given) for own in systems.values()]
    how_joined: dict[str, Any] = {"on_missing": on_missing, "on_duplicate": on_duplicate, "sets": sets}
    finish = bound(joined, len(systems), **how_joined, grouped=group is not None, must=image_ids != "text")
    first = found, _, _ = _met(engine, sides, inputs, finish, on_bad_file, shards)
    how = "text"
    if image_ids == "text" and not _meet(found):
        for how, own in _otherwise(sides, inputs):
            found, made, rows = _met(engine, own, inputs, finish, on_bad_file, shards)
            if _meet(found) if how == "text" else _is_sure(found, how):
                break
        else:
            how, (found, made, rows) = "text", first
    else:
        _, made, rows = first
    if rows and on_bad_row == "error":
        raise bad_row(min(rows, key=lambda one: (one.file, one.row or 0)))
    _check(found, [side.name for side in sides], on_missing, on_extra, image_ids)
    examples = [one.example for one in found if one.rows]
    return Joined(
        made,
        joined_columns(len(systems), group is not None),
        sorted([*bad, *rows], key=lambda one: (one.file, one.row or 0)),
        sum(one.left_out for one in found),
        None if how == "text" else (how, *min(examples)),
    )


def _met(
    engine: Engine,
    sides: Sequence[Side],
    inputs: Sequence[Sequence[Part]],
    finish: Any,
    on_bad_file: str,
    shards: int | None,
) -> tuple[list[Shard], list[Part], list[BadRow]]:
    """The shards, parts of joined rows, and the rows that cannot be used."""
    work = [(side, part) for side, parts in enumerate(inputs) for part in parts]
    side_of = {number: side for number, (side, _) in enumerate(work)}
    parts = [replace(part, number=number) for number, (_, part) in enumerate(work)]
    size = sum(part.bytes for part in parts)
    count = shards or min(1 + size // _SHARD_BYTES, _MOST_SHARDS)
    shuffle = Shuffle(count, _together, finish)
    bad: list[BadRow] = []
    for _, own in engine.map(bound(split, sides, side_of, count, on_bad_file), parts, shuffle=shuffle):
        bad += own
    about, found = fingerprint(parts), []
    made: list[Part] = []
    for number, (shard, table) in enumerate(engine.gather(shuffle)):
        found.append(shard)
        if shard.rows:
            made.append(Part(len(made), JOINED, JOINED, number, None, shard.bytes, shard.rows, 0, about, table))
    return found, made, bad


def _otherwise(sides: Sequence[Side], inputs: Sequence[Sequence[Part]]) -> Iterator[tuple[str, list[Side]]]:
    """How rows could meet that do not meet by their first columns of ids, in the order of the local engine."""
    described, *others = sides
    if described.columns.image_id == RECOGNISED:
        of_references, of_systems = (list(id_columns(parts[0])[1:]) if parts else [] for parts in inputs[:2])
        for name in of_systems:
            yield "text", [described, *(_with_ids(side, name) for side in others)]
        for name in of_references:
            yield "text", [_with_ids(described, name), *others]
    for how in ("stem", "number"):
        yield how, [side._replace(how=how) for side in sides]


def _with_ids(side: Side, name: str) -> Side:
    return side._replace(columns=side.columns._replace(image_id=name))


def _meet(found: Sequence[Shard]) -> bool:
    """Whether some candidate of each system is of an image of the references; or nothing is there that could."""
    described, *systems = zip(*(shard.images for shard in found), strict=True)
    return not any(own.there.count for own in described) or all(
        any(own.there.count > own.extra.count for own in system) or not any(own.there.count for own in system)
        for system in systems
    )


def _is_sure(found: Sequence[Shard], how: str) -> bool:
    """Whether each candidate is of one image by that part of the ids: see `image_ids.same_images`."""
    every = [images for shard in found for images in shard.images]
    if any(images.unsure or images.extra.count for images in every):
        return False
    before = [
        frozenset().union(*(own.spelled for own in side)) for side in zip(*(s.images for s in found), strict=True)
    ]
    return how == "stem" or (all(len(own) == 1 for own in before) and {""} in before)


JOINED = "joined"


def joined_columns(systems: int, grouped: bool = False) -> ChosenColumns:
    """The columns of joined rows."""
    captions = tuple(f"candidates{number}" for number in range(systems))
    return ChosenColumns("image_id", _REFERENCES, captions, group=_GROUP if grouped else None)


def split(sides: Sequence[Side], side_of: Mapping[int, int], shards: int, on_bad_file: str, part: Part) -> list[Any]:
    """The rows of a part that cannot be used, then the pieces for each shard; `side_of` goes by numbers of parts."""
    side = side_of[part.number]
    try:
        bad, pieces = _split(sides[side], shards, part)
    except DataError as error:
        if on_bad_file == "error":
            raise
        bad, pieces = [BadRow.of_file(part.file, error)], [None] * shards
    return [bad, *([Piece(side, part.number, own)] if own is not None else [] for own in pieces)]


def _split(side: Side, shards: int, part: Part) -> tuple[list[BadRow], list[pyarrow.Table | None]]:
    import numpy as np
    import pyarrow

    bad: list[BadRow] = []
    waiting: list[list[pyarrow.Table]] = [[] for _ in range(shards)]
    lists = pyarrow.large_list(pyarrow.large_string())
    for batch in batches(part, side.columns):
        if side.must:
            batch = batch.without(_without_part(batch.image_ids.to_pylist(), side.how), part)  # noqa: PLW2901
        bad += batch.bad
        captions = batch.references if batch.references is not None else batch.captions[0]
        if not (pyarrow.types.is_list(captions.type) or pyarrow.types.is_large_list(captions.type)):
            offsets = pyarrow.array(range(len(captions) + 1), type=pyarrow.int64())
            captions = pyarrow.LargeListArray.from_arrays(offsets, captions.cast(pyarrow.large_string()))
        ids = batch.image_ids.cast(pyarrow.large_string())
        rows = {"image_id": ids, "captions": captions.cast(lists)}
        if side.how != "text":
            ids = pyarrow.array([key(image, side.how) or image for image in ids.to_pylist()], pyarrow.large_string())
            rows = {**rows, "image_id": ids, "own": rows["image_id"]}
        if side.columns.group is not None:
            none = pyarrow.nulls(len(ids), pyarrow.large_string())
            rows[_GROUP] = none if batch.groups is None else batch.groups
        table = pyarrow.table(rows)
        places = np.frombuffer(_core.image_keys(ids), dtype="<u8") % np.uint64(shards)
        for shard in np.unique(places):
            waiting[int(shard)].append(table.take(pyarrow.array(np.flatnonzero(places == shard))))
    return bad, [pyarrow.concat_tables(own) if own else None for own in waiting]


def _without_part(images: Sequence[str], how: str) -> dict[int, str]:
    """Places of ids without the part that is compared, and what is wrong."""
    return {place: no_number("its id") for place, image in enumerate(images) if key(image, how) is None}


def _together(*pieces: list[Piece]) -> list[Piece]:
    return [piece for own in pieces for piece in own]


def joined(
    systems: int,
    *pieces: list[Piece],
    on_missing: str = "error",
    on_duplicate: str = "error",
    sets: bool = False,
    grouped: bool = False,
    must: bool = False,
) -> tuple[Shard, pyarrow.Table | None]:
    """Joins the rows of a shard: those of images that have what they need."""
    import numpy as np
    import pyarrow
    import pyarrow.compute as pc

    def of(ids: pyarrow.Array, chosen: Any) -> Some:
        places = np.flatnonzero(chosen)
        return Some(len(places), ids.take(pyarrow.array(places[:_NAMED])).to_pylist())

    in_order = sorted(_together(*pieces), key=lambda piece: piece.part)
    tables = [[piece.rows for piece in in_order if piece.side == side] for side in range(1 + systems)]
    spelled = [_spelled(own) for own in tables]
    (ids, described), *others = map(_grouped, tables)
    has_some = pc.greater(pc.list_value_length(described), 0)
    ids, described = ids.filter(has_some), described.filter(has_some)
    if on_duplicate != "error":
        others, repeated = _single([*others], on_duplicate)
        is_left = pc.invert(pc.is_in(ids, value_set=repeated))
        ids, described = ids.filter(is_left), described.filter(is_left)
    kept = np.ones(len(ids), dtype=bool)
    images, columns = [Images(of(ids, kept), Some(), Some(), Some(), *spelled[0].about)], []
    for (own_ids, captions), own_spelled in zip(others, spelled[1:], strict=True):
        places = pc.index_in(ids, value_set=own_ids)
        missing = np.asarray(places.is_null())
        several = np.asarray(pc.list_value_length(captions)) > (1 if not sets else np.inf)
        extra = np.asarray(pc.index_in(own_ids, value_set=ids).is_null())
        everyone = np.ones(len(own_ids), dtype=bool)
        counts = of(own_ids, everyone), of(own_ids, extra), of(ids, missing), of(own_ids, several)
        images.append(Images(*counts, *own_spelled.about))
        if on_missing == "skip":
            kept &= ~missing
        empty = pyarrow.array([[""]], type=captions.type)
        columns.append(pyarrow.concat_arrays([captions, empty]).take(places.fill_null(len(own_ids))))
    wrong = any(own.repeated.count for own in images)
    wrong = wrong or (on_missing == "error" and any(own.missing.count for own in images))
    found = Shard(images, int(np.count_nonzero(~kept)))
    if wrong or not kept.any():
        return found, None
    if not sets:
        columns = [one.flatten() for one in columns]
    example = ("", "")
    if spelled[0].own and not must:
        names = [spelled[0].own[one] for one in ids.to_pylist()]
        least = min(range(len(names)), key=names.__getitem__)
        example = names[least], spelled[1].own.get(ids[least].as_py(), "")
        ids = pyarrow.array(names, pyarrow.large_string())
    groups = [_groups(ids, tables)] if grouped else []
    table = pyarrow.table(
        [ids, described, *columns, *groups],
        names=["image_id", _REFERENCES, *joined_columns(systems).captions, *([_GROUP] if grouped else [])],
    )
    table = table.filter(pyarrow.array(kept))
    return found._replace(rows=table.num_rows, bytes=table.nbytes, example=example), table


def _single(
    systems: Sequence[tuple[pyarrow.Array, pyarrow.Array]], on_duplicate: str
) -> tuple[list[tuple[pyarrow.Array, pyarrow.Array]], pyarrow.Array]:
    """One candidate of each image, the first or the last; or none, and the images that have several."""
    import numpy as np
    import pyarrow
    import pyarrow.compute as pc

    found, repeated = [], [pyarrow.array([], pyarrow.large_string())]
    for ids, captions in systems:
        several = pc.greater(pc.list_value_length(captions), 1)
        if on_duplicate == "skip":
            repeated.append(ids.filter(several))
            found.append((ids.filter(pc.invert(several)), captions.filter(pc.invert(several))))
            continue
        ends = np.cumsum(np.asarray(pc.list_value_length(captions)))
        places = np.concatenate([[0], ends[:-1]]) if on_duplicate == "first" else ends - 1
        chosen = captions.flatten().take(pyarrow.array(places[: len(captions)]))
        offsets = pyarrow.array(range(len(captions) + 1), type=pyarrow.int64())
        found.append((ids, pyarrow.LargeListArray.from_arrays(offsets, chosen)))
    return found, pyarrow.concat_arrays(repeated)


def _groups(ids: pyarrow.Array, tables: Sequence[Sequence[pyarrow.Table]]) -> pyarrow.Array:
    """The group of each image: the first that candidates have, or references."""
    import pyarrow

    known: dict[str, str] = {}
    described, *others = tables
    for rows in (rows for own in (*others, described) for rows in own):
        for image, group in zip(rows.column("image_id").to_pylist(), rows.column(_GROUP).to_pylist(), strict=True):
            if group is not None:
                known.setdefault(image, group)
    return pyarrow.array([known.get(image) for image in ids.to_pylist()], pyarrow.large_string())


class _Spelled(NamedTuple):
    """How the ids are spelled by a part of which rows meet; nothing if they meet by the whole."""

    own: dict[str, str]
    """The id of each part."""
    about: tuple[frozenset[str], int]
    """See `Images`."""


def _spelled(tables: Sequence[pyarrow.Table]) -> _Spelled:
    if not tables or "own" not in tables[0].column_names:
        return _Spelled({}, (frozenset(), 0))
    keys, own = ([one for rows in tables for one in rows.column(name).to_pylist()] for name in ("image_id", "own"))
    pairs = {*zip(keys, own, strict=True)}
    before = frozenset(re.sub(r"[0-9]+$", "", key(one, "stem") or "") for one in own)
    return _Spelled(dict(pairs), (before, len(pairs) - len({*keys})))


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


def _check(found: Sequence[Shard], names: Sequence[str], on_missing: str, on_extra: str, image_ids: str) -> None:
    """Raises `DataError` for what is an error, over all shards."""
    if image_ids != "text" and any(images.unsure for shard in found for images in shard.images):
        raise DataError(
            f"different image ids are the same by {option('image_ids', image_ids)}; compare more of the ids: "
            f"{option('image_ids', *(['stem', 'text'] if image_ids == 'number' else ['text']))}"
        )
    totals = [Images(Some(), Some(), Some(), Some()) for _ in names]
    for shard in found:
        for total, images in zip(totals, shard.images, strict=True):
            for one, own in zip(total[:4], images[:4], strict=True):
                one.add(own)
    references, described = names[0], totals[0].there
    for name, (there, extra, missing, repeated, *_) in zip(names[1:], totals[1:], strict=True):
        if extra.count and extra.count == there.count and described.count:
            raise DataError(
                f"{name}: none of its {there.count:,} images is in {references}: it has {extra}, the references have "
                f"{described}; {remedies.for_other_ids(described.first, extra.first)}"
            )
        if extra.count and on_extra == "error":
            raise DataError(f"{name}: candidate for {extra}, not in {references}; {remedies.for_extra()}")
        if repeated.count:
            raise DataError(f"{name}: more than one candidate for {repeated}; {remedies.for_repeated()}")
        if missing.count and on_missing == "error":
            raise DataError(f"{name}: no candidate for {missing}; {remedies.for_missing()}")
