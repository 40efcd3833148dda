"""When requests to an endpoint are sent, and how long each is tried: what all of them know of the endpoint together.

One request may be ill while others are answered: it is given up, and the rest goes on. Or the endpoint takes no more
for a minute, or is down: then all wait, and the call ends for all. What came says which it may be:

| what came                                | the request is given up                                                |
| ---------------------------------------- | ---------------------------------------------------------------------- |
| `barred`, 403                            | at once                                                                |
| `odd`, no answer of this protocol        | after `TRIES`                                                          |
| `ill`, 500                               | after `TRIES`, if others were answered meanwhile, or none could be     |
| `down`, another fault, or no connection  | after `TRIES`, if others were answered meanwhile; or in silence        |
| `busy`, 429 or 503                       | in silence                                                             |

Others were answered meanwhile: beside `BESIDE` of its tries. None could be: no other one is under way, or none is left
to begin. Silence: nobody was answered for `PATIENCE` seconds, or `WORTH_A_WORD` where nothing ever came.

The call ends with the request that is given up

- in silence, unless others were answered before and none could be now: then it may be this one's fault;
- as the last of `ROW` in a row, none answered between, while others are left to begin;
- where nothing was answered before, and no other one can be: all were given up, or it is barred and alone.

It ends at once where no request will be answered (`closed`), or the endpoint asks to wait for more than `LONGEST`.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from typing import Literal

from sacrecap.resources.replies import Reply

TRIES, BESIDE = 8, 4
PATIENCE = 120.0
ROW = 20
LONGEST = 600.0
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

    opens: float
    """When it may be sent."""
    sent: float = 0.0
    failed: float = float("inf")
    """When it failed last."""
    tries: int = 0
    """Those that failed."""
    beside: int = 0
    """Of these, how many failed while others were answered."""


class Pace:
    """What the requests of an endpoint know of it; `per_minute` is how many may be sent in a minute, None for any."""

    def __init__(self, per_minute: float | None) -> None:
        self._spacing = 60.0 / per_minute if per_minute else 0.0
        self._lock = threading.Lock()
        self._next = self._opens = self._closed = self._heard = float("-inf")
        self._closings = self._given_up = 0
        self._answers = False

    def begin(self) -> None:
        """A call begins: silence is counted from here."""
        with self._lock:
            self._heard = clock()

    def turn(self, trial: Trial, over: threading.Event) -> None:
        """Returns when the request may be sent. Raises `Over` where it need not."""
        while not over.is_set():
            with self._lock:
                now = clock()
                wait = max(self._next, self._opens, trial.opens) - now
                if wait <= 0:
                    self._next = now + self._spacing
                    trial.sent = now
                    return
            pause(wait, over)
        raise Over

    def answered(self) -> None:
        """The endpoint answered some request."""
        with self._lock:
            self._heard, self._answers = clock(), True
            self._closings = self._given_up = 0

    def put_off(self, reply: Reply, trial: Trial) -> float:
        """Lets a request wait until it is sent again, and all with it where the endpoint is busy or names a time.

        Returns for how long nobody was answered by then, in seconds.
        """
        with self._lock:
            now = clock()
            if reply.kind != "busy" and reply.after is None:
                trial.opens = now + min(0.25 * 2.0 ** (min(trial.tries, TRIES) - 1), 4.0) * random.uniform(0.75, 1.0)
                return trial.opens - self._heard
            self._closings += trial.sent > self._closed  # what was sent before says the same
            seconds = min(0.25 * 2.0**self._closings, 60.0)
            if reply.after is not None:
                seconds = reply.after if trial.tries <= TRIES else max(reply.after, seconds)
            self._closed = now
            self._opens = max(self._opens, now + seconds)
            return self._opens - self._heard

    def verdict(
        self, reply: Reply, trial: Trial, *, under_way: int, left: int
    ) -> Literal["again", "given up", "call ends"]:
        """What becomes of a request with this reply, neither an answer nor about the request for certain: see above.

        `under_way` are the requests that are asked now, `left` those of the call that are neither answered nor given
        up, both with this one.
        """
        if reply.kind == "closed" or (reply.after or 0.0) > LONGEST:
            return "call ends"
        with self._lock:
            trial.tries += 1
            trial.beside += self._heard > trial.failed
            trial.failed = clock()
            is_alone, is_last = under_way == 1, left <= under_way
            none_could_be, meanwhile = is_alone or is_last, trial.beside >= BESIDE
            most = PATIENCE if self._answers or reply.status else WORTH_A_WORD
            in_silence = trial.sent - self._heard > most and reply.kind in ("ill", "down", "busy")
            given_up = {
                "barred": True,
                "odd": True,
                "ill": meanwhile or none_could_be or in_silence,
                "down": meanwhile or in_silence,
                "busy": in_silence,
            }[reply.kind]
            if not given_up or (trial.tries < TRIES and reply.kind != "barred"):
                return "again"
            self._given_up += 1
            ends = (
                (in_silence and not (self._answers and none_could_be))
                or (self._given_up >= ROW and not is_last)
                or (not self._answers and (self._given_up >= left or (reply.kind == "barred" and is_alone)))
            )
            return "call ends" if ends else "given up"
