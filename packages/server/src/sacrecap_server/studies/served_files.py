"""The studies of the files that a server was started with."""

from __future__ import annotations

import hashlib

from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap_server.store.models import KeyValue
from sacrecap_server.studies import repository
from sacrecap_studies.design import StudyDesign

_FILE = "file "
"""How the names of rows begin that say which files were made into studies, each with the name of its file."""


def add(session: Session, name: str, data: bytes, design: StudyDesign) -> str:
    """Makes a study of a file, once; what is in the way, where another file of this name was made into one before.

    Args:
        session: a writing transaction.
        name: the file's.
        data: its content, by which it is known again.
        design: what was read from it.
    """
    key = _FILE + hashlib.sha256(data).hexdigest()
    if session.get(KeyValue, key) is not None:
        return ""
    same_name = select(KeyValue.name).where(KeyValue.name.startswith(_FILE), KeyValue.value == name)
    if session.execute(same_name).first() is not None:
        return "the file has changed since its study was made"
    session.add(KeyValue(name=key, value=name))
    repository.make(session, design, file=name)
    return ""
