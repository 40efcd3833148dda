"""Image ids that are in the input several times: their hashes are equal, which a shuffle finds without the ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial as bound
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.engines.plan import Shuffle
from sacrecap.errors import DataError, some

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.data.partitioned import Batch, Part
    from sacrecap.engines.plan import Engine

    Keys = npt.NDArray[np.uint64]

_SHARD_BYTES = 4 << 30
"""Bytes of input whose hashes, 8 bytes per image, a worker sorts at once."""
_MOST_SHARDS = 256
_LOOKED_AT = 100
"""Hashes that come several times of which the ids are looked at; of the others, it is only known how many there are."""


def shuffle_of_ids(parts: Sequence[Part]) -> Shuffle:
    """Brings equal hashes of ids together; of each shard it tells what `repeated` does."""
    shards = min(1 + sum(part.bytes for part in parts) // _SHARD_BYTES, _MOST_SHARDS)
    return Shuffle(shards, _together, _finished)


def _together(*pieces: Keys) -> Keys:
    import numpy as np

    return np.concatenate(pieces)


def _finished(*pieces: Keys) -> tuple[tuple[int, list[int]], None]:
    return repeated(_together(*pieces)), None


def split_keys(keys: Iterable[bytes], shards: int) -> list[Keys]:
    """The hashes of a part's ids (uint64), a piece for each shard."""
    import numpy as np

    every = np.frombuffer(b"".join(keys), dtype="<u8")
    return [every[every % shards == shard] for shard in range(shards)] if shards > 1 else [every]


def repeated(keys: Keys) -> tuple[int, list[int]]:
    """How many hashes are there several times, and the smallest of them."""
    import numpy as np

    keys = np.sort(keys)
    several = np.unique(keys[1:][keys[1:] == keys[:-1]])
    return len(several), several[:_LOOKED_AT].tolist()


def check_duplicates(
    engine: Engine,
    read: Callable[[Part], Iterator[Batch]],
    parts: Sequence[Part],
    found: Iterable[tuple[int, list[int]]],
) -> None:
    """Raises `DataError` for ids that are there several times; it names files and rows of the first.

    Args:
        engine: reads the parts again, where hashes are equal: different ids may have the same.
        read: the rows of a part.
        parts: the input.
        found: what `repeated` said of each shard.
    """
    found = list(found)
    count = sum(own for own, _ in found)
    if not count:
        return
    looked_at = sorted(key for _, keys in found for key in keys)[:_LOOKED_AT]
    places: dict[str, list[tuple[int, int]]] = {}
    for part, own in engine.map(bound(ids_of, read, frozenset(looked_at)), parts):
        for image, row in own:
            places.setdefault(image, []).append((part.number, row))
    several = sorted((sorted(own), image) for image, own in places.items() if len(own) > 1)
    if not several:
        return
    from sacrecap.data.partitioned.text import rows_before

    by_number = {part.number: part for part in parts}
    rows, image = several[0]
    shown = " and ".join(f"{by_number[part].file}, row {rows_before(by_number[part]) + row}" for part, row in rows[:2])
    shown += f" and {len(rows) - 2:,} more rows" if len(rows) > 2 else ""
    count += len(several) - len(looked_at)
    named = some([image for _, image in several] + [""] * (count - len(several)))
    raise DataError(
        f"the input has {named} several times: {image} in {shown}; give each image in one row, or references and "
        "candidates as inputs of their own, which are joined by image id"
    )


def ids_of(read: Callable[[Part], Iterator[Batch]], keys: frozenset[int], part: Part) -> list[tuple[str, int]]:
    """The ids of a part that have one of these hashes, with their rows."""
    import numpy as np

    wanted = np.array(sorted(keys), dtype=np.uint64)
    found: list[tuple[str, int]] = []
    for batch in read(part):
        own = np.frombuffer(_core.image_keys(batch.image_ids), dtype="<u8")
        places = np.flatnonzero(np.isin(own, wanted)).tolist()
        found += [(str(batch.image_ids[place].as_py()), int(batch.rows[place])) for place in places]
    return found
