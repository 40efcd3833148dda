"""What owners decide: which answers they reject, who is forgotten, and who sees and manages the study with them."""

from __future__ import annotations

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session, joinedload

from sacrecap_server.accounts.access import Role, account_of
from sacrecap_server.errors import Refused, not_found
from sacrecap_server.store.cascade import remove
from sacrecap_server.store.models import Account, Annotator, Assignment, Base, Study, StudyFindings, StudyMember
from sacrecap_server.studies import assignment
from sacrecap_server.studies.assignment import withdraw
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


def members(session: Session, study: Study) -> list[Account]:
    """The accounts that the study is shared with, by address."""
    query = select(Account).join(StudyMember, StudyMember.account_id == Account.id)
    return list(session.execute(query.where(StudyMember.study_id == study.id).order_by(Account.email)).scalars())


def share(session: Session, study: Study, email: str) -> None:
    """Lets another organiser see and manage the study. Raises `Refused` (422) if no organiser has this address."""
    account = account_of(session, email)
    if account is None or account.disabled or account.role < Role.ORGANISER:
        raise Refused(422, "No organiser of this server has that e-mail address.")
    if account.id != study.owner_id and session.get(StudyMember, (study.id, account.id)) is None:
        session.add(StudyMember(study_id=study.id, account_id=account.id))


def unshare(session: Session, study: Study, account_id: int) -> None:
    """Ends the sharing."""
    member = session.get(StudyMember, (study.id, account_id))
    if member is not None:
        session.delete(member)
