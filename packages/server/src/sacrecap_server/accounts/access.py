"""Who is calling, and what they may do: roles, sign-in cookies, API tokens, CSRF tokens."""

from __future__ import annotations

import datetime as dt
import enum
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session

from sacrecap_server.accounts.codes import Purpose, use_up
from sacrecap_server.accounts.passwords import digest, new_secret
from sacrecap_server.store.models import Account, ApiToken, LoginSession, Team, mailbox, now
from sacrecap_studies.messages import Message

SIGNED_IN_FOR = dt.timedelta(days=14)
_NOTED_EVERY = dt.timedelta(hours=1)
TOKEN_PREFIX = "sacrecap_"  # noqa: S105
_HINT = len(TOKEN_PREFIX) + 6
"""Characters of a token that its owner recognises it by; the column has room for 16."""
TOKEN_DAYS = 365
SCOPES = {
    "read": "read benchmarks, boards and the team's submissions",
    "submit": "submit captions",
    "studies": "read and manage studies",
    "metrics": "read the server's metrics",
}
"""What an API token may do; never more than its account may."""


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
    obstacle: str = ""
    """Why, for now, the account may only read, and change itself; for people. Empty if it has all rights of its
    role."""
    scopes: frozenset[str] = frozenset(SCOPES)
    """What the API token is for."""
    token_id: int | None = None
    token_noted: bool = True
    """Whether recent use of the token is already recorded, so that not every request writes."""

    def owns(self, owner_id: int) -> bool:
        """Whether the caller may manage what this account owns; administrators manage everything."""
        return self.role >= Role.ADMIN or (self.role >= Role.ORGANISER and self.account_id == owner_id)


NOBODY = Caller()


def account_of(session: Session, email: str) -> Account | None:
    """The account whose mailbox an e-mail address has: its own may have another label, or none."""
    query = select(Account).where(Account.mailbox == mailbox(email))
    return session.execute(query).scalar_one_or_none()


def sign_in(session: Session, account_id: int) -> str:
    """A new sign-in of the account: the cookie's value."""
    secret = new_secret()
    session.execute(delete(LoginSession).where(LoginSession.expires < now()))
    session.add(LoginSession(token_hash=digest(secret), account_id=account_id, expires=now() + SIGNED_IN_FOR))
    return secret


def sign_out(session: Session, cookie: str) -> None:
    """Ends the sign-in: from now on the cookie is invalid, also copies of it."""
    session.execute(delete(LoginSession).where(LoginSession.token_hash == digest(cookie)))


def by_cookie(session: Session, cookie: str) -> Caller:
    """Who signed in with this cookie; `NOBODY` for an unknown, ended or expired one."""
    row = session.execute(_BY_COOKIE, {"hash": digest(cookie), "now": now()}).one_or_none()
    return NOBODY if row is None else _caller(*row)


def by_token(session: Session, token: str) -> Caller:
    """Whose API token this is; `NOBODY` for an unknown, expired or revoked one."""
    row = session.execute(_BY_TOKEN, {"hash": digest(token), "now": now()}).one_or_none()
    if row is None:
        return NOBODY
    *person, number, scopes, last_used = row
    return replace(
        _caller(*person),
        by_token=True,
        scopes=frozenset(scopes.split(",")),
        token_id=number,
        token_noted=last_used is not None and last_used > now() - _NOTED_EVERY,
    )


def note_use(session: Session, token_id: int) -> None:
    """Notes that the token was used."""
    session.execute(update(ApiToken).where(ApiToken.id == token_id).values(last_used=now()))


def hint(token: str) -> str:
    """The beginning of an API token, which may be shown and stored."""
    return token[:_HINT]


def new_token(
    session: Session, account_id: int, name: str, scopes: Iterable[str] = SCOPES, days: int = TOKEN_DAYS
) -> str:
    """A new API token of the account: its only appearance in full."""
    token = TOKEN_PREFIX + new_secret()
    keep_token(session, account_id, token, name, scopes, days)
    return token


def keep_token(
    session: Session, account_id: int, token: str, name: str, scopes: Iterable[str], days: int = TOKEN_DAYS
) -> None:
    """Makes this an API token of the account."""
    session.add(
        ApiToken(
            account_id=account_id,
            name=name,
            token_hash=digest(token),
            hint=hint(token),
            scopes=",".join(scopes),
            expires=now() + dt.timedelta(days=days),
        )
    )


def set_password(session: Session, account_id: int, hashed: str) -> None:
    """A new password: every sign-in, API token and link of the account ends with the old one."""
    session.execute(update(Account).where(Account.id == account_id).values(password=hashed))
    end_access(session, account_id)
    use_up(session, account_id, Purpose.RESET, Purpose.HANDED)


def end_access(session: Session, account_id: int) -> None:
    """Ends the account's sign-ins and API tokens; a token that had ended keeps its date."""
    session.execute(delete(LoginSession).where(LoginSession.account_id == account_id))
    mine = ApiToken.account_id == account_id, ApiToken.revoked.is_(None)
    session.execute(update(ApiToken).where(*mine).values(revoked=now()))


def csrf_token(secret_key: str, cookie: str) -> str:
    """The CSRF token for this cookie: only our own pages can know it, and it expires with the cookie."""
    return hmac.new(secret_key.encode(), b"csrf:" + cookie.encode(), hashlib.sha256).hexdigest()


_PERSON = (
    select(Account.role, Account.id, Account.email, Account.team_id, Account.confirmed, Team.name, Team.waiting)
    .outerjoin(Team, Team.id == Account.team_id)
    .where(Account.disabled.is_(False))
)
"""What every request asks, so made once."""
_BY_COOKIE = _PERSON.join(LoginSession, LoginSession.account_id == Account.id).where(
    LoginSession.token_hash == bindparam("hash"), LoginSession.expires > bindparam("now")
)
_BY_TOKEN = (
    _PERSON.add_columns(ApiToken.id, ApiToken.scopes, ApiToken.last_used)
    .join(ApiToken, ApiToken.account_id == Account.id)
    .where(ApiToken.token_hash == bindparam("hash"), ApiToken.revoked.is_(None), ApiToken.expires > bindparam("now"))
)


def _caller(
    role: int,
    number: int,
    email: str,
    team_id: int | None,
    confirmed: dt.datetime | None,
    team: str | None,
    waiting: bool | None,
) -> Caller:
    obstacle = ""
    if confirmed is None:
        obstacle = Message("Confirm your e-mail address first: open the link in the message that we sent you.")
    elif waiting:
        obstacle = Message("The team %(team)s waits until an administrator approves it.", team=team)
    return Caller(Role(role), number, email, team_id, team or "", obstacle=obstacle)
