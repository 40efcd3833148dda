"""Whether this server can do its work now: for load balancers and monitors, which ask often."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from sacrecap_server.errors import Refused
from sacrecap_server.jobs.jobs import Jobs
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import KeyValue, now
from sacrecap_server.web.faults import is_full

_FRESH_SECONDS = 5.0
_PATIENCE = 1.0
_LEAST_SPACE = 64 * 2**20
"""Bytes that must be free beside an SQLite file: twice the largest upload by default."""
_WRITTEN = " " * 8192
"""Some pages, so that a database that cannot grow says so."""


class Readiness:
    """Asks the database to write, at most every few seconds, however many ask."""

    def __init__(self, database: Database, jobs: Jobs, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._jobs = jobs
        self._clock = clock
        self._lock = threading.Lock()
        self._known_until = float("-inf")
        self._problems: list[str] = []

    def problems(self) -> list[str]:
        """What keeps the server from its work, in words for anybody; nothing if it is ready."""
        if not self._lock.acquire(timeout=2 * _PATIENCE):
            return ["The database does not answer."]
        try:
            if self._clock() >= self._known_until:
                self._problems = [problem for problem in (self._of_database(), self._of_jobs()) if problem]
                self._known_until = self._clock() + _FRESH_SECONDS
            return self._problems
        finally:
            self._lock.release()

    def _of_database(self) -> str:
        file = self._database.file
        try:
            if file is not None and shutil.disk_usage(file.parent).free < _LEAST_SPACE:
                return "The disk of the database is nearly full."
            with self._database.write(_PATIENCE) as session:
                session.merge(KeyValue(name="readiness", value=now().isoformat() + _WRITTEN))
        except (SQLAlchemyError, OSError, Refused) as error:
            return "The disk of the database is full." if is_full(error) else "The database does not take writing."
        return ""

    def _of_jobs(self) -> str:
        return "" if self._jobs.alive() else "Jobs are not run: a runner has ended. Start the server again."
