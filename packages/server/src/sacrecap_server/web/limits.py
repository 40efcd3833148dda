"""Rate limits of one process: how often an address may try something within a time. A restart forgets them."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable

from sacrecap_server.errors import Refused
from sacrecap_studies.messages import Message

_MOST_KEYS = 10_000
"""Beyond, those whose time is over are forgotten."""


class RateLimit:
    """At most `times` in `seconds`, which begin with the first of them; each key has a count of its own."""

    def __init__(self, times: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.times, self.seconds, self.clock = times, seconds, clock
        self._lock = threading.Lock()
        self._counts: dict[str, tuple[float, int]] = {}
        """By key: when its time ends, and how many there were."""

    def take(self, key: str) -> None:
        """Counts one; raises `Refused` (429, with the time to wait) beyond the limit."""
        moment = self.clock()
        with self._lock:
            if len(self._counts) > _MOST_KEYS:
                self._counts = {key: counted for key, counted in self._counts.items() if counted[0] > moment}
            ends, count = self._counts.get(key, (0.0, 0))
            if ends <= moment:
                ends, count = moment + self.seconds, 0
            if count < self.times:
                self._counts[key] = ends, count + 1
                return
        wait = int(ends - moment) + 1
        time_left = Message("%(number)s seconds", number=wait)
        if wait >= 120:
            time_left = Message("%(number)s minutes", number=-(-wait // 60))
        raise Refused(429, "Too many attempts. Try again in %(time)s.", retry_after=wait, time=time_left)


def neighbourhood(address: str) -> str:
    """The address, or the network of an IPv6 address: one customer has 2**64 of those."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))
