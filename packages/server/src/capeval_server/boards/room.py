"""Uploads are read and checked in threads of their own, so that pages and health keep theirs however many come."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import anyio.to_thread

from capeval_server.boards.check import Examination
from capeval_server.web.errors import Refused

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 2
MOST_INSIDE = 16
"""Uploads of one server that are checked or wait, each up to `upload_limit` large."""
MOST_OF_ONE = 3
"""The same of one account: three at once are a script's, more are a flood."""


class UploadRoom:
    """Who is let in waits for a thread without holding one; who is not is told when to come back."""

    def __init__(self) -> None:
        self.examination = Examination()
        self._limiter = anyio.CapacityLimiter(THREADS)
        self._inside: Counter[int | None] = Counter()

    async def run(self, account: int | None, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(*args, **kwargs)` in a thread, for an account. Raises `Refused` (429 or 503) where too much waits.

        Called in the event loop alone, so counting needs no lock.
        """
        if self._inside[account] >= MOST_OF_ONE:
            raise Refused(
                429, f"{MOST_OF_ONE} files of this account are being checked. Wait for them, then send the next.",
                retry_after=5,
            )  # fmt: skip
        if self._inside.total() >= MOST_INSIDE:
            raise Refused(503, "The server is checking many files. Send yours again in 20 seconds.", retry_after=20)
        self._inside[account] += 1
        try:
            return await anyio.to_thread.run_sync(functools.partial(work, *args, **kwargs), limiter=self._limiter)
        finally:
            self._inside[account] -= 1
            if not self._inside[account]:
                del self._inside[account]
