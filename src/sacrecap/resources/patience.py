"""When requests to an endpoint are sent, and how long one is tried: what all requests know of it together.

One request may be ill while others are answered: it is given up after a few tries, and the rest goes on. An endpoint
may take no more for a minute, or be down for everybody: then all wait, and give up together.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sacrecap.resources.replies import Reply

ATTEMPTS = 8
"""How often a request that meets faults is tried, at least."""
PATIENCE = 240.0
"""Seconds without any answer after which an endpoint is down."""
APART, ILL = 90.0, 20.0
"""Those after which a request is given up that has none beside it, the second for a fault of its own (500)."""
UNKNOWN = 20.0
"""Seconds after which an address is no endpoint, where nothing ever came from it."""
SOME, MANY = 4, 200
"""Tries of a request that meets faults while others are answered, and of one that is put off."""
ROW, LONG_ROW = 3, 20
"""Requests that fail one after the other, none answered between them: then no other one is begun. The second is for
what is said to one request, such as captions of an image that the endpoint does not want to see, once it has answered.
"""
LONGEST = 600.0
"""The longest wait that an endpoint may ask for, in seconds."""
WORTH_A_WORD = 20.0
"""Seconds without any answer of which the user is told."""


def clock() -> float:
    """Seconds, from any beginning."""
    return time.monotonic()


def pause(seconds: float, over: threading.Event) -> None:
    """Waits, but not after the call is over."""
    over.wait(seconds)


class Over(Exception):  # noqa: N818
    """The call ends: nobody waits for this answer any more."""


@dataclass
class Trial:
    """What became of a request so far."""

    begun: float
    previous: float
    """When it was sent before the last time."""
    sent: float = 0.0
    tries: int = 0
    """Those that failed."""
    beside: int = 0
    """Of these, how many failed while others were answered."""


class Pace:
    """What the requests of an endpoint know of it.

    Args:
        per_minute: how many requests may be sent in a minute; None for any number.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._spacing = 60.0 / per_minute if per_minute else 0.0
        self._lock = threading.Lock()
        self._next = self._opens = self._closed = float("-inf")
        self._closings = 0
        self._answered = float("-inf")
        self._failures = 0

    def turn(self, over: threading.Event) -> float:
        """Returns when a request may be sent, with the time. Raises `Over` where it need not."""
        while not over.is_set():
            with self._lock:
                now = clock()
                wait = max(self._next, self._opens) - now
                if wait <= 0:
                    self._next = now + self._spacing
                    return now
            pause(wait, over)
        raise Over

    def answered(self) -> None:
        """The endpoint answered some request."""
        with self._lock:
            self._answered, self._closings, self._failures = clock(), 0, 0

    def delay(self, reply: Reply, trial: Trial) -> float:
        """The seconds until a request is sent again; who is busy, or names a time, gets no other one before."""
        if reply.kind != "busy" and reply.after is None:
            return min(0.25 * 2.0 ** (trial.tries - 1), 4.0) * random.uniform(0.75, 1.0)
        with self._lock:
            if trial.sent > self._closed:  # what was sent before says the same
                self._closings += 1
            seconds = min(0.5 * 2.0 ** max(self._closings - 1, 0), 60.0)
            if reply.after is not None:
                seconds = reply.after if trial.tries <= ATTEMPTS else max(reply.after, seconds)
            self._closed = clock()
            self._opens = max(self._opens, self._closed + seconds)
            return seconds

    def silence(self, trial: Trial) -> float:
        """The seconds since an answer to any request, or since this one was first sent."""
        with self._lock:
            return clock() - max(self._answered, trial.begun)

    def verdict(self, reply: Reply, trial: Trial, *, alone: bool, last: bool) -> Literal["again", "failed", "down"]:
        """What becomes of a request that got this reply.

        Where no other one is under way (`alone`), or none is left to begin (`last`), no answer to another one can tell
        a fault of this one from one of the endpoint: then it is given up sooner, and does not speak for the others.
        """
        if reply.kind == "closed" or (reply.after or 0.0) > LONGEST:
            return "down"
        with self._lock:
            trial.tries += 1
            trial.beside += self._answered > trial.previous
            trial.previous = trial.sent
            is_one_s = reply.kind in ("barred", "odd")
            if not (reply.kind == "barred" or trial.tries >= ATTEMPTS):
                return "again"
            if not is_one_s and trial.beside < (MANY if reply.kind == "busy" else SOME):
                is_apart = self._knows and (alone or last)
                least = PATIENCE if self._knows or reply.status else UNKNOWN
                if is_apart:
                    least = ILL if reply.status == 500 else APART
                if clock() - max(self._answered, trial.begun) <= least:
                    return "again"
                if not is_apart:
                    return "down"
            self._failures += 1
            row = LONG_ROW if is_one_s and self._knows else ROW
            barred = reply.kind == "barred" and alone and not self._knows
            is_down = barred or (self._failures >= row and (is_one_s or not last))
            return "down" if is_down else "failed"

    @property
    def _knows(self) -> bool:
        """Whether an answer ever came."""
        return self._answered > float("-inf")
