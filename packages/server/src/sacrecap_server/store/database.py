"""One database, SQLite or PostgreSQL: read and write transactions, and migrations.

A handler opens the transaction that it needs and answers after the block has ended, so everything that was acknowledged
was committed. On SQLite, writers wait for a lock of this process before they ask for the lock of the file: SQLite's
busy handler only polls, and a long sleep between polls makes a slow page.

Nothing waits for long. If another program holds the file's lock, a few writers wait for it and the others are refused
at once, so that threads are left for readers, which SQLite does not block. PostgreSQL gets limits on connecting, on
locks and on statements. `sacrecap_server.web.faults` says what each failure becomes.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import QueuePool

from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap_server.errors import Refused

MIGRATIONS = Path(__file__).parent / "migrations"
_CONNECTIONS = 16
_MORE_CONNECTIONS = 32
"""Connections in all: one per thread for requests. PostgreSQL allows a hundred by default."""
_BUSY_SECONDS = 10
"""Longest wait for the right to write."""
_STUCK_SECONDS = 1
"""If a writer has waited this long for another program, the others give up, except for the first few."""
_SLOW_SECONDS = 4
"""The same for a writer that has begun and is only slow."""
_WAITING_WHEN_STUCK = 8
_FORM = "must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"
_PASSWORD = re.compile(r":[^:/@]*@")
_POSTGRESQL = {
    "connect_timeout": 2,
    "keepalives_idle": 30,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "sacrecap",
}
_POSTGRESQL_LIMITS = {"statement_timeout": 20, "lock_timeout": 10, "idle_in_transaction_session_timeout": 60}
"""In seconds. Tasks of the operator (backup, migration) have no limit on statements."""
_MIGRATION_LOCK = int.from_bytes(b"sacrecap", "big")
"""The number of PostgreSQL's advisory lock for migrations; eight letters are its 64 bits."""
T = TypeVar("T")


class Database:
    """The engine, and the two kinds of transaction.

    Raises `UsageError` for a URL that is neither SQLite nor PostgreSQL, and `DataError` if it cannot be opened.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _engine(url)
        self._turns = _Turns() if self.is_sqlite else None
        # SQLite's readers see one state anyway; PostgreSQL's, unless told, one for each statement.
        reading = self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        self._sessions = sessionmaker(reading, expire_on_commit=False)
        writing = self.engine.execution_options(write=True)
        self._writing_sessions = sessionmaker(writing, expire_on_commit=False)

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @contextlib.contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that sees one state of the database; its changes are discarded."""
        with self._sessions() as session:
            yield session

    @contextlib.contextmanager
    def write(self, patience: float = _BUSY_SECONDS) -> Iterator[Session]:
        """A transaction that is committed, to the disk, when the block ends without an exception.

        Waits at most `patience` seconds for the right to write.
        """
        with self._turn(patience), self._writing_sessions() as session, session.begin():
            session.connection(execution_options={"patience": patience})
            if self._turns is not None:
                self._turns.begun()
            yield session

    def write_again(self, work: Callable[[Session], T]) -> T:
        """The result of `work` in a writing transaction.

        It runs once more if another transaction was first to store a value that has to be unique.
        """
        try:
            with self.write() as session:
                return work(session)
        except IntegrityError:
            with self.write() as session:
                return work(session)

    def _turn(self, patience: float = _BUSY_SECONDS) -> contextlib.AbstractContextManager[None]:
        """One writer of this process at a time, on SQLite."""
        return contextlib.nullcontext() if self._turns is None else self._turns.take(patience)

    def migrate(self, revision: str = "head") -> None:
        """Brings the tables to a revision of `migrations/versions`, the newest by default.

        Raises `DataError` for tables of a revision that this version does not know.
        """
        from alembic import command

        with self._turn(), self._connect() as connection:
            self._migrate_alone(connection)
            present = self.revision_of(connection)
            if present is not None and (problem := problem_with_revision(present)):
                raise DataError(f"--database {self.engine.url}: {problem}")
            if revision != "head" or present != _revisions(MIGRATIONS)[0]:
                command.upgrade(alembic_config(connection), revision)

    def _migrate_alone(self, connection: Connection) -> None:
        """Of several servers that start at once, one migrates, and the others wait for it; SQLite's lock does that."""
        if not self.is_sqlite:
            for statement in (
                "SET LOCAL lock_timeout = 0",
                f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})",
                f"SET LOCAL lock_timeout = '{_POSTGRESQL_LIMITS['lock_timeout']}s'",
            ):
                connection.exec_driver_sql(statement)

    def revision(self) -> str | None:
        """The revision of the tables; None before the first migration."""
        with self._connect() as connection:
            return self.revision_of(connection)

    @staticmethod
    def revision_of(connection: Connection) -> str | None:
        """The same, on a connection."""
        from alembic.migration import MigrationContext

        return MigrationContext.configure(connection).get_current_revision()

    @contextlib.contextmanager
    def _connect(self) -> Iterator[Connection]:
        with self.in_words(), self.engine.execution_options(write=True).begin() as connection:
            self._unlimited(connection)
            yield connection

    @contextlib.contextmanager
    def in_words(self) -> Iterator[None]:
        """For the operator's tasks: a failure of the database becomes a `DataError` of one line."""
        try:
            yield
        except DBAPIError as error:
            lines = [line.strip() for line in str(error.orig).splitlines() if line.strip()]
            reason = lines[0] if lines else type(error.orig).__name__
            raise DataError(f"--database {self.engine.url}: cannot be opened: {reason}") from None
        except (Refused, NoConnectionError):
            raise DataError(f"--database {self.engine.url}: cannot be opened: it is too busy") from None

    def _unlimited(self, connection: Connection) -> None:
        if not self.is_sqlite:
            connection.exec_driver_sql("SELECT set_config('statement_timeout', '0', true)")

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection that sees one state of everything, without a time limit."""
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            self._unlimited(connection)
            yield connection

    @contextlib.contextmanager
    def changing(self) -> Iterator[Connection]:
        """A writing transaction without the models, for work that replaces everything."""
        with self._turn(), self._connect() as connection:
            yield connection

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        name = self.engine.url.database if self.is_sqlite else None
        return Path(name.removeprefix("file:")) if name else None

    def close(self) -> None:
        self.engine.dispose()


class _Turns:
    """Writers take turns: all wait while writing is quick, otherwise only a short queue does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._waiting = 0
        self._since: float | None = None
        """When the current writer began, or the first of those that wait in vain."""

    @contextlib.contextmanager
    def take(self, patience: float = _BUSY_SECONDS) -> Iterator[None]:
        """The right to write until the block ends. Raises `Refused` (503) if it does not come in time."""
        self._wait(patience)
        if self._since is None:
            self._since = time.monotonic()
        try:
            yield
        except OperationalError as error:
            # Another program has the file: whoever is next will not get further.
            if "locked" not in str(error.orig):
                self._since = None
            raise
        except BaseException:
            self._since = None
            raise
        else:
            self._since = None
        finally:
            self._lock.release()

    def begun(self) -> None:
        """Notes that the current writer has the file's lock, so that from now on only its own slowness counts."""
        self._since = time.monotonic() + _SLOW_SECONDS - _STUCK_SECONDS

    def _wait(self, patience: float) -> None:
        with self._counting:
            self._waiting += 1
            place = self._waiting
        try:
            ends = time.monotonic() + patience
            while not self._lock.acquire(timeout=min(patience, 0.2)):
                since, now = self._since, time.monotonic()
                stuck = since is not None and now - since > _STUCK_SECONDS
                if now >= ends or (stuck and place > _WAITING_WHEN_STUCK):
                    raise Refused(
                        503,
                        "The database cannot be written now, and nothing was saved. Try again in a few seconds.",
                        retry_after=5,
                    )
        finally:
            with self._counting:
                self._waiting -= 1


