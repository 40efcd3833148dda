"""What owners decide about single answers: rejecting them, and taking that back."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.models import Annotator, Assignment, Study
from sacrecap_server.studies import assignment
from sacrecap_server.studies.ordering import AGAIN
from sacrecap_server.studies.repository import lock

_LONGEST = 200


def reject(session: Session, study: Study, answer_id: int, reason: str) -> None:
    """The answer does not count from now on, whatever becomes of the person, and somebody else is asked."""
    assignment.reject(session, study, answer_id)
    session.flush()
    given = session.get_one(Assignment, answer_id)
    if given.state == "rejected":
        given.reason = " ".join(reason.split())[:_LONGEST]


def restore(session: Session, study: Study, answer_id: int) -> None:
    """Takes a rejection back.

    Raises `Refused` (409) if others have completed the question meanwhile: it would have one answer too many.
    """
    lock(session, study.id)
    query = select(Assignment).where(Assignment.id == answer_id, Assignment.study_id == study.id)
    given = session.execute(query.options(joinedload(Assignment.item))).scalar_one_or_none()
    if given is None:
        raise not_found("answer")
    if given.state != "rejected":
        return
    person = session.get_one(Annotator, given.annotator_id)
    if person.excluded is not None:
        given.state = "discarded"
    elif given.role == "item" and given.item.taken >= study.judgments:
        raise Refused(409, "Others have answered this question meanwhile, so there is no place for this answer.")
    else:
        given.state = "answered"
        given.item.taken += given.role != AGAIN
    given.reason = ""
