"""Who, in addition to its owner, sees and manages a study."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Role
from sacrecap_server.errors import Refused
from sacrecap_server.store.models import Account, Study, StudyMember


def members(session: Session, study: Study) -> list[Account]:
    """The accounts that the study is shared with, by address."""
    query = select(Account).join(StudyMember, StudyMember.account_id == Account.id)
    return list(session.execute(query.where(StudyMember.study_id == study.id).order_by(Account.email)).scalars())


def share(session: Session, study: Study, email: str) -> None:
    """Lets another organiser see and manage the study. Raises `Refused` (422) if no organiser has this address."""
    query = select(Account).where(Account.email == email.strip().lower(), Account.disabled.is_(False))
    account = session.execute(query.where(Account.role >= Role.ORGANISER)).scalar_one_or_none()
    if account is None:
        raise Refused(422, "No organiser of this server has that e-mail address.")
    if account.id != study.owner_id and session.get(StudyMember, (study.id, account.id)) is None:
        session.add(StudyMember(study_id=study.id, account_id=account.id))


def unshare(session: Session, study: Study, account_id: int) -> None:
    """Ends the sharing."""
    member = session.get(StudyMember, (study.id, account_id))
    if member is not None:
        session.delete(member)
