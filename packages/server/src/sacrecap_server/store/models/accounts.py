"""People: accounts, their teams, how they are recognised, and what they did."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship, validates

from sacrecap_server.store.models.declarative_base import Base, Created, Id, now

_WITHOUT_DOTS = {"gmail.com": "gmail.com", "googlemail.com": "gmail.com"}
"""Domains whose mailboxes are the same with dots and without, and what each is called here."""


def mailbox(email: str) -> str:
    """Where mail to an address arrives, as far as addresses show it: two of one mailbox are one person.

    What follows a plus is the owner's own label (RFC 5233). Dots mean nothing at Gmail.
    """
    name, at, domain = email.strip().lower().rpartition("@")
    # A label needs a name before it: "+me@example.org" is a mailbox of its own.
    name = name[:1] + name[1:].partition("+")[0]
    if domain in _WITHOUT_DOTS:
        name, domain = name.replace(".", ""), _WITHOUT_DOTS[domain]
    return f"{name}{at}{domain}"


class Team(Base):
    """A team, which submits. Names are public and unique; upper and lower case count as equal."""

    __tablename__ = "team"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(80))
    name_key: Mapped[str] = mapped_column(String(160), unique=True)
    affiliation: Mapped[str] = mapped_column(String(160), default="")
    created: Mapped[Created]
    look_key: Mapped[str] = mapped_column(String(160), index=True, default="")
    """A key that similar-looking names share, from `accounts.names.keys`; `name_key` is another."""
    waiting: Mapped[bool] = mapped_column(default=False)
    """True until an administrator approves the team. Until then it cannot act."""
    empty_since: Mapped[dt.datetime | None]
    """When its last member left; None while there are members, and for the team of a baseline."""


class Account(Base):
    """One person, who signs in with an e-mail address and a password, or at an identity provider.

    The row of a deleted account stays without anything about the person, because other rows refer to its number.
    """

    __tablename__ = "account"

    id: Mapped[Id]
    email: Mapped[str] = mapped_column(String(254))
    mailbox: Mapped[str] = mapped_column(String(254), unique=True)
    """Where its mail arrives: each has one account."""
    password: Mapped[str] = mapped_column(String(200))
    role: Mapped[int]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"))
    disabled: Mapped[bool] = mapped_column(default=False)
    created: Mapped[Created]
    team: Mapped[Team | None] = relationship(lazy="raise")
    confirmed: Mapped[dt.datetime | None]
    """When the address was confirmed by a mail, or accepted without one; None if neither happened."""
    wanted_team: Mapped[str] = mapped_column(String(80), default="")
    """Name of the team to make when the address is confirmed. Until then others can take the name."""
    wanted_affiliation: Mapped[str] = mapped_column(String(160), default="")
    joined: Mapped[dt.datetime | None]
    """When they joined their team. The member who joined first leads it, unless another was made captain."""
    captain: Mapped[bool] = mapped_column(default=False)
    """Whether they were made captain of the team; see `sacrecap_server.accounts.teams.captain_of`."""
    off_boards: Mapped[bool] = mapped_column(default=False)
    """Whether an administrator has removed this account's submissions from all boards."""
    removed: Mapped[dt.datetime | None]
    """When the account was deleted."""

    @validates("email")
    def _arrives(self, _: str, email: str) -> str:
        self.mailbox = mailbox(email)
        return email

    @validates("team_id")
    def _joins(self, _: str, team_id: int | None) -> int | None:
        """Whoever joins a team, in whatever way, is its last member. Whoever leaves it no longer leads it."""
        self.joined, self.captain = now() if team_id is not None else None, False
        return team_id


class LoginSession(Base):
    """A signed-in browser: the cookie's hash, never the cookie."""

    __tablename__ = "signed_in"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    created: Mapped[Created]
    expires: Mapped[dt.datetime] = mapped_column(index=True)


class ApiToken(Base):
    """A token by which a program signs in: its hash, never the token."""

    __tablename__ = "api_token"

    id: Mapped[Id]
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    name: Mapped[str] = mapped_column(String(80))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    hint: Mapped[str] = mapped_column(String(16))
    """The first characters, so that its owner recognises it."""
    created: Mapped[Created]
    revoked: Mapped[dt.datetime | None]
    scopes: Mapped[str] = mapped_column(String(60))
    """Comma-separated names from `accounts.access.SCOPES`."""
    expires: Mapped[dt.datetime]
    last_used: Mapped[dt.datetime | None]
    """Precise to the hour."""


class Invitation(Base):
    """A link that makes one account, with a role, and in a team if one is named."""

    __tablename__ = "invitation"

    id: Mapped[Id]
    code_hash: Mapped[str] = mapped_column(String(64), unique=True)
    role: Mapped[int]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("account.id"))
    created: Mapped[Created]
    expires: Mapped[dt.datetime]
    used_by: Mapped[int | None] = mapped_column(ForeignKey("account.id"))
    """The only person who can use it from now on."""
    accepted: Mapped[dt.datetime | None]
    """When it took effect; None if somebody gave the address of an account that existed already."""
    revoked: Mapped[dt.datetime | None]


class AuditEntry(Base):
    """An action of somebody on accounts, benchmarks or studies."""

    __tablename__ = "audit_entry"

    id: Mapped[Id]
    at: Mapped[dt.datetime] = mapped_column(index=True)
    account_id: Mapped[int | None]
    address: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str] = mapped_column(Text)


class KeyValue(Base):
    """A value of the server itself, such as the secret key that it made."""

    __tablename__ = "kept"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class OneTimeCode(Base):
    """A one-time link that confirms the address of an account, or sets a new password: the hash of its code."""

    __tablename__ = "one_time_code"

    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    purpose: Mapped[str] = mapped_column(String(10))
    """One of `accounts.codes.Purpose`."""
    expires: Mapped[dt.datetime] = mapped_column(index=True)


class Letter(Base):
    """A message that waits to be sent. A link with a code is made when it is sent, so that none is stored."""

    __tablename__ = "letter"

    id: Mapped[Id]
    address: Mapped[str] = mapped_column(String(254))
    subject: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(Text)
    """May hold `{link}` once, if there is a purpose."""
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id"), index=True)
    purpose: Mapped[str] = mapped_column(String(10), default="")
    created: Mapped[Created]
    attempts: Mapped[int] = mapped_column(default=0)
    due: Mapped[dt.datetime] = mapped_column(default=now, index=True)
    """When to try next."""


class RateCount(Base):
    """How often somebody tried something. All servers of a database share it, and it survives restarts."""

    __tablename__ = "rate_count"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Hash of what is limited, and for whom."""
    count: Mapped[int]
    ends: Mapped[dt.datetime]
    """When the window ends, or the next attempt is allowed."""
    expires: Mapped[dt.datetime] = mapped_column(index=True)
    """When the row can be deleted."""


class ExternalIdentity(Base):
    """The identity of an account at an identity provider (OpenID Connect)."""

    __tablename__ = "external_identity"

    issuer: Mapped[str] = mapped_column(String(255), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    created: Mapped[Created]
