"""Attempts at a password: counted before it is checked, so that many at once are not more than the limits allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from sacrecap_server.accounts.access import account_of
from sacrecap_server.accounts.limits import LimitKey, neighbourhood
from sacrecap_server.accounts.passwords import verify_password
from sacrecap_server.store.models import Account, AuditEntry, mailbox, now

if TYPE_CHECKING:
    from sacrecap_server.web.context import RequestContext

_UNKNOWN = "(no account)"
"""Replaces an address without account in the audit log: people type passwords into that field by mistake."""


class Attempt:
    """One attempt of the browser at the password of an address, whether it has an account or not.

    It is noted as refused at first, in the write that counts it; `succeeded` changes the note.
    """

    def __init__(self, context: RequestContext, email: str, action: str) -> None:
        limits, email = context.state.limits, mailbox(email)
        near = neighbourhood(context.address)
        self._context, self._limits, self._action = context, limits, action
        self._pair = limits.sign_in_pair.of(f"{email} {near}")
        self._place = limits.signed_in_from.of(f"{email} {near}")
        self._shared = [limits.sign_in_address.of(near)]
        with context.database.read() as session:
            self._account = account_of(session, email)
            if not limits.remembers(session, self._place):
                self._shared.append(limits.sign_in_account.of(email))
        self._entry: int | None = None

    def verified(self, password: str) -> Account | None:
        """The account, where the password is right. Raises `Refused` (429) beyond the limits.

        It takes as long where there is no such account.
        """
        counted: list[LimitKey] = [self._pair, *self._shared]
        self._limits.check(*counted)
        account = self._account
        with self._context.database.write() as session:
            self._limits.take(session, *counted)
            entry = AuditEntry(
                at=now(),
                account_id=self._context.caller.account_id,
                address=self._context.address,
                action=f"{self._action}.refused",
                subject=f"account {account.id}" if account else _UNKNOWN,
            )
            session.add(entry)
            session.flush()
            self._entry = entry.id
        stored = account.password if account is not None and not account.disabled else None
        return account if verify_password(stored, password) else None

    def succeeded(self, session: Session) -> None:
        """Records that the password was right, in the transaction of the action that needed it."""
        entry = session.get(AuditEntry, self._entry)
        if entry is not None:
            entry.action = self._action
        self._limits.lock(session, self._pair, self._place, *self._shared)
        self._limits.forget(session, self._pair)
        self._limits.give_back(session, *self._shared)
        self._limits.remember(session, self._place)
