"""The people who answer: how they arrive, and how they are known when they come back."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from capeval_server.store.models import Annotator, Study
from capeval_server.studies.repository import lock
from capeval_server.web.errors import not_found

_LONGEST = 128
_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""The assignment id that Mechanical Turk gives to people who have not accepted the work yet."""


@dataclass(frozen=True)
class Arrival:
    """Whom a crowd platform sends, by the names that Prolific, Mechanical Turk and we use in links."""

    worker: str = ""
    study: str = ""
    session: str = ""

    @property
    def is_preview(self) -> bool:
        return self.session == _PREVIEW

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Arrival:
        """From the query of a link."""
        return cls(
            _first(values, "worker", "PROLIFIC_PID", "workerId"),
            _first(values, "study", "STUDY_ID", "hitId"),
            _first(values, "session", "SESSION_ID", "assignmentId"),
        )


def _first(values: Mapping[str, str], *names: str) -> str:
    found = next((values[name] for name in names if values.get(name)), "")
    return "".join(letter for letter in found if letter.isprintable())[:_LONGEST].strip()


def known(session: Session, study: Study, cookie_hash: str) -> Annotator | None:
    """Who this browser is in the study."""
    query = select(Annotator).where(Annotator.study_id == study.id, Annotator.cookie_hash == cookie_hash)
    return session.execute(query).scalar_one_or_none()


def study_and_person(session: Session, code: str, cookie_hash: str) -> tuple[Study, Annotator | None]:
    """The study of a link, and who this browser is in it."""
    mine = (Annotator.study_id == Study.id) & (Annotator.cookie_hash == cookie_hash)
    row = session.execute(select(Study, Annotator).outerjoin(Annotator, mine).where(Study.code == code)).one_or_none()
    if row is None:
        raise not_found("study")
    return row[0], row[1]


def begin(session: Session, study: Study, cookie_hash: str, arrival: Arrival) -> Annotator:
    """The person who begins, or goes on: with the same worker id on another device too."""
    lock(session, study.id)
    here = known(session, study, cookie_hash)
    if here is not None and arrival.worker in ("", here.worker):
        return here
    person = None
    if arrival.worker:
        query = select(Annotator).where(Annotator.study_id == study.id, Annotator.worker == arrival.worker)
        person = session.execute(query).scalar_one_or_none()
    # One browser, another worker: the browser is theirs from now on.
    session.execute(
        update(Annotator)
        .where(Annotator.study_id == study.id, Annotator.cookie_hash == cookie_hash)
        .values(cookie_hash=None)
    )
    if person is None:
        person = Annotator(study_id=study.id, worker=arrival.worker or None, completion=_completion())
        session.add(person)
    person.cookie_hash = cookie_hash
    person.platform_study, person.platform_session = arrival.study, arrival.session
    session.flush()
    return person


def _completion() -> str:
    """Short enough to type, without letters that look alike."""
    return "".join(secrets.choice("ABCDEFGHJKMNPQRSTUVWXYZ23456789") for _ in range(10))
