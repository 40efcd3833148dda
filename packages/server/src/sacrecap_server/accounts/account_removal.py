"""Accounts that are deleted: nothing of the person stays."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.orm import Session

from sacrecap_server.accounts import invitations, teams
from sacrecap_server.accounts.access import Role
from sacrecap_server.errors import Refused
from sacrecap_server.store.models import Account, AuditEntry, Base, Benchmark, Invitation, Study, Team, now
from sacrecap_studies.messages import Message

_KEPT = {"submission", "quota_use", "benchmark", "study", "invitation"}
"""Tables whose rows stay when the account that they name is deleted: they name a number then, and nobody."""


@dataclass(frozen=True)
class Belongings:
    """What prevents the deletion of an account."""

    benchmarks: list[Benchmark]
    studies: list[Study]
    last_admin: bool

    @property
    def problem(self) -> str | None:
        """Why the account cannot be deleted now."""
        if self.last_admin:
            return Message("This is the only administrator. Make somebody else one first.")
        if self.benchmarks or self.studies:
            return Message(
                "The account has benchmarks (%(benchmarks)s) or studies (%(studies)s). Delete them, or ask an "
                "administrator to give them to somebody else, first.",
                benchmarks=len(self.benchmarks),
                studies=len(self.studies),
            )
        return None


def belongings(session: Session, account: Account) -> Belongings:
    """What the account owns, and whether the server would be without administrator."""
    benchmarks = session.execute(select(Benchmark).where(Benchmark.owner_id == account.id)).scalars().all()
    studies = session.execute(select(Study).where(Study.owner_id == account.id)).scalars().all()
    others = select(Account.id).where(Account.role >= Role.ADMIN, Account.disabled.is_(False), Account.id != account.id)
    last = account.role >= Role.ADMIN and session.execute(others.limit(1)).first() is None
    return Belongings(list(benchmarks), list(studies), last)


def remove_account(session: Session, account: Account) -> None:
    """Deletes the person: address, password, sign-ins, tokens, identities, and their name and address in the audit log.

    What the team submitted stays with the team. Raises `Refused` (422) if the account owns something.
    """
    if problem := belongings(session, account).problem:
        raise Refused(422, problem)
    for table in Base.metadata.sorted_tables:
        for key in table.foreign_keys:
            if key.column is Account.__table__.c.id and table.name not in _KEPT:
                session.execute(delete(table).where(key.parent == account.id))
    invitations.revoke(session, Invitation.created_by == account.id)
    forget_in_audit(session, account.email, f"account {account.id}")
    # Also where the person was not signed in yet: as when they registered, or typed a wrong password.
    itself = AuditEntry.account_id.is_(None) & (AuditEntry.subject == f"account {account.id}")
    session.execute(update(AuditEntry).where((AuditEntry.account_id == account.id) | itself).values(address=""))
    account.email, account.password = f"removed {account.id}", ""
    teams.leave(session, account)
    account.role, account.disabled, account.removed = Role.MEMBER, True, now()
    account.wanted_team = account.wanted_affiliation = ""


def forget_in_audit(session: Session, what: str, instead: str) -> None:
    """Replaces a name or an address in the entries of the audit log; the entries stay."""
    query = select(AuditEntry).where(AuditEntry.subject.contains(what, autoescape=True))
    whole = re.compile(rf"(?<![\w.@+-]){re.escape(what)}(?![\w@-]|\.\w)")
    for entry in session.execute(query).scalars():
        entry.subject = whole.sub(instead, entry.subject)


def give_everything(session: Session, account: Account, to: Account) -> None:
    """Gives the benchmarks and studies of an account to another, who must be an organiser; raises `Refused`."""
    if to.role < Role.ORGANISER or to.disabled or to.id == account.id:
        raise Refused(422, "Only another organiser or administrator can have benchmarks and studies.")
    session.execute(update(Benchmark).where(Benchmark.owner_id == account.id).values(owner_id=to.id))
    session.execute(update(Study).where(Study.owner_id == account.id).values(owner_id=to.id))


def search(text: str) -> ColumnElement[bool]:
    """The condition that an account or its team has the text in its name."""
    return or_(Account.email.icontains(text, autoescape=True), Team.name.icontains(text, autoescape=True))
