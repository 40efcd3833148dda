"""People: accounts, their teams, how they are recognised, and what they did."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from capeval_server.store.models.base import Base, Created, Id


class Team(Base):
    """Who submits. Names are public and unique, whatever their case."""

    __tablename__ = "team"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(String(80))
    name_key: Mapped[str] = mapped_column(String(160), unique=True)
    affiliation: Mapped[str] = mapped_column(String(160), default="")
    created: Mapped[Created]


class Account(Base):
    """One person, who signs in with an e-mail address and a password."""

    __tablename__ = "account"

    id: Mapped[Id]
    email: Mapped[str] = mapped_column(String(254), unique=True)
    password: Mapped[str] = mapped_column(String(200))
    role: Mapped[int]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"))
    disabled: Mapped[bool] = mapped_column(default=False)
    created: Mapped[Created]
    team: Mapped[Team | None] = relationship(lazy="raise")


class LoginSession(Base):
    """A signed-in browser: the cookie's hash, never the cookie."""

    __tablename__ = "signed_in"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    created: Mapped[Created]
    expires: Mapped[dt.datetime] = mapped_column(index=True)


class ApiToken(Base):
    """A program's way in: the token's hash, never the token."""

    __tablename__ = "api_token"

    id: Mapped[Id]
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    name: Mapped[str] = mapped_column(String(80))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    hint: Mapped[str] = mapped_column(String(16))
    """The first characters, by which its owner knows it again."""
    created: Mapped[Created]
    revoked: Mapped[dt.datetime | None]


class Invitation(Base):
    """A link that makes one account: with a role, and in a team where one is named."""

    __tablename__ = "invitation"

    id: Mapped[Id]
    code_hash: Mapped[str] = mapped_column(String(64), unique=True)
    role: Mapped[int]
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id"))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("account.id"))
    created: Mapped[Created]
    expires: Mapped[dt.datetime]
    used_by: Mapped[int | None] = mapped_column(ForeignKey("account.id"))


class AuditEntry(Base):
    """Something that somebody did to accounts, benchmarks or studies."""

    __tablename__ = "audit_entry"

    id: Mapped[Id]
    at: Mapped[dt.datetime] = mapped_column(index=True)
    account_id: Mapped[int | None]
    address: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str] = mapped_column(Text)


class KeyValue(Base):
    """A value of the server itself, such as the secret key it made."""

    __tablename__ = "kept"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(Text)
