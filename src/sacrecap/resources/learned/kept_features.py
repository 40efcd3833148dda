"""Finished results of networks, kept in the user's cache folder: vectors of images and texts, scores of pairs."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, TypeVar

from sacrecap.data.places import in_cache
from sacrecap.resources.cache import Cache

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

K = TypeVar("K")

WORTH_KEEPING = 1000
"""Results about texts are kept only if at least this many are made at once: fewer are computed again as fast as they
are looked up, and a training run that scores one batch per step would fill the disk."""


class KeptFeatures(Cache[bytes, "Vector"]):
    """Vectors of float32 by the digest of their input, within a scope: the model, its precision, the kind of result.

    Each is stored with a checksum; a damaged one is computed again.
    """

    what: ClassVar[str] = "networks' results"
    again: ClassVar[str] = "what is computed now will be computed again next time"
    table: ClassVar[str] = "features"
    columns: ClassVar[tuple[str, str, str]] = ("scope TEXT", "digest BLOB", "vector BLOB")
    replaces: ClassVar[bool] = True

    def stored(self, value: Vector) -> bytes:
        content = value.astype("<f4").tobytes()
        return zlib.crc32(content).to_bytes(4, "little") + content

    def loaded(self, stored: bytes) -> Vector | None:
        import numpy as np

        sum_, content = stored[:4], stored[4:]
        if not content or len(content) % 4 or zlib.crc32(content).to_bytes(4, "little") != sum_:
            return None
        return np.frombuffer(content, dtype="<f4")


def through_cache(
    scope: str, digests: Mapping[K, bytes], make: Callable[[list[K]], Iterable[Vector]], *, at_once: int
) -> Iterator[dict[K, Vector]]:
    """A result for each input, given by its digest, `at_once` at a time, so that an interrupted run continues.

    Many are taken from the cache, where they are in it, and kept there; `make` computes the others.
    """
    kept = len(digests) >= WORTH_KEEPING
    cache = KeptFeatures(path(), scope)
    remaining = iter(digests)
    while piece := list(islice(remaining, at_once)):
        found = cache.find([digests[one] for one in piece]) if kept else {}
        rest = [one for one in piece if digests[one] not in found]
        new = {digests[one]: made for one, made in zip(rest, make(rest), strict=True)}
        if kept:
            cache.keep(new)
        found |= new
        yield {one: found[digests[one]] for one in piece}


def path() -> str:
    """The database in the user's cache folder."""
    return in_cache("features.sqlite")


def digest(content: bytes | str) -> bytes:
    """What identifies a file or a text."""
    return hashlib.sha256(content if isinstance(content, bytes) else content.encode()).digest()
