"""Deletes rows with all rows that refer to them, in any table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sqlalchemy import Column, Table, delete, select, update
from sqlalchemy.orm import Session

from sacrecap_server.store.blobs import forget
from sacrecap_server.store.models import Base, Blob

_EMPTIED = {"account.team_id"}
"""Columns whose rows stay when the row that they refer to is deleted."""
_AT_ONCE = 1000
"""Most numbers in one statement: databases limit its parameters."""


def remove(session: Session, table: Table, numbers: Sequence[int]) -> None:
    """Deletes the rows with these numbers, all rows that refer to them, and the files that nothing refers to any more.

    Columns whose foreign key says `SET NULL`, and those in `_EMPTIED`, are set to NULL instead.
    """
    files: set[str] = set()
    _remove(session, table, numbers, files)
    session.flush()
    session.expire_all()
    forget(session, files)


def _remove(session: Session, table: Table, numbers: Sequence[int], files: set[str]) -> None:
    for some in _batches(numbers):
        for column, outlives in _referring(table):
            if outlives:
                session.execute(update(column.table).where(column.in_(some)).values({column: None}))
            elif "id" in column.table.c:
                its = select(column.table.c.id).where(column.in_(some))
                _remove(session, column.table, session.execute(its).scalars().all(), files)
            else:
                _delete(session, column, some, files)
        _delete(session, table.c.id, some, files)


def _delete(session: Session, column: Column[int], numbers: Sequence[int], files: set[str]) -> None:
    """Deletes the rows whose column has one of the numbers, and notes the files that they name."""
    table = column.table
    named = [key.parent for key in table.foreign_keys if key.column.table is Blob.__table__]
    if named:
        for row in session.execute(select(*named).where(column.in_(numbers))):
            files.update(name for name in row if name is not None)
    session.execute(delete(table).where(column.in_(numbers)))


def _referring(table: Table) -> list[tuple[Column[int], bool]]:
    """The columns that refer to the table's numbers, and for each whether its rows stay when those are deleted."""
    return [
        (key.parent, key.ondelete == "SET NULL" or str(key.parent) in _EMPTIED)
        for other in Base.metadata.sorted_tables
        for key in other.foreign_keys
        if key.column is table.c.id
    ]


def _batches(numbers: Sequence[int]) -> Iterator[list[int]]:
    rest = iter(numbers)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
