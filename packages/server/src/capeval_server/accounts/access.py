"""Who is calling, and what they may do: roles, sign-in cookies, API tokens, CSRF tokens."""

from __future__ import annotations

import datetime as dt
import enum
import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from capeval_server.accounts.passwords import digest, new_secret
from capeval_server.store.models import Account, ApiToken, LoginSession, Team, now

SIGNED_IN_FOR = dt.timedelta(days=14)
TOKEN_PREFIX = "capeval_"  # noqa: S105


class Role(enum.IntEnum):
    """Rights of an account; each role includes those below it."""

    ANYONE = 0
    """No account needed."""
    MEMBER = 1
    """Submits, for a team."""
    ORGANISER = 2
    """Makes benchmarks and studies, and manages their own."""
    ADMIN = 3
    """Manages everything, and everybody."""


@dataclass(frozen=True)
class Caller:
    """Whoever sent the request."""

    role: Role = Role.ANYONE
    account_id: int | None = None
    email: str = ""
    team_id: int | None = None
    team: str = ""
    by_token: bool = False
    """By API token: no cookie is involved, so no other site can have caused the request."""

    def owns(self, owner_id: int) -> bool:
        """Whether what this account owns is theirs to manage; administrators manage everything."""
        return self.role >= Role.ADMIN or (self.role >= Role.ORGANISER and self.account_id == owner_id)


NOBODY = Caller()


def sign_in(session: Session, account_id: int) -> str:
    """A new sign-in of the account: the cookie's value."""
    secret = new_secret()
    session.execute(delete(LoginSession).where(LoginSession.expires < now()))
    session.add(LoginSession(token_hash=digest(secret), account_id=account_id, expires=now() + SIGNED_IN_FOR))
    return secret


def sign_out(session: Session, cookie: str) -> None:
    """Ends the sign-in: the cookie is worth nothing from now on, whoever has a copy."""
    session.execute(delete(LoginSession).where(LoginSession.token_hash == digest(cookie)))


def by_cookie(session: Session, cookie: str) -> Caller:
    """Who signed in with this cookie; `NOBODY` for an unknown, ended or expired one."""
    query = (
        select(Account, Team.name)
        .outerjoin(Team, Team.id == Account.team_id)
        .join(LoginSession, LoginSession.account_id == Account.id)
        .where(LoginSession.token_hash == digest(cookie), LoginSession.expires > now(), Account.disabled.is_(False))
    )
    return _caller(session.execute(query).one_or_none(), by_token=False)


def by_token(session: Session, token: str) -> Caller:
    """Whose API token this is; `NOBODY` for an unknown or revoked one."""
    query = (
        select(Account, Team.name)
        .outerjoin(Team, Team.id == Account.team_id)
        .join(ApiToken, ApiToken.account_id == Account.id)
        .where(ApiToken.token_hash == digest(token), ApiToken.revoked.is_(None), Account.disabled.is_(False))
    )
    return _caller(session.execute(query).one_or_none(), by_token=True)


def new_token(session: Session, account_id: int, name: str) -> str:
    """A new API token of the account: its only appearance in full."""
    token = TOKEN_PREFIX + new_secret()
    session.add(ApiToken(account_id=account_id, name=name, token_hash=digest(token), hint=token[:14]))
    return token


def csrf_token(secret_key: str, cookie: str) -> str:
    """The token of forms for this cookie: only our own pages can know it, and it expires with the cookie."""
    return hmac.new(secret_key.encode(), b"csrf:" + cookie.encode(), hashlib.sha256).hexdigest()


def _caller(row: Any, *, by_token: bool) -> Caller:
    if row is None:
        return NOBODY
    account, team = row
    # An outer join: the team may be missing.
    return Caller(Role(account.role), account.id, account.email, account.team_id, team or "", by_token)
