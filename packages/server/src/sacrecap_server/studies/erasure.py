"""Deletes data about a study's people: everything of one person, or the platform's names of all."""

from __future__ import annotations

import datetime as dt

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


def forget_platform_ids(session: Session, before: dt.datetime) -> int:
    """Replaces what crowd platforms call the people of studies that closed before then; gives the number of people.

    Their answers stay, under the number that the study gives them.
    """
    people = (
        select(Annotator)
        .join(Study, Study.id == Annotator.study_id)
        .where(Study.closed < before, Annotator.worker.is_not(None), ~Annotator.worker.startswith(PSEUDONYM))
    )
    count = 0
    for person in session.execute(people).scalars():
        person.worker, person.cookie_hash = f"{PSEUDONYM}{person.id}", None
        person.platform_study = person.platform_session = person.platform_return = ""
        count += 1
    return count


PSEUDONYM = "person "
"""The name of a worker whose platform name was deleted; a number follows."""
