"""One SQLite file: read and write transactions, and its tables.

A handler opens the transaction that it needs and answers after the block has ended, so everything that was acknowledged
was committed. Writers wait for a lock of this process before they ask for the lock of the file: SQLite's busy handler
only polls, and a long sleep between polls makes a slow page.

Nothing waits for long. If another program holds the file's lock, a few writers wait for it and the others are refused
at once, so that threads are left for readers, which SQLite does not block. `sacrecap_server.web.security` says what
each failure becomes.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event, inspect
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import QueuePool

from sacrecap.errors import DataError
from sacrecap_server.errors import Refused
from sacrecap_server.store.schema import Base

VERSION = 1
"""Of the tables; SQLite keeps it in the file, as `user_version`."""
_BUSY_SECONDS = 10
"""Longest wait for the right to write."""
_STUCK_SECONDS = 1
"""If a writer has waited this long for another program, the others give up, except for the first few."""
_SLOW_SECONDS = 4
"""The same for a writer that has begun and is only slow."""
_WAITING_WHEN_STUCK = 8


class Database:
    """The engine, and the two kinds of transaction."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.engine = create_engine(
            URL.create("sqlite", database=file),
            poolclass=QueuePool,
            pool_size=16,
            max_overflow=-1,
            hide_parameters=True,
            connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
        )
        event.listen(self.engine, "connect", _prepare_sqlite)
        event.listen(self.engine, "begin", _begin_sqlite)
        event.listen(self.engine, "before_cursor_execute", _check_storable)
        self._turns = _Turns()
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        self._writing = self.engine.execution_options(write=True)
        self._writing_sessions = sessionmaker(self._writing, expire_on_commit=False)

    def read(self) -> Session:
        """A transaction that sees one state of the database until its block ends; its changes are discarded."""
        return self._sessions()

    @contextlib.contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that is committed, to the disk, when the block ends without an exception."""
        with self._turns.take(), self._writing_sessions() as session, session.begin():
            session.connection()
            self._turns.begun()
            yield session

    def prepare(self) -> None:
        """Makes the tables in a new file. Raises `DataError` for a file with other tables, or that cannot be opened."""
        try:
            with self._turns.take(), self._writing.begin() as connection:
                version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
                if version == 0 and not inspect(connection).get_table_names():
                    Base.metadata.create_all(connection)
                    connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")
                elif version != VERSION:
                    raise DataError(
                        f"--database {self.file}: another version of sacrecap, or another program, has made its tables "
                        f"(version {version}, and this one needs {VERSION}); use that version, or give another file"
                    )
        except DBAPIError as error:
            raise DataError(f"--database {self.file}: cannot be opened: {error.orig}") from None
        except (Refused, NoConnectionError):
            raise DataError(f"--database {self.file}: cannot be opened: it is too busy") from None

    def close(self) -> None:
        self.engine.dispose()


class _Turns:
    """Writers take turns in the order in which they came: all wait while writing is quick, otherwise only a few do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()
        """Of the writer whose turn it is, and of those that wait; a lock alone would let any of them go first."""
        self._since: float | None = None
        """When the current writer began, or the first of those that wait in vain."""

    @contextlib.contextmanager
    def take(self) -> Iterator[None]:
        """The right to write until the block ends. Raises `Refused` (503) if it does not come in time."""
        turn = threading.Event()
        with self._lock:
            self._queue.append(turn)
            self._queue[0].set()
            waiting = len(self._queue) - 1
        try:
            ends = time.monotonic() + _BUSY_SECONDS
            while not turn.wait(0.2):
                since, now = self._since, time.monotonic()
                is_stuck = since is not None and now - since > _STUCK_SECONDS
                if now >= ends or (is_stuck and waiting > _WAITING_WHEN_STUCK):
                    raise Refused(
                        503,
                        "The database cannot be written now, and nothing was saved. Try again in a few seconds.",
                        retry_after=5,
                    )
            if self._since is None:
                self._since = time.monotonic()
            is_away = False
            try:
                yield
            except OperationalError as error:
                # Another program has the file: whoever is next will not get further.
                is_away = "locked" in str(error.orig)
                raise
            finally:
                if not is_away:
                    self._since = None
        finally:
            with self._lock:
                self._queue.remove(turn)
                if self._queue:
                    self._queue[0].set()

    def begun(self) -> None:
        """Notes that the current writer has the file's lock, so that from now on only its own slowness counts."""
        self._since = time.monotonic() + _SLOW_SECONDS - _STUCK_SECONDS


def _prepare_sqlite(connection: Any, _: object) -> None:
    # The driver's own transaction handling begins too late for snapshots; `_begin_sqlite` begins.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A read transaction that turns into a writing one fails when another wrote in between: writers say so first.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("write", False) else "BEGIN")


def _check_storable(_: Connection, __: object, ___: str, parameters: Any, ____: object, _____: bool) -> None:
    """Refuses values of a request, or of its file, that cannot be stored."""
    # Several rows are a list; in one statement of several rows, they are one row of all values.
    for row in parameters if isinstance(parameters, list) else (parameters,):
        if row and any(unstorable(value) for value in (row.values() if isinstance(row, dict) else row)):
            raise Refused(
                422,
                "A text has a character that cannot be stored (NUL, or half of a surrogate pair), or a "
                "number is too large.",
            )


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LARGEST = 2**63


def unstorable(value: object) -> bool:
    """Whether no column can hold the value.

    These are texts with NUL, or with half of a surrogate pair, which UTF-8 does not have, and numbers of more than 64
    bits.
    """
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is not None
    return isinstance(value, int) and not -_LARGEST <= value < _LARGEST
