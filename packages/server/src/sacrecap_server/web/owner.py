"""The owner, who shows one token: as a program in each request, or once in a browser, for a cookie."""

from __future__ import annotations

import datetime as dt
import enum
import hmac
from dataclasses import dataclass

from sqlalchemy import delete
from sqlalchemy.orm import Session

from sacrecap_server.store.models import KeyValue, SignedIn, now
from sacrecap_server.web.credentials import digest, new_secret

SIGNED_IN_FOR = dt.timedelta(days=14)
_TOKEN = "owner_token"  # noqa: S105  (the name of a row)


class Role(enum.IntEnum):
    """Whose a route is."""

    ANYONE = 0
    OWNER = 1


@dataclass(frozen=True)
class Caller:
    """Whoever sent the request."""

    role: Role = Role.ANYONE
    by_token: bool = False
    """No cookie is involved, so no other site can have caused the request."""

    @property
    def is_owner(self) -> bool:
        return self.role is Role.OWNER


def is_token(text: str, token: str | None) -> bool:
    """Whether this is the owner's token; compared in a time that tells nothing about it."""
    return token is not None and hmac.compare_digest(digest(text), digest(token))


def set_token(session: Session, token: str | None) -> None:
    """Signs out whoever is signed in by another token than this one."""
    hashed = "" if token is None else digest(token)
    row = session.get(KeyValue, _TOKEN)
    if row is None or row.value != hashed:
        session.execute(delete(SignedIn))
        session.merge(KeyValue(name=_TOKEN, value=hashed))


def sign_in(session: Session) -> str:
    """A new sign-in: the cookie's value."""
    secret = new_secret()
    session.execute(delete(SignedIn).where(SignedIn.expires < now()))
    session.add(SignedIn(token_hash=digest(secret), expires=now() + SIGNED_IN_FOR))
    return secret


def sign_out(session: Session, cookie: str) -> None:
    """Ends the sign-in: from now on the cookie is invalid, also copies of it."""
    session.execute(delete(SignedIn).where(SignedIn.token_hash == digest(cookie)))


def by_cookie(session: Session, cookie: str) -> Caller:
    """Who signed in with this cookie; anybody, for an unknown, ended or expired one."""
    row = session.get(SignedIn, digest(cookie))
    return Caller(Role.OWNER) if row is not None and row.expires > now() else Caller()
