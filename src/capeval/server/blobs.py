"""Files in the database, under the hash of their content."""

from __future__ import annotations

import hashlib
import zlib

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from capeval.server.models import Blob


def sha256(data: bytes) -> str:
    """The name that `keep` stores the data under."""
    return hashlib.sha256(data).hexdigest()


def keep(session: Session, data: bytes) -> str:
    """Stores the data, unless it is there already; gives its name."""
    name = sha256(data)
    insert = (postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert)(Blob)
    row = {"sha256": name, "size": len(data), "data": zlib.compress(data, 6)}
    session.execute(insert.values(row).on_conflict_do_nothing())
    return name


def fetch(session: Session, name: str) -> bytes:
    """The data under a name that `keep` gave."""
    return zlib.decompress(session.execute(select(Blob.data).where(Blob.sha256 == name)).scalar_one())
