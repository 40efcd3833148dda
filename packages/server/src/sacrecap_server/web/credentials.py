"""Secrets that are long enough to be stored as a plain hash, and the tokens that forms carry."""

from __future__ import annotations

import hashlib
import hmac
import secrets


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
