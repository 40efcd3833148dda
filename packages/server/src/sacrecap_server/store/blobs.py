"""Files in the database, under the hash of their content."""

from __future__ import annotations

import contextlib
import hashlib
import zlib
from collections.abc import Iterable

from sqlalchemy import delete, exists, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from sacrecap_server.store.models import Base, Blob


def sha256(data: bytes) -> str:
    """The name under which `keep` stores the data."""
    return hashlib.sha256(data).hexdigest()


def keep(session: Session, data: bytes) -> str:
    """Stores the data, if they are not there yet. Returns their name."""
    name = sha256(data)
    insert = (postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert)(Blob)
    row = {"sha256": name, "size": len(data), "data": zlib.compress(data, 6)}
    # An update, though of nothing, so that `forget` cannot delete it before this transaction refers to it.
    session.execute(insert.values(row).on_conflict_do_update(index_elements=["sha256"], set_={"size": len(data)}))
    return name


def forget(session: Session, names: Iterable[str]) -> None:
    """Deletes the data that no row refers to any more."""
    columns = [
        key.parent
        for table in Base.metadata.tables.values()
        for key in table.foreign_keys
        if key.column.table is Blob.__table__
    ]
    unused = [~exists().where(column == Blob.sha256) for column in columns]
    # Somebody else may refer to it in this moment: then it stays.
    with contextlib.suppress(IntegrityError), session.begin_nested():
        session.execute(delete(Blob).where(Blob.sha256.in_(list(names)), *unused))


def fetch(session: Session, name: str) -> bytes:
    """The data with a name that `keep` returned."""
    return zlib.decompress(session.execute(select(Blob.data).where(Blob.sha256 == name)).scalar_one())
