"""The keys that another server publishes (a JSON Web Key Set), to check what it has signed."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

SECONDS = 5.0
"""Longest wait for another server: to connect, and between two pieces of its answer."""
_AT_ONCE = 4
"""Requests at a time: a slow server must not take all threads of this one."""
_LARGEST = 2**20
_FRESH_SECONDS = 3600.0
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class AwayError(Exception):
    """The other server gives no answer, or none that can be used now."""


class PublishedKeys:
    """The keys at one address: fetched when needed, and kept for an hour."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._cached: tuple[float, KeySet] | None = None

    def decoded(self, token: str, algorithms: Sequence[str]) -> jwt.Token:
        """The token, if one of the keys has signed it.

        Raises `AwayError`, also where too many ask already, and `JoseError` or `ValueError` for a token that is not
        right.
        """
        if not self._turns.acquire(timeout=SECONDS):
            raise AwayError
        try:
            return jwt.decode(token, self._keys(), algorithms=list(algorithms))
        except (JoseError, ValueError):
            # The server may have new keys.
            return jwt.decode(token, self._keys(most_seconds=10.0), algorithms=list(algorithms))
        finally:
            self._turns.release()

    def _keys(self, most_seconds: float = _FRESH_SECONDS) -> KeySet:
        """The keys, not older than so many seconds."""
        cached = self._cached
        if cached is not None and time.monotonic() - cached[0] < most_seconds:
            return cached[1]
        try:
            keys: KeySet = KeySet.import_key_set(json.loads(self._fetched()))
        except (OSError, HTTPException, JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise AwayError from error
        self._cached = time.monotonic(), keys
        return keys

    def _fetched(self) -> bytes:
        with _open(self.address, timeout=SECONDS) as answer:
            data: bytes = answer.read(_LARGEST)
        return data
