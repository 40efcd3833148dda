"""What owners decide: which answers they reject, and who is forgotten."""

from __future__ import annotations

from sqlalchemy import delete
from sqlalchemy.orm import Session

from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.models import Annotator, Assignment, Study, StudyFindings
from sacrecap_server.studies.assignment import ANSWERED, WITH_ITEM, withdraw
from sacrecap_server.studies.ordering import AGAIN

_LONGEST = 200


def reject(session: Session, study: Study, answer_id: int, reason: str = "") -> None:
    """The answer does not count from now on, whatever becomes of the person, and somebody else is asked."""
    given = _answer(session, study, answer_id)
    if given.state == "answered":
        study.wave = 0
        given.item.taken -= given.role != AGAIN
    if given.state in ANSWERED:
        given.state, given.reason = "rejected", " ".join(reason.split())[:_LONGEST]


def restore(session: Session, study: Study, answer_id: int) -> None:
    """Takes a rejection back.

    Raises `Refused` (409) if others have completed the question meanwhile: it would have one answer too many.
    """
    given = _answer(session, study, answer_id)
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


def _answer(session: Session, study: Study, answer_id: int) -> Assignment:
    query = WITH_ITEM.where(Assignment.id == answer_id, Assignment.study_id == study.id)
    given = session.execute(query).scalar_one_or_none()
    if given is None:
        raise not_found("answer")
    return given


def erase(session: Session, study: Study, person: Annotator) -> None:
    """Deletes a person with all they answered; others are asked instead."""
    withdraw(session, study, person)
    session.execute(delete(StudyFindings).where(StudyFindings.study_id == study.id))  # they name the person
    session.delete(person)
