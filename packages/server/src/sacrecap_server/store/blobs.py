"""Files in the database, under the hash of their content."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable

from sqlalchemy import delete, exists, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.orm import Session

from sacrecap_server.store.schema import Blob, StudyImage


def keep(session: Session, data: bytes) -> str:
    """Stores the data, if they are not there yet. Returns their name, which is their SHA-256."""
    name = hashlib.sha256(data).hexdigest()
    row = {"sha256": name, "size": len(data), "data": zlib.compress(data, 6)}
    session.execute(insert(Blob).values(row).on_conflict_do_nothing())
    return name


def forget(session: Session, names: Iterable[str]) -> None:
    """Deletes the data that no image refers to any more."""
    is_used = exists().where(StudyImage.blob_sha == Blob.sha256)
    session.execute(delete(Blob).where(Blob.sha256.in_(list(names)), ~is_used))


def fetch(session: Session, name: str) -> bytes:
    """The data with a name that `keep` returned."""
    return zlib.decompress(session.execute(select(Blob.data).where(Blob.sha256 == name)).scalar_one())
