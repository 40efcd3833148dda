"""Tasks of an operator on the machine itself, outside the running server."""

from __future__ import annotations

import re

from sqlalchemy import delete, select

from capeval.errors import UsageError
from capeval_server.accounts.access import Role
from capeval_server.accounts.passwords import hash_password, problem_with
from capeval_server.store.database import Database
from capeval_server.store.models import Account, AuditEntry, LoginSession, now

EMAIL = re.compile(r"[^@\s\x00-\x1f]{1,64}@[^@\s\x00-\x1f]{1,185}")
"""The form of an e-mail address; whether it exists, only a message to it would show."""


def make_admin(database: Database, email: str, password: str) -> None:
    """Makes the account, or the one that is there, an administrator with this password; ends its sign-ins.

    Raises `UsageError` for what is not an e-mail address, and for a short password.
    """
    email = email.strip().lower()
    if not EMAIL.fullmatch(email):
        raise UsageError(f"{email!r} is not an e-mail address; it must look like name@example.org")
    if problem := problem_with(password):
        raise UsageError(problem)
    hashed = hash_password(password)
    with database.write() as session:
        account = session.execute(select(Account).where(Account.email == email)).scalar_one_or_none()
        if account is None:
            account = Account(email=email)
            session.add(account)
        account.role, account.password, account.disabled = Role.ADMIN, hashed, False
        session.flush()
        session.execute(delete(LoginSession).where(LoginSession.account_id == account.id))
        made = f"account {account.id}"
        session.add(AuditEntry(at=now(), account_id=None, address="", action="admin.made", subject=made))
