"""Work outside the request: a queue in the database, and a process with limits for each job.

A job is a row; `add` writes it in the caller's transaction, so that the job and its subject are stored together. Runner
threads take a queued job, start a child process with limits on time and memory, and store its answer. A runner renews
its lease on the job while it works: a job whose lease ran out, because its server was killed, is taken again.

Kinds take turns, and within a kind its teams do: next is who began a job the longest ago. So nobody waits for all that
somebody else has asked for. Jobs that only wait for another machine have a runner of their own.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, update
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session, aliased

from sacrecap_server.jobs.child import ChildFailedError, ResourceLimits, run_child
from sacrecap_server.jobs.chores import CHORES, queue_due
from sacrecap_server.observability import Meters, event
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Job, now

LEASE = dt.timedelta(seconds=15)
ATTEMPTS = 20
"""How often a job is started before we assume that it kills the server."""
_POLL_SECONDS = 1.0
_CHORE_SECONDS = 60.0
"""How often it is looked whether a chore is due."""


@dataclass(frozen=True)
class JobKind:
    """The work of one kind of job: three steps, of which only the middle one runs in the child."""

    prepare: Callable[[Session, int], tuple[dict[str, Any], list[bytes]]]
    """Reads what the child needs: JSON and files."""
    compute: str
    """`module:function` of (header, files, progress) → JSON, run in the child, which cannot reach the database.

    The header is that of `prepare`, and under `server` the settings that children may know.
    """
    store: Callable[[Session, int, dict[str, Any]], None]
    """Writes the answer, in the transaction that marks the job as done."""
    remote: bool = False
    """Whether it waits for another machine, which may never answer, rather than works."""


JOB_KINDS: dict[str, JobKind] = {}
"""Each kind by name; a module that defines one registers it here when it is imported."""


def add(session: Session, kind: str, subject_id: int, *, share: int = 0, due: dt.datetime | None = None) -> Job:
    """Queues a job in the caller's transaction, to begin at `due` or at once; call `Jobs.wake` after it.

    Of the jobs of one kind, those of each `share` take turns.
    """
    job = Job(kind=kind, subject_id=subject_id, share=share, due=due)
    session.add(job)
    return job


class Jobs:
    """The runners of one server."""

    def __init__(self, database: Database, settings: ServerSettings, meters: Meters) -> None:
        self.database = database
        self.settings = settings
        self.limits = ResourceLimits(settings.job_seconds, settings.job_memory)
        self.server = {"url": settings.url, "private_webhooks": settings.private_webhooks}
        self.meters = meters
        self._name = f"{platform.node()[:20]}:{os.getpid()}:{os.urandom(4).hex()}"
        self._wake = threading.Semaphore(0)
        self._stopping = threading.Event()
        lanes = [False] * settings.workers + [True] * (settings.workers > 0)
        self._threads = [
            threading.Thread(target=self._run, args=(remote,), name=f"jobs-{number}", daemon=True)
            for number, remote in enumerate(lanes)
        ]

    def start(self) -> None:
        """Starts the runners."""
        for thread in self._threads:
            thread.start()

    def alive(self) -> bool:
        """Whether no runner that was started has ended by itself."""
        return all(thread.is_alive() or thread.ident is None for thread in self._threads)

    def wake(self) -> None:
        """Tells the runners that there is something to do."""
        self._wake.release(max(1, len(self._threads)))

    def stop(self) -> None:
        """Ends the runners; a job that runs goes back into the queue."""
        self._stopping.set()
        self.wake()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def counts(self) -> dict[tuple[str, str], int]:
        """Number of jobs by kind and state."""
        with self.database.read() as session:
            rows = session.execute(select(Job.kind, Job.state, func.count()).group_by(Job.kind, Job.state))
            return {(kind, state): number for kind, state, number in rows}

    def _run(self, remote: bool) -> None:
        looked = float("-inf")
        while not self._stopping.is_set():
            try:
                if time.monotonic() - looked > _CHORE_SECONDS:
                    looked = time.monotonic()
                    queue_due(self.database)
                if not self.run_one(remote=remote):
                    self._wake.acquire(timeout=_POLL_SECONDS)
            except Exception as error:  # noqa: BLE001  (the database may be away; the queue must survive it)
                event("jobs.error", error=type(error).__name__)
                self._stopping.wait(_POLL_SECONDS)

    def run_one(self, *, remote: bool | None = None) -> bool:
        """Takes a waiting job, of remote kinds or of the others, and sees it to its end; False if none waits."""
        taken = self._take(remote)
        if taken is None:
            return False
        job_id, kind, subject_id, attempts = taken
        started = time.monotonic()
        if attempts > ATTEMPTS:
            self._end(job_id, "failed", "It was started several times, and the server stopped each time.")
            outcome = "failed"
        else:
            outcome = self._attempt(job_id, kind, subject_id)
        seconds = time.monotonic() - started
        self.meters.job_seconds.labels(kind).observe(seconds)
        event("job", job=job_id, kind=kind, outcome=outcome, seconds=round(seconds, 2))
        return True

    def _take(self, remote: bool | None) -> tuple[int, str, int, int] | None:
        free = _free(remote)
        with self.database.read() as session:
            if session.execute(select(Job.id).where(free).limit(1)).first() is None:
                return None
        with self.database.write() as session:
            in_turn = _in_turn(free).with_for_update(of=Job, skip_locked=True)
            job = session.execute(in_turn).scalar_one_or_none()
            if job is None:
                return None
            job.state, job.runner, job.lease = "running", self._name, now() + LEASE
            job.attempts += 1
            job.started, job.progress = now(), ""
            return job.id, job.kind, job.subject_id, job.attempts

    def _attempt(self, job_id: int, kind: str, subject_id: int) -> str:
        """Gives what came of it."""
        if kind in CHORES:
            self._end(job_id, "done", store=lambda session: event(kind, **CHORES[kind].run(session, self.settings)))
            return "done"
        try:
            with self.database.read() as session:
                header, files = JOB_KINDS[kind].prepare(session, subject_id)
            header["server"] = self.server
            answer = run_child(
                JOB_KINDS[kind].compute, header, files, self.limits, lambda text: self._renew(job_id, text)
            )
        except ChildFailedError as error:
            self._end(job_id, "failed", str(error))
            return "failed"
        except InterruptedError:
            self._requeue(job_id)
            return "put back"
        except NoResultFound:
            self._end(job_id, "failed", "Its subject was deleted.")
            return "failed"
        self._end(job_id, "done", store=lambda session: JOB_KINDS[kind].store(session, subject_id, answer))
        return "done"

    def _renew(self, job_id: int, progress: str) -> None:
        if self._stopping.is_set():
            raise InterruptedError
        with self.database.write() as session:
            values: dict[str, Any] = {"lease": now() + LEASE}
            if progress:
                values["progress"] = progress[:80]
            held = session.execute(update(Job).where(*self._mine(job_id)).values(values))
            if held.rowcount == 0:  # type: ignore[attr-defined]
                raise InterruptedError

    def _mine(self, job_id: int) -> tuple[Any, ...]:
        return Job.id == job_id, Job.state == "running", Job.runner == self._name

    def _requeue(self, job_id: int) -> None:
        with self.database.write() as session:
            session.execute(
                update(Job).where(*self._mine(job_id)).values(state="queued", attempts=Job.attempts - 1, progress="")
            )

    def _end(
        self, job_id: int, state: str, message: str = "", store: Callable[[Session], None] = lambda _: None
    ) -> None:
        """Marks the end and stores the answer at once; does neither where another runner has taken the job."""
        with self.database.write() as session:
            ended = session.execute(
                update(Job)
                .where(*self._mine(job_id))
                .values(state=state, message=message, finished=now(), progress="", lease=None)
            )
            if ended.rowcount == 1:  # type: ignore[attr-defined]
                store(session)


def _free(remote: bool | None) -> ColumnElement[bool]:
    """The condition that a job can be taken."""
    due = or_(Job.due.is_(None), Job.due <= now())
    free = or_((Job.state == "queued") & due, (Job.state == "running") & (Job.lease < now()))
    if remote is None:
        return free
    kinds = [name for name, kind in JOB_KINDS.items() if kind.remote]
    return and_(free, Job.kind.in_(kinds) if remote else Job.kind.not_in(kinds))


def _in_turn(free: ColumnElement[bool]) -> Select[Any]:
    """The next job: of the kind, and within it of the share, whose last job began first."""
    before = aliased(Job)
    last = func.max(before.started).label("last")
    of_kind = select(before.kind, last).group_by(before.kind).subquery()
    of_share = select(before.kind, before.share, last).group_by(before.kind, before.share).subquery()
    return (
        select(Job)
        .join(of_kind, of_kind.c.kind == Job.kind)
        .join(of_share, (of_share.c.kind == Job.kind) & (of_share.c.share == Job.share))
        .where(free)
        .order_by(of_kind.c.last.nulls_first(), of_share.c.last.nulls_first(), Job.id)
        .limit(1)
    )
