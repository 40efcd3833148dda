"""The server's own rows: values that it keeps, browsers of its owner, and files by their content."""

from __future__ import annotations

import datetime as dt

from sqlalchemy import LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from sacrecap_server.store.models.declarative_base import Base, Created


class KeyValue(Base):
    """A value of the server itself, such as the secret key that it made."""

    __tablename__ = "kept"

    name: Mapped[str] = mapped_column(String(80), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class SignedIn(Base):
    """A browser of the owner: the cookie's hash, never the cookie."""

    __tablename__ = "signed_in"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    created: Mapped[Created]
    expires: Mapped[dt.datetime]


class Blob(Base):
    """A file under the SHA-256 of its content, compressed. In the database, so that one copy has everything."""

    __tablename__ = "blob"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)
