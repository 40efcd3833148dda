"""Passwords, by Argon2id; and the secrets that are long enough to be kept as a plain hash."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sacrecap_studies.messages import Message

LEAST_CHARACTERS = 10
MOST_CHARACTERS = 200

_hasher = PasswordHasher()
# One verification takes 64 MiB; many at once must not take the machine's memory.
_turns = threading.BoundedSemaphore(2)


def hash_password(password: str) -> str:
    """The Argon2id hash, with its parameters and salt."""
    with _turns:
        return _hasher.hash(password)


def verify_password(stored: str | None, password: str) -> bool:
    """Whether the password is the stored one; takes as long where there is no such account (None)."""
    with _turns:
        try:
            _hasher.verify(stored or _nobodys(), password)
        except (VerificationError, InvalidHashError):
            return False
    return stored is not None


def _nobodys() -> str:
    """A hash as costly to check as a new one, of no password that anybody knows: its bits are drawn, not computed."""
    salt, drawn = (
        base64.b64encode(secrets.token_bytes(length)).decode().rstrip("=")
        for length in (_hasher.salt_len, _hasher.hash_len)
    )
    costs = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${drawn}"


def problem_with(password: str) -> str | None:
    """Explains why a new password is refused."""
    if len(password) < LEAST_CHARACTERS:
        return Message("The password needs at least %(least)s characters.", least=LEAST_CHARACTERS)
    if len(password) > MOST_CHARACTERS:
        return Message("The password may have at most %(most)s characters.", most=MOST_CHARACTERS)
    return None


def new_secret() -> str:
    """256 random bits as text, for cookies, tokens and invitations."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """The hash that is stored for a random secret. Nobody can guess 256 bits, so it need not be slow."""
    return hashlib.sha256(secret.encode()).hexdigest()
