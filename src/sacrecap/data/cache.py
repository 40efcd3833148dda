"""Results that took long to compute, kept in a database in the user's cache folder.

Several processes may use it at once: each transaction is short, and waits for those of other processes. The journal is
SQLite's default and not a write-ahead log, which must write even to read, and fails on network drives. A database that
cannot be used costs time, not the result: one warning says why, and the results of this process are not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from sacrecap.data.source import in_cache
from sacrecap.errors import warn

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """Results by their origin (`scope`: another version of what computed them gives others) and a key. Subclasses name
    the table and say how results are stored.

    After the first failure nothing more is kept; after a failure to read, nothing more is read.
    """

    what: ClassVar[str]
    """The results' name in messages: `the cache of {what}`."""
    again: ClassVar[str]
    """What must be done again if nothing is kept, in words."""
    table: ClassVar[str]
    columns: ClassVar[tuple[str, str, str]]
    """The columns of the scope, the key and the result, each `NAME TYPE`."""
    replaces: ClassVar[bool] = False
    """Whether a result that is kept again replaces the existing one."""

    def __init__(self, path: str, scope: str) -> None:
        self.path = path
        self.scope = scope
        self.readable = self.writable = True

    def stored(self, value: V) -> Any:
        """The result in SQLite's form."""
        raise NotImplementedError

    def loaded(self, stored: Any) -> V | None:
        """The stored result; None for a damaged one, to be computed again. After an error, all are damaged."""
        raise NotImplementedError

    def find(self, keys: Sequence[K]) -> dict[K, V]:
        """The results that are in the cache."""
        results: dict[K, V] = {}
        if not self.readable or not os.path.exists(self.path):
            return results
        scope, key, value = (column.split()[0] for column in self.columns)
        with self._guard(), self._opened() as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (self.table,)).fetchone():
                return results
            remaining = iter(dict.fromkeys(keys))
            while some := list(islice(remaining, 500)):  # SQLite takes 999 parameters in its older versions
                marks = ", ".join("?" * len(some))
                query = f"SELECT {key}, {value} FROM {self.table} WHERE {scope} = ? AND {key} IN ({marks})"  # noqa: S608
                for result_key, stored in database.execute(query, (self.scope, *some)):
                    loaded = self.loaded(stored)
                    if loaded is not None:
                        results[result_key] = loaded
        return results

    def keep(self, results: Mapping[K, V]) -> None:
        """Adds the results, all or none."""
        if not self.writable or not results:
            return
        names = [column.split()[0] for column in self.columns]
        declared = ", ".join(f"{column} NOT NULL" for column in self.columns)
        with self._guard(writing=True):
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with self._opened() as database:
                database.execute(
                    f"CREATE TABLE IF NOT EXISTS {self.table} ({declared}, PRIMARY KEY ({names[0]}, {names[1]})) "
                    "WITHOUT ROWID"
                )
                database.execute("BEGIN IMMEDIATE")
                database.executemany(
                    f"INSERT OR {'REPLACE' if self.replaces else 'IGNORE'} INTO {self.table} VALUES (?, ?, ?)",  # noqa: S608
                    ((self.scope, key, self.stored(value)) for key, value in results.items()),
                )
                database.execute("COMMIT")

    def _opened(self) -> contextlib.closing[sqlite3.Connection]:
        return contextlib.closing(sqlite3.connect(self.path, timeout=60, isolation_level=None))

    @contextlib.contextmanager
    def _guard(self, *, writing: bool = False) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            is_refused = isinstance(error, (OSError, sqlite3.OperationalError, sqlite3.InterfaceError))
            remedy = "free space there or make it writable, or choose another place by XDG_CACHE_HOME"
            self.failure(error, remedy if is_refused else "the file is damaged, remove it", writing=writing)

    def failure(self, error: Exception, remedy: str, *, writing: bool) -> None:
        """Warns that the cache cannot be used. A subclass may raise."""
        self.readable = self.readable and writing
        self.writable = False
        warn(
            f"{self.path}: the cache of {self.what} cannot be used ({error}); scores are right, but {self.again}: "
            f"{remedy}"
        )


WORTH_KEEPING = 1000
"""Results about texts are kept only if at least this many are made at once: fewer are computed as fast as looked up,
and a training run that scores one batch per step would fill the disk.
"""


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
    is_worth_keeping = len(digests) >= WORTH_KEEPING
    cache = kept_features(scope)
    remaining = iter(digests)
    while piece := list(islice(remaining, at_once)):
        results = cache.find([digests[key] for key in piece]) if is_worth_keeping else {}
        rest = [key for key in piece if digests[key] not in results]
        new = {digests[key]: vector for key, vector in zip(rest, make(rest), strict=True)}
        if is_worth_keeping:
            cache.keep(new)
        results |= new
        yield {key: results[digests[key]] for key in piece}


def kept_features(scope: str) -> KeptFeatures:
    """Those of the database in the user's cache folder."""
    return KeptFeatures(in_cache("features.sqlite"), scope)


def digest(content: bytes | str) -> bytes:
    """What identifies a file or a text."""
    return hashlib.sha256(content if isinstance(content, bytes) else content.encode()).digest()
