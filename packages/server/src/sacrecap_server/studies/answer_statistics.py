"""Statistics of a study's answers, computed again only when the answers have changed.

For small studies they are computed in the request. For others a process of its own computes them, and pages show its
last result until there is a new one: the request neither reads the answers nor waits.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, cast, func, select
from sqlalchemy.orm import Session

from sacrecap_server.child import ChildFailedError, ResourceLimits, run_child
from sacrecap_server.log import event
from sacrecap_server.store.database import Database
from sacrecap_server.store.schema import Assignment, Study, StudyFindings, now
from sacrecap_server.studies import repository
from sacrecap_server.studies.results import answers_of
from sacrecap_studies.quality import quality

_COUNTED = ("item", "gold", "attention", "practice")
SMALL = 200
"""Answers up to which statistics are computed in the request; that takes a tenth of a second."""
_AGAIN = 60.0
"""Seconds that statistics of many answers stay before newer answers are counted."""
_LIMITS = ResourceLimits(seconds=600, memory=4096)


@dataclass(frozen=True)
class Findings:
    """Statistics, and how they stand to the answers."""

    body: dict[str, Any] | None
    """The fields of `sacrecap_studies.quality.Quality`; None if they were never computed."""
    is_current: bool
    """False if there are newer answers, which are counted then."""
    computed: Any = None
    is_counting: bool = False
    problem: str = ""
    """Why the last count did not find any."""


def state_of(session: Session, study: Study) -> tuple[str, int]:
    """A text that differs where the answers, or which of them count, differ; and how many answers there are.

    From the rows themselves: number and a sum of scrambled ids for each state, which an index has.
    """
    scrambled = cast(Assignment.id, BigInteger) * 2654435761 % 4294967291
    query = (
        select(Assignment.state, func.count(), func.sum(scrambled))
        .where(Assignment.study_id == study.id, Assignment.state.in_(("answered", "discarded", "rejected")))
        .group_by(Assignment.state)
        .order_by(Assignment.state)
    )
    rows = session.execute(query).all()
    text = ",".join(f"{state[0]}{count}.{total}" for state, count, total in rows)
    return f"{text},{_limit(study):g}", sum(count for _, count, _ in rows)


def current(session: Session, study: Study, counting: Counting) -> Findings:
    """The statistics as they are known now; where they are not current, their count is asked for."""
    state, count = state_of(session, study)
    findings = session.get(StudyFindings, study.id)
    if findings is not None and findings.state == state:
        return Findings(json.loads(findings.body), True, findings.computed)
    if count <= SMALL:
        return Findings(_computed(session, study), True, now())
    counted = counting.ask(study.id)
    body, computed = (None, None) if findings is None else (json.loads(findings.body), findings.computed)
    return Findings(body, False, computed, counted.state in _UNDER_WAY, counted.problem)


_UNDER_WAY = ("queued", "running")


@dataclass
class Count:
    """The last count of the answers of one study."""

    state: str = "queued"
    """queued, running, done or failed."""
    problem: str = ""
    """Why it failed, in plain words."""
    ended: float = 0.0
    """When, by `time.monotonic`."""


class Counting:
    """Counts the answers of large studies, one study at a time, in a process with limits on time and memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts: dict[int, Count] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="statistics")

    def ask(self, study_id: int) -> Count:
        """The count that waits or runs, or ended less than a minute ago; else a new one, which begins."""
        with self._lock:
            latest = self._counts.get(study_id)
            if latest is not None and (latest.state in _UNDER_WAY or time.monotonic() - latest.ended < _AGAIN):
                return latest
            self._counts[study_id] = new = Count()
        self._pool.submit(self._run, study_id, new)
        return new

    def stop(self) -> None:
        """Ends the count that runs, and forgets those that wait."""
        self._stopping.set()
        self._pool.shutdown(cancel_futures=True)

    def _run(self, study_id: int, count: Count) -> None:
        count.state = "running"
        try:
            header = {"database": self._database.file, "study": study_id}
            answer = run_child(f"{__name__}:compute", header, [], _LIMITS, self._stopping)
            with self._database.write() as session:
                store(session, study_id, answer)
            count.state = "done"
        except ChildFailedError as error:
            count.state, count.problem = "failed", str(error)
        except Exception as error:  # noqa: BLE001  (the database may be away; another look asks again)
            event("statistics.error", error=type(error).__name__)
            count.state, count.problem = "failed", "It did not end. Look again in a minute."
        finally:
            count.ended = time.monotonic()


def _limit(study: Study) -> float:
    return repository.limit_of(study, "speed").least


def compute(header: dict[str, Any], _: list[bytes]) -> dict[str, Any]:
    """In the child, so that no request waits while answers are read: the statistics, and of which state they are."""
    with closing(Database(header["database"])) as database, database.read() as session:
        study = session.get(Study, header["study"])
        if study is None:  # deleted meanwhile
            return {}
        return {"state": state_of(session, study)[0], "body": _computed(session, study)}


def _computed(session: Session, study: Study) -> dict[str, Any]:
    answers = list(answers_of(session, study, *_COUNTED))
    result = quality(repository.kind_of(study), answers, fast_below=_limit(study))
    body: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(result)))
    return body


def store(session: Session, study_id: int, answer: dict[str, Any]) -> None:
    """Keeps what the child found."""
    if not answer or session.get(Study, study_id) is None:
        return
    findings = session.get(StudyFindings, study_id) or StudyFindings(study_id=study_id)
    findings.state, findings.body, findings.computed = answer["state"], json.dumps(answer["body"]), now()
    session.add(findings)
