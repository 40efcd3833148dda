"""Deletes everything about one person of a study."""

from __future__ import annotations

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from sacrecap_server.store.models import Annotator, Assignment, Base, Study, StudyFindings
from sacrecap_server.store.removal import remove
from sacrecap_server.studies.assignment import withdraw
from sacrecap_server.studies.repository import lock


def erase(session: Session, study: Study, person: Annotator) -> int:
    """Deletes a person with all they answered; others are asked instead. Gives the number of answers."""
    lock(session, study.id)
    answered = select(func.count()).where(Assignment.annotator_id == person.id, Assignment.answered.is_not(None))
    answers = session.execute(answered).scalar_one()
    withdraw(session, study, person)
    session.execute(delete(StudyFindings).where(StudyFindings.study_id == study.id))  # they name the person
    session.flush()
    remove(session, Base.metadata.tables["annotator"], [person.id])
    return answers
