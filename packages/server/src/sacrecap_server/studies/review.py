"""What owners decide: which answers they reject, and who is forgotten."""

from __future__ import annotations

from sqlalchemy import delete
from sqlalchemy.orm import Session

from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyFindings
from sacrecap_server.studies.assignment import ANSWERED, WITH_ITEM, withdraw
from sacrecap_server.studies.ordering import AGAIN

_LONGEST = 200


def reject(session: Session, study: Study, answer_id: int, reason: str = "") -> None:
    """The answer does not count from now on, whatever becomes of the person, and somebody else is asked."""
    assignment = _answer(session, study, answer_id)
    if assignment.state == "answered":
        study.wave = 0
        assignment.item.taken -= assignment.role != AGAIN
    if assignment.state in ANSWERED:
        assignment.state, assignment.reason = "rejected", " ".join(reason.split())[:_LONGEST]


def restore(session: Session, study: Study, answer_id: int) -> None:
    """Takes a rejection back.

    Raises `Refused` (409) if others have completed the question meanwhile: it would have one answer too many.
    """
    assignment = _answer(session, study, answer_id)
    if assignment.state != "rejected":
        return
    person = session.get_one(Annotator, assignment.annotator_id)
    if person.excluded is not None:
        assignment.state = "discarded"
    elif assignment.role == "item" and assignment.item.taken >= study.judgments:
        raise Refused(409, "Others have answered this question meanwhile, so there is no place for this answer.")
    else:
        assignment.state = "answered"
        assignment.item.taken += assignment.role != AGAIN
    assignment.reason = ""


def _answer(session: Session, study: Study, answer_id: int) -> Assignment:
    query = WITH_ITEM.where(Assignment.id == answer_id, Assignment.study_id == study.id)
    assignment = session.execute(query).scalar_one_or_none()
    if assignment is None:
        raise not_found("answer")
    return assignment


def erase(session: Session, study: Study, person: Annotator) -> None:
    """Deletes a person with all they answered; others are asked instead."""
    withdraw(session, study, person)
    session.execute(delete(StudyFindings).where(StudyFindings.study_id == study.id))  # they name the person
    session.delete(person)
