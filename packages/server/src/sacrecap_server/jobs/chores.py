"""Regular tasks of the server: each runs once when it is due, for any number of servers, and also after restarts.

A row of the database says when a chore is due next. The server that finds it due updates the row and queues a job, in
one transaction.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Job, KeyValue, now


@dataclass(frozen=True)
class Chore:
    """Work in the database, done by the runners of the jobs in one transaction."""

    every: dt.timedelta
    run: Callable[[Session, ServerSettings], dict[str, int]]
    """Does it, and gives numbers for the log."""


CHORES: dict[str, Chore] = {}
"""Each chore by the kind of its jobs; a module that defines one registers it here when it is imported."""


def queue_due(database: Database) -> None:
    """Queues a job for each chore that is due; the first time, all are."""
    with database.read() as session:
        due = [kind for kind in CHORES if _is_due(session.get(KeyValue, _name(kind)))]
    for kind in due:
        # Another server may be first: then it is not due any more, or its row is there.
        with contextlib.suppress(IntegrityError), database.write() as session:
            kept = session.get(KeyValue, _name(kind), with_for_update=True)
            if not _is_due(kept):
                continue
            if kept is None:
                kept = KeyValue(name=_name(kind), value="")
                session.add(kept)
            kept.value = (now() + CHORES[kind].every).isoformat()
            session.add(Job(kind=kind, subject_id=0))


def _name(kind: str) -> str:
    return f"next {kind}"


def _is_due(kept: KeyValue | None) -> bool:
    return kept is None or dt.datetime.fromisoformat(kept.value) <= now()
