"""Uploads are read and checked in separate threads, so that many uploads do not take the threads of pages."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import anyio.to_thread

from sacrecap_server.boards.check import Examination
from sacrecap_server.errors import Refused

T = TypeVar("T")

THREADS = 2
MOST_INSIDE = 16
"""Most uploads of one server that are received, wait or are checked, each up to `upload_limit` large."""
MOST_OF_ONE = 3
"""The same for one account: three at once may come from a script, more are abuse."""


class UploadRoom:
    """An admitted upload waits for a thread without holding one; a refused one is told when to try again.

    Used in the event loop alone, so counting needs no lock.
    """

    def __init__(self) -> None:
        self.examination = Examination()
        self._limiter = anyio.CapacityLimiter(THREADS)
        self._inside: Counter[int | None] = Counter()

    @contextlib.asynccontextmanager
    async def place(self, account: int | None) -> AsyncIterator[None]:
        """A place for an upload of an account, to be taken before its body is read into memory.

        Raises `Refused` (429 or 503, with the seconds to wait) where too many are inside.
        """
        if self._inside[account] >= MOST_OF_ONE:
            raise Refused(
                429,
                f"{MOST_OF_ONE} files of this account are being checked. Wait for them, then send the next.",
                retry_after=5,
            )
        if self._inside.total() >= MOST_INSIDE:
            raise Refused(503, "The server is checking many files. Send yours again in 20 seconds.", retry_after=20)
        self._inside[account] += 1
        try:
            yield
        finally:
            self._inside[account] -= 1
            if not self._inside[account]:
                del self._inside[account]

    async def run(self, work: Callable[[], T]) -> T:
        """`work()` in a thread of this room, for whoever has a place."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)
