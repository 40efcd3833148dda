"""What other servers publish: JSON documents, and keys to check what they have signed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx2
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

SECONDS = 5.0
"""Longest wait for another server: to connect, and between two pieces of its answer."""
_AT_ONCE = 4
"""Requests at a time: a slow server must not take all threads of this one."""
_LARGEST = 2**20
_FRESH_SECONDS = 3600.0


class AwayError(Exception):
    """The other server gives no answer, or none that can be used now."""


class RemoteDocuments:
    """Documents of one other server. Each is fetched when needed, and kept for an hour."""

    def __init__(self) -> None:
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}

    def decoded(self, token: str, keys_at: str, algorithms: Sequence[str]) -> jwt.Token:
        """The token, if one of the keys at the address has signed it.

        Raises `AwayError`, and `JoseError` or `ValueError` for a token that is not right.
        """
        try:
            return jwt.decode(token, self._keys(keys_at), algorithms=list(algorithms))
        except (JoseError, ValueError):
            # The server may have new keys.
            return jwt.decode(token, self._keys(keys_at, most_seconds=10.0), algorithms=list(algorithms))

    def _keys(self, address: str, most_seconds: float = _FRESH_SECONDS) -> KeySet:
        keys: KeySet = KeySet.import_key_set(self.fetch(address, most_seconds))  # type: ignore[arg-type]
        return keys

    def fetch(self, address: str, most_seconds: float = _FRESH_SECONDS) -> dict[str, Any]:
        """The JSON at the address, not older than so many seconds."""
        known = self._kept.get(address)
        if known is not None and time.monotonic() - known[0] < most_seconds:
            return known[1]
        try:
            with httpx2.Client(timeout=SECONDS, trust_env=False) as client, client.stream("GET", address) as answer:
                answer.raise_for_status()
                data = bytearray()
                ends = time.monotonic() + 2 * SECONDS
                for piece in answer.iter_bytes():
                    data += piece
                    if len(data) > _LARGEST or time.monotonic() > ends:
                        raise AwayError
            found = json.loads(data)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise AwayError from error
        if not isinstance(found, dict):
            raise AwayError
        self._kept[address] = time.monotonic(), found
        return found

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits for one of a few turns: for what asks the other server. Raises `AwayError` where none comes."""
        if not self._turns.acquire(timeout=SECONDS):
            raise AwayError
        try:
            yield
        finally:
            self._turns.release()
