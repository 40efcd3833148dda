"""Deletes data about people after the number of days in the settings; runs once a day."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import CursorResult, Delete, Update, delete, select, update
from sqlalchemy.orm import Session

from sacrecap_server.jobs.chores import CHORES, Chore
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store.models import (
    Annotator,
    AuditEntry,
    Invitation,
    Job,
    Letter,
    LoginSession,
    OneTimeCode,
    RateCount,
    Study,
    now,
)

KIND = "retention"
JOBS_KEPT = dt.timedelta(days=30)
INVITATIONS_KEPT = dt.timedelta(days=30)
"""After they have expired, where nobody has used them."""
LETTERS_KEPT = dt.timedelta(days=2)
"""As long as `mail.post` tries to send one; a server without mail settings would keep them for ever."""

_PSEUDONYM = "person "
"""The name of a worker whose platform name was deleted; a number follows."""


def forget(session: Session, settings: ServerSettings) -> dict[str, int]:
    """Deletes data that is old enough; returns the numbers of deleted rows."""
    moment = now()
    found = {
        "sign_ins": _rows(session, delete(LoginSession).where(LoginSession.expires < moment)),
        "links": _rows(session, delete(OneTimeCode).where(OneTimeCode.expires < moment)),
        "limits": _rows(session, delete(RateCount).where(RateCount.expires < moment)),
        "letters": _rows(session, delete(Letter).where(Letter.created < moment - LETTERS_KEPT)),
        "invitations": _rows(
            session,
            delete(Invitation).where(Invitation.used_by.is_(None), Invitation.expires < moment - INVITATIONS_KEPT),
        ),
        "jobs": _rows(
            session, delete(Job).where(Job.kind.in_(CHORES), Job.state == "done", Job.finished < moment - JOBS_KEPT)
        ),
    }
    if settings.keep_audit:
        old = AuditEntry.at < moment - dt.timedelta(days=settings.keep_audit)
        found["audit_entries"] = _rows(session, delete(AuditEntry).where(old))
    if settings.keep_addresses:
        old = AuditEntry.at < moment - dt.timedelta(days=settings.keep_addresses)
        found["addresses"] = _rows(session, update(AuditEntry).where(old, AuditEntry.address != "").values(address=""))
    if settings.keep_worker_ids:
        closed_before = moment - dt.timedelta(days=settings.keep_worker_ids)
        found["worker_ids"] = _forget_platform_ids(session, closed_before)
    return found


def _forget_platform_ids(session: Session, before: dt.datetime) -> int:
    """Replaces what crowd platforms call the people of studies that closed before then; gives the number of people.

    Their answers stay, under the number that the study gives them.
    """
    people = (
        select(Annotator)
        .join(Study, Study.id == Annotator.study_id)
        .where(Study.closed < before, Annotator.worker.is_not(None), ~Annotator.worker.startswith(_PSEUDONYM))
    )
    count = 0
    for person in session.execute(people).scalars():
        person.worker, person.cookie_hash, person.place = f"{_PSEUDONYM}{person.id}", None, None
        person.platform_study = person.platform_session = person.platform_return = ""
        count += 1
    return count


def _rows(session: Session, statement: Delete | Update) -> int:
    result: CursorResult[Any] = session.execute(statement)  # type: ignore[assignment]
    return result.rowcount


CHORES[KIND] = Chore(dt.timedelta(days=1), forget)
