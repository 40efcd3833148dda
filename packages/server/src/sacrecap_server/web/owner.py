"""The owner, who shows one token: as a program in each request, or once in a browser, for a cookie.

And secrets that are long enough to be stored as a plain hash, and the tokens that forms carry.
"""

from __future__ import annotations

import datetime as dt
import enum
import hashlib
import hmac
import secrets
from dataclasses import dataclass

from sqlalchemy import delete
from sqlalchemy.orm import Session

from sacrecap_server.store.schema import KeyValue, SignedIn, now

SIGNED_IN_FOR = dt.timedelta(days=14)
_TOKEN = "owner_token"  # noqa: S105  (the name of a row)


def new_secret() -> str:
    """256 random bits as text, for cookies and tokens."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """The hash that is stored for a random secret. Nobody can guess 256 bits, so it need not be slow."""
    return hashlib.sha256(secret.encode()).hexdigest()


_LENGTH = len(new_secret())


def is_secret(text: str) -> bool:
    """Whether this has the form of `new_secret`."""
    return len(text) == _LENGTH and text.replace("-", "").replace("_", "").isalnum() and text.isascii()


def csrf_token(secret_key: str, cookie: str) -> str:
    """The CSRF token for this cookie: only our own pages can know it, and it expires with the cookie."""
    return hmac.new(secret_key.encode(), b"csrf:" + cookie.encode(), hashlib.sha256).hexdigest()


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
