"""What the program has answered, kept in a database of the user's cache folder.

Several processes may use it at once: each transaction is short, and waits for those of others. The journal is SQLite's
default and not a write-ahead log, which needs to write where it only reads and fails on network drives. A database that
cannot be used costs time, not the result: one warning says why, and the answers of this process are not kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from capeval.errors import warn

Side = tuple[str, ...]
"""The captions of one side of the comparison: a candidate, or all references of an image, in their order."""
Tuples = tuple[tuple[str, ...], ...]
"""The scene graph of a side: (object), (object, attribute), (object, relation, object)."""

_PATIENCE = 60.0
"""Seconds to wait for other processes."""
_AT_ONCE = 500
"""Number of keys in a query: SQLite takes 999 parameters in its older versions."""
_TABLE = """CREATE TABLE IF NOT EXISTS graphs (
    program TEXT NOT NULL, captions TEXT NOT NULL, tuples TEXT NOT NULL, PRIMARY KEY (program, captions)
) WITHOUT ROWID"""


class Cache:
    """Scene graphs by the program's version and the captions.

    After the first failure nothing more is kept; after a failure to read, nothing more is read.

    Args:
        path: the database; made when something is kept first.
        program: version of the program whose answers these are.
    """

    def __init__(self, path: str, program: str) -> None:
        self.path = path
        self.program = program
        self.readable = self.writable = True

    def find(self, sides: Sequence[Side]) -> dict[Side, Tuples]:
        """The graphs that are there."""
        found: dict[Side, Tuples] = {}
        if not self.readable or not os.path.exists(self.path):
            return found
        with self._guard(), self._opened() as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'graphs'").fetchone():
                return found
            keys = {_text(side): side for side in sides}
            for some in _pieces(list(keys), _AT_ONCE):
                marks = ", ".join("?" * len(some))
                query = f"SELECT captions, tuples FROM graphs WHERE program = ? AND captions IN ({marks})"  # noqa: S608
                for key, tuples in database.execute(query, (self.program, *some)):
                    found[keys[key]] = tuple(map(tuple, json.loads(tuples)))
        return found

    def keep(self, graphs: Mapping[Side, Tuples]) -> None:
        """Adds the graphs, all or none."""
        if not self.writable or not graphs:
            return
        with self._guard(writing=True):
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with self._opened() as database:
                database.execute(_TABLE)
                database.execute("BEGIN IMMEDIATE")
                database.executemany(
                    "INSERT OR IGNORE INTO graphs VALUES (?, ?, ?)",
                    ((self.program, _text(side), _text(tuples)) for side, tuples in graphs.items()),
                )
                database.execute("COMMIT")

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as database:
            yield database

    @contextlib.contextmanager
    def _guard(self, *, writing: bool = False) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self.readable = self.readable and writing
            self.writable = False
            warn(
                f"{self.path}: the cache of SPICE's scene graphs cannot be used ({error}); scores are right, but what "
                f"is parsed now will be parsed again next time: {_remedy(error)}"
            )


def _remedy(error: Exception) -> str:
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return "remove the file, it is damaged"
    if isinstance(error, (ValueError, TypeError)):
        return "remove the file, it is damaged"
    return "free space there or make it writable, or choose another place by XDG_CACHE_HOME"


def _text(value: Side | Tuples) -> str:
    """JSON in ASCII: lone surrogates, which a caption may hold, are no text for SQLite."""
    return json.dumps(value, separators=(",", ":"))


def _pieces(items: list[str], size: int) -> Iterable[list[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def path() -> str:
    """The database in the user's cache folder."""
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("capeval"), "spice-stanford.sqlite")
