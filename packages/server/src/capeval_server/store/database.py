"""One database, SQLite or PostgreSQL: read and write transactions, and migrations.

A handler opens the transaction it needs and answers after the block has ended, so what was acknowledged was
committed. On SQLite, writers queue on a lock of this process before they ask for the file's: its busy handler only
polls, and a poll that sleeps too long is a slow page.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import QueuePool

from capeval.errors import DataError, MissingDependencyError, UsageError
from capeval_server.web.errors import Refused

MIGRATIONS = Path(__file__).parent / "migrations"
_CONNECTIONS = 16
_BUSY_SECONDS = 30


class Database:
    """The engine, and the two kinds of transaction.

    Raises `UsageError` for a URL that is neither SQLite nor PostgreSQL, and `DataError` where it cannot be opened.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _engine(url)
        self._writer = threading.Lock() if self.is_sqlite else None
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
        """A transaction that sees one state of the database; what it changes is given up."""
        with self._sessions() as session:
            yield session

    @contextlib.contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that is committed, to the disk, when the block ends without an exception."""
        with self._turn(), self._writing_sessions.begin() as session:
            yield session

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One writer of this process at a time, on SQLite."""
        if self._writer is None:
            yield
            return
        if not self._writer.acquire(timeout=_BUSY_SECONDS):
            raise Refused(503, "The server is too busy. Try again in a minute.", retry_after=60)
        try:
            yield
        finally:
            self._writer.release()

    def migrate(self, revision: str = "head") -> None:
        """Brings the tables to a revision of `migrations/versions`, the newest by default."""
        from alembic import command

        with self._turn(), self._connect() as connection:
            command.upgrade(alembic_config(connection), revision)

    def revision(self) -> str | None:
        """The revision the tables have; None before the first migration."""
        with self._connect() as connection:
            return self.revision_of(connection)

    @staticmethod
    def revision_of(connection: Connection) -> str | None:
        """The same, on a connection."""
        from alembic.migration import MigrationContext

        return MigrationContext.configure(connection).get_current_revision()

    @contextlib.contextmanager
    def _connect(self) -> Iterator[Connection]:
        try:
            with self.engine.execution_options(write=True).begin() as connection:
                yield connection
        except OperationalError as error:
            reason = str(error.orig).strip().splitlines()[0]
            raise DataError(f"--database {self.engine.url}: cannot be opened: {reason}") from None

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection that sees one state of everything, for as long as it takes."""
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def changing(self) -> Iterator[Connection]:
        """A writing transaction below the models, for what replaces everything."""
        with self._turn(), self._connect() as connection:
            yield connection

    def close(self) -> None:
        self.engine.dispose()


def alembic_config(connection: Connection) -> Any:
    """Alembic's configuration: where the migrations are, and the connection they run on."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UsageError(
            f"--database must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME, got {url!r}"
        ) from None
    if parsed.get_backend_name() == "postgresql":
        try:
            return create_engine(
                parsed.set(drivername="postgresql+psycopg"), pool_size=_CONNECTIONS, max_overflow=_CONNECTIONS,
                pool_pre_ping=True,
            )  # fmt: skip
        except ImportError as error:
            raise MissingDependencyError("a PostgreSQL database", extra="server") from error
    if parsed.get_backend_name() != "sqlite" or not parsed.database or parsed.database == ":memory:":
        raise UsageError(
            "--database must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME, "
            f"got {parsed.render_as_string()}"
        )
    engine = create_engine(
        parsed, poolclass=QueuePool, pool_size=_CONNECTIONS, max_overflow=-1,
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
    )  # fmt: skip
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
    writes = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