def problem_with_revision(revision: str) -> str:
    """Why this version cannot use tables of a revision; empty if it can."""
    known = _revisions(MIGRATIONS)
    if revision in known:
        return ""
    if revision < known[-1]:
        return (
            f"a version of sacrecap from before the first release has made its tables (revision {revision}, and the "
            f"first one is {known[-1]}); the changelog says how to bring them along"
        )
    return (
        f"a newer version of sacrecap has made its tables (revision {revision}; this version knows them up to "
        f"{known[0]}); install that version, or restore an older backup into an empty database"
    )


def alembic_config(connection: Connection) -> Any:
    """Alembic's configuration: where the migrations are, and the connection that they run on."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


@cache
def _revisions(folder: Path) -> tuple[str, ...]:
    """The revisions that the migrations of a folder lead to, newest first."""
    from alembic.script import ScriptDirectory

    return tuple(script.revision for script in ScriptDirectory(str(folder)).walk_revisions())


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UsageError(f"--database {_FORM}, which this is not: {_PASSWORD.sub(':***@', url)!r}") from None
    if parsed.get_backend_name() == "postgresql":
        engine = _postgresql(parsed)
    elif parsed.get_backend_name() == "sqlite" and parsed.database and parsed.database != ":memory:":
        engine = _sqlite(parsed)
    else:
        raise UsageError(f"--database {_FORM}, got {parsed.render_as_string()}")
    event.listen(engine, "before_cursor_execute", _check_storable)
    return engine


def _postgresql(url: URL) -> Engine:
    given = {name: value for name, value in _POSTGRESQL.items() if name not in url.query}
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_size=_CONNECTIONS,
            max_overflow=_MORE_CONNECTIONS,
            pool_timeout=2,
            pool_pre_ping=True,
            connect_args=given,
            hide_parameters=True,
        )
    except ImportError as error:
        raise MissingDependencyError("a PostgreSQL database", extra="server") from error
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _prepare_postgresql(connection: Any, _: object) -> None:
    connection.autocommit = True
    for name, seconds in _POSTGRESQL_LIMITS.items():
        connection.execute(f"SET {name} = '{seconds}s'")
    connection.autocommit = False


def _sqlite(url: URL) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=_CONNECTIONS,
        max_overflow=-1,
        hide_parameters=True,
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    # The driver's own transaction handling begins too late for snapshots; `_begin_sqlite` begins.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A read transaction that turns into a writing one fails when another wrote in between: writers say so first.
    options = connection.get_execution_options()
    patience = options.get("patience", _BUSY_SECONDS)
    if connection.info.get("patience", _BUSY_SECONDS) != patience:
        connection.info["patience"] = patience
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(1000 * patience)}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("write", False) else "BEGIN")


def _check_storable(_: Connection, __: object, ___: str, parameters: Any, ____: object, _____: bool) -> None:
    """Refuses values of a request, or of its file, that a database cannot store: on both kinds of database alike."""
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

    These are texts with NUL, which PostgreSQL does not store, or with half of a surrogate pair, which UTF-8 does not
    have, and numbers of more than 64 bits.
    """
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is not None
    return isinstance(value, int) and not -_LARGEST <= value < _LARGEST
