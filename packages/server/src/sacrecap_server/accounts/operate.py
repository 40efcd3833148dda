"""Tasks of an operator on the machine itself, outside the running server."""

from __future__ import annotations

import re

from sacrecap.errors import UsageError
from sacrecap_server.accounts.access import Role, account_of, set_password
from sacrecap_server.accounts.codes import Purpose, link
from sacrecap_server.accounts.passwords import hash_password, problem_with
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, AuditEntry, now

EMAIL = re.compile(
    r"(?=.{3,254}\Z)[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@"
    r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
"""The form of an e-mail address, as HTML forms take it; whether it exists, only a message to it shows."""


def address(given: str) -> str:
    """An e-mail address as it is stored and looked for."""
    return given.strip().lower()


def make_admin(database: Database, email: str, password: str) -> None:
    """Makes the account, or the one that is there, an administrator with this password; ends its sign-ins and tokens.

    Raises `UsageError` for what is not an e-mail address, and for a short password.
    """
    email = address(email)
    if not EMAIL.fullmatch(email):
        raise UsageError(f"{email!r} is not an e-mail address; it must look like name@example.org")
    if problem := problem_with(password):
        raise UsageError(problem)
    hashed = hash_password(password)
    with database.write() as session:
        account = account_of(session, email)
        if account is None:
            account = Account(email=email, password=hashed)
            session.add(account)
        account.role, account.disabled = Role.ADMIN, False
        account.confirmed = account.confirmed or now()
        session.flush()
        set_password(session, account.id, hashed)
        made = f"account {account.id}"
        session.add(AuditEntry(at=now(), account_id=None, address="", action="admin.made", subject=made))


def reset_link(database: Database, settings: ServerSettings, email: str) -> str:
    """A link that sets a new password for the account, to hand over.

    Raises `UsageError` if there is no such account, or it is disabled.
    """
    email = address(email)
    with database.write() as session:
        account = account_of(session, email)
        if account is None:
            raise UsageError(f"there is no account {email!r}; sacrecap serve admin EMAIL makes one")
        if account.disabled:
            raise UsageError(f"the account {email!r} is disabled; enable it on the page Administration first")
        whose = f"account {account.id}"
        session.add(AuditEntry(at=now(), account_id=None, address="", action="reset.handed", subject=whose))
        return link(session, settings, account.id, Purpose.HANDED)
