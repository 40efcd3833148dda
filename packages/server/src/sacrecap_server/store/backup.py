"""Backup and restore while the server runs. SQLite and PostgreSQL have the same file, so data can move between them.

A backup is gzipped JSON lines: a header, then every row of every table. All rows are read in one transaction, which
sees one state. A restore is one transaction too: the server and its users see the old data until the new are there.
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import json
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, MetaData, Table, insert, select, text, true

from sacrecap import __version__
from sacrecap.data.atomic import atomic_write
from sacrecap.data.source import PathLike, reading
from sacrecap.errors import DataError
from sacrecap_server.store.database import Database, alembic_config, problem_with_revision

_KIND = "sacrecap server backup"
_BATCH = 500


def back_up(database: Database, path: PathLike) -> int:
    """Writes everything to the file, whole or not at all. Returns the number of rows.

    Raises `DataError` if the file cannot be written.
    """
    rows = 0
    with (
        atomic_write(path, "wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed,
        database.snapshot() as connection,
    ):
        for line in _lines(connection):
            packed.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            rows += 1
    return rows - 2


def _lines(connection: Connection) -> Iterator[object]:
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    yield {"kind": _KIND, "sacrecap": __version__, "revision": revision}
    rows = 0
    for table in _tables(connection):
        for row in connection.execute(select(table)).yield_per(_BATCH):
            yield [table.name, {name: _plain(value) for name, value in row._mapping.items()}]
            rows += 1
    # A file that was cut off must not restore half of it.
    yield {"rows": rows}


def restore(database: Database, path: PathLike, *, replace: bool, keep_sign_ins: bool = False) -> int:
    """Fills the database from a backup. Returns the number of rows.

    An older backup is migrated. A database that has data is replaced only if `replace` is true. Sign-ins, API tokens,
    one-time links and open invitations end, unless `keep_sign_ins` is true: the backup does not know which of them
    were ended after it was made.
    Raises `DataError` for a file that is not a backup or not complete, and for a database that has data.
    """
    with reading(path), gzip.open(path) as file:
        try:
            header = json.loads(file.readline())
            if header.get("kind") != _KIND:
                raise ValueError
        except (ValueError, AttributeError, EOFError, gzip.BadGzipFile):
            raise DataError(f"{path}: is not a backup of a sacrecap server; sacrecap serve backup writes one") from None
        rows = _load(database, path, file, header["revision"], replace=replace, keep_sign_ins=keep_sign_ins)
    database.migrate()
    return rows


def _load(
    database: Database, path: PathLike, file: Iterable[bytes], revision: str, *, replace: bool, keep_sign_ins: bool
) -> int:
    from alembic import command

    if problem := problem_with_revision(revision):
        raise DataError(f"{path}: {problem}")
    if database.revision() is None:
        database.migrate(revision)
    with database.changing() as connection:
        _keep_writers_out(connection)
        if any(connection.execute(select(table).limit(1)).first() for table in _tables(connection)):
            if not replace:
                raise DataError(f"--database {database.engine.url}: holds data already; --replace deletes it first")
            for table in reversed(_tables(connection)):
                connection.execute(table.delete())
        if database.revision_of(connection) != revision:
            # Only forwards: an older server must not read what a newer one wrote.
            raise DataError(
                f"{path}: was made at revision {revision} of the tables, and this database is at "
                f"{database.revision_of(connection)}; restore it into an empty database"
            )
        rows = _insert(connection, path, file)
        _set_counters(connection)
        command.upgrade(alembic_config(connection), "head")
        if not keep_sign_ins:
            _end_sign_ins(connection)
    return rows


def _end_sign_ins(connection: Connection) -> None:
    """Ends the backup's sign-ins and tokens: they may have been ended since."""
    tables = {table.name: table for table in _tables(connection)}
    moment = dt.datetime.now(dt.timezone.utc)
    for name in ("signed_in", "one_time_code"):
        if name in tables:
            connection.execute(tables[name].delete())
    for name, still_open in (("api_token", true()), ("invitation", tables["invitation"].c.used_by.is_(None))):
        table = tables[name]
        connection.execute(table.update().where(table.c.revoked.is_(None), still_open).values(revoked=moment))


def _keep_writers_out(connection: Connection) -> None:
    """Needed on PostgreSQL: there, a job could store its scores after scores and before submissions are deleted."""
    if connection.dialect.name == "postgresql" and (tables := _tables(connection)):
        names = ", ".join(table.name for table in tables)
        connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))


def _insert(connection: Connection, path: PathLike, file: Iterable[bytes]) -> int:
    tables = {table.name: table for table in _tables(connection)}
    waiting: list[dict[str, Any]] = []
    current = ""
    rows = 0
    try:
        for line in file:
            entry = json.loads(line)
            if isinstance(entry, dict):
                _flush(connection, tables, current, waiting)
                if entry.get("rows") == rows:
                    return rows
                break
            name, row = entry
            if name != current or len(waiting) >= _BATCH:
                _flush(connection, tables, current, waiting)
                current = name
            waiting.append(_typed(tables[name], row))
            rows += 1
    except (EOFError, OSError, ValueError, KeyError):
        pass
    raise DataError(f"{path}: the backup is damaged or cut off after {rows:,} rows; nothing was restored")


def _flush(connection: Connection, tables: dict[str, Table], name: str, waiting: list[dict[str, Any]]) -> None:
    if waiting:
        connection.execute(insert(tables[name]), waiting)
        waiting.clear()


def _tables(connection: Connection) -> list[Table]:
    """The tables in the database, each after those that it refers to. The models may be newer than these."""
    metadata = MetaData()
    metadata.reflect(connection)
    return [table for table in metadata.sorted_tables if table.name != "alembic_version"]


def _set_counters(connection: Connection) -> None:
    """PostgreSQL numbers new rows by a counter of its own, which must be beyond the rows that were inserted."""
    if connection.dialect.name != "postgresql":
        return
    for table in _tables(connection):
        if "id" in table.c:
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "  # noqa: S608  (our own names)
                    f"COALESCE((SELECT MAX(id) FROM {table.name}), 0) + 1, false)"
                )
            )


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return _as_utc(value).isoformat() if isinstance(value, dt.datetime) else value


def _as_utc(value: dt.datetime) -> dt.datetime:
    return value.replace(tzinfo=dt.timezone.utc) if value.tzinfo is None else value.astimezone(dt.timezone.utc)


def _typed(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """The row with the types of the columns: JSON knows neither bytes nor times, and SQLite no booleans."""
    for name, value in row.items():
        python = table.c[name].type.python_type
        if value is not None and python is bytes:
            row[name] = base64.b64decode(value)
        elif value is not None and python is dt.datetime:
            row[name] = dt.datetime.fromisoformat(value)
        elif value is not None and python is bool:
            row[name] = bool(value)
    return row
