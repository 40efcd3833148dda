"""Invitations: who may give them, which ones count, and how they end."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, or_, select, update
from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import Caller, Role
from sacrecap_server.accounts.passwords import digest, new_secret
from sacrecap_server.store.models import Account, Invitation, Team, now

GOOD_FOR = dt.timedelta(days=14)


def counts() -> ColumnElement[bool]:
    """The condition that an invitation can be used now; it does not check who has used it.

    It counts as long as its maker may still give it: administrators to everything, members to the team that they are
    in. Whoever is disabled or expelled, or is no administrator any more, cannot come back by a link made before.
    """
    maker = select(Account.id).where(
        Account.id == Invitation.created_by,
        Account.disabled.is_(False),
        or_(Account.role >= Role.ADMIN, Account.team_id == Invitation.team_id),
    )
    return (Invitation.expires > now()) & Invitation.revoked.is_(None) & exists(maker.correlate(Invitation))


def find(session: Session, code: str, account_id: int | None = None, *, lock: bool = False) -> Invitation | None:
    """The invitation of this code, if nobody has used it but this account, which then has not accepted it yet."""
    own = (Invitation.used_by == account_id) & Invitation.accepted.is_(None)
    unused = or_(Invitation.used_by.is_(None), own)
    query = select(Invitation).where(Invitation.code_hash == digest(code), unused, counts())
    return session.execute(query.with_for_update() if lock else query).scalar_one_or_none()


def make(session: Session, caller: Caller, role: Role, team_id: int | None) -> str:
    """A new invitation: its code, which appears nowhere else in full."""
    code = new_secret()
    session.add(
        Invitation(
            code_hash=digest(code), role=role, team_id=team_id, created_by=caller.account_id, expires=now() + GOOD_FOR
        )
    )
    return code


def open_ones() -> Select[Invitation, str, str]:
    """(invitation, its maker's address, the team's name) of those that can still be used, the newest first."""
    return (
        select(Invitation, Account.email, Team.name)
        .outerjoin(Account, Account.id == Invitation.created_by)
        .outerjoin(Team, Team.id == Invitation.team_id)
        .where(Invitation.used_by.is_(None), counts())
        .order_by(Invitation.id.desc())
    )


def listed(session: Session, *criteria: ColumnElement[bool]) -> list[Any]:
    """The newest hundred of them."""
    return list(session.execute(open_ones().where(*criteria).limit(100)).all())


def revoke(session: Session, *criteria: ColumnElement[bool]) -> None:
    """Ends the invitations that nobody has used."""
    query = update(Invitation).where(Invitation.used_by.is_(None), Invitation.revoked.is_(None), *criteria)
    session.execute(query.values(revoked=now()))
