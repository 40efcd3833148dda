"""A file that a team sends, from its checks to the queue: for the page, and for the API.

Uploads are read and checked in separate threads, so that many uploads do not take the threads of pages.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import TypeVar

import anyio.to_thread

from sacrecap_server.accounts import names
from sacrecap_server.boards import uploads
from sacrecap_server.boards.catalogue import find
from sacrecap_server.boards.examination import Examination
from sacrecap_server.errors import Refused
from sacrecap_server.store.models import Submission
from sacrecap_server.web.context import RequestContext

LARGE = 8 * 2**20
"""A file above this size counts against the limit of large files; COCO's test set with long captions has 5 MiB."""


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
                "%(number)s files of this account are being checked. Wait for them, then send the next.",
                retry_after=5,
                number=MOST_OF_ONE,
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


def receive(context: RequestContext, slug: str, upload: uploads.Upload) -> tuple[Submission, bool]:
    """Checks a file completely, outside any transaction, and queues it: the submission, and whether it is new.

    Raises `Refused` with every problem of the file, or where the benchmark, the quota or the limits say no. To be
    called in the upload room's threads: the check takes time and memory.
    """
    limits = context.state.limits
    limits.submit_account.take(str(context.caller.account_id))
    if len(upload.data) > LARGE:
        limits.submit_large.take(str(context.caller.account_id))
    upload = replace(upload, system=names.tidy(upload.system))
    with context.database.read() as session:
        benchmark = find(session, context.caller, slug)
        uploads.check_allowed(session, context.caller, benchmark, baseline=upload.baseline)
        images = context.state.image_ids.of(session, benchmark)
    uploads.check_upload(benchmark, images, upload, context.state.uploads.examination)
    with context.database.write() as session:
        submission, new = uploads.submit(session, context.caller, benchmark, upload)
        if new:
            context.audit(session, "submitted", f"{slug} {submission.id}{' baseline' if upload.baseline else ''}")
    context.state.jobs.wake()
    return submission, new
