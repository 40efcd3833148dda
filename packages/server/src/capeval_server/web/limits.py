"""Rate limits: how often the same somebody may try in a while. In memory: a restart forgives."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from capeval_server.web.errors import Refused

_REMEMBERED = 50_000


class RateLimit:
    """At most `times` in any `seconds`, for each key."""

    def __init__(self, times: int, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.times = times
        self.seconds = seconds
        self._clock = clock
        self._past: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        """Counts one; raises `Refused` (429, with the seconds to wait) beyond the limit."""
        with self._lock:
            now = self._clock()
            past = self._past.setdefault(key, deque())
            self._past.move_to_end(key)
            while past and past[0] <= now - self.seconds:
                past.popleft()
            if len(past) >= self.times:
                wait = int(past[0] + self.seconds - now) + 1
                raise Refused(429, f"Too many attempts. Try again in {wait} seconds.", retry_after=wait)
            past.append(now)
            # Whoever asks under ever new names pushes out the oldest name, not the memory's limit.
            if len(self._past) > _REMEMBERED:
                self._past.popitem(last=False)

    def forgive(self, key: str) -> None:
        """Forgets the key's past, as after the right password."""
        with self._lock:
            self._past.pop(key, None)


class RateLimits:
    """The limits of one server."""

    def __init__(self) -> None:
        self.sign_in_account = RateLimit(10, 600)
        self.sign_in_address = RateLimit(60, 600)
        self.register_address = RateLimit(20, 3600)
        self.submit_account = RateLimit(20, 60)
        self.submit_large = RateLimit(10, 600)
