"""One study alone, as `sacrecap study serve` has it: of one file, with one owner, who has a token and no password."""

from __future__ import annotations

import hashlib

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Role, keep_token
from sacrecap_server.accounts.passwords import digest
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, ApiToken, KeyValue, LoginSession, now
from sacrecap_server.studies import repository
from sacrecap_studies.design import StudyDesign

_OWNER = "owner"
_FILE = "study_file"


def prepare(database: Database, data: bytes, design: StudyDesign, token: str) -> str:
    """Makes owner and study where there are none; what the database is instead, where it is not that of this file.

    Whoever is signed in by another token than this one is signed out.
    """
    fingerprint = hashlib.sha256(data).hexdigest()
    with database.write() as session:
        kept = session.get(KeyValue, _FILE)
        if kept is not None and kept.value != fingerprint:
            return "was made of another file, or the file has changed since"
        if kept is None and session.execute(select(Account.id).limit(1)).first() is not None:
            return "belongs to sacrecap serve, which has accounts"
        owner_id = _owner(session)
        _only_token(session, owner_id, token)
        if kept is None:
            session.add(KeyValue(name=_FILE, value=fingerprint))
            repository.make(session, owner_id, design)
    return ""


def _owner(session: Session) -> int:
    known = session.execute(select(Account.id).where(Account.mailbox == _OWNER)).scalar_one_or_none()
    if known is not None:
        return known
    account = Account(email=_OWNER, password="-", role=Role.ORGANISER, confirmed=now())  # noqa: S106 - no hash of any
    session.add(account)
    session.flush()
    return account.id


def _only_token(session: Session, owner_id: int, token: str) -> None:
    """The token is good for a year from each start."""
    mine = ApiToken.account_id == owner_id
    if session.execute(select(ApiToken.id).where(mine, ApiToken.token_hash == digest(token))).first() is None:
        session.execute(delete(LoginSession).where(LoginSession.account_id == owner_id))
    session.execute(delete(ApiToken).where(mine))
    keep_token(session, owner_id, token, "study serve", ["studies"])
