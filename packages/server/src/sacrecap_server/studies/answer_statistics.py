"""Statistics of a study's answers, computed again only when the answers have changed.

For small studies they are computed in the request. For others a job computes them, and pages show its last result until
there is a new one: the request neither reads the answers nor waits.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, cast, func, select
from sqlalchemy.orm import Session

from sacrecap_server.jobs import jobs
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Assignment, Job, Study, StudyFindings, now
from sacrecap_server.studies import repository
from sacrecap_server.studies.results import answers_of
from sacrecap_studies import KINDS, StudyKind
from sacrecap_studies.answers import PageAnswer, from_row, to_row
from sacrecap_studies.quality import quality

KIND = "quality"
_COUNTED = ("item", "gold", "attention", "practice")
SMALL = 1000
"""Answers up to which statistics are computed in the request; that takes some tenths of a second at most."""
_AGAIN = dt.timedelta(seconds=60)
"""How long statistics of many answers stay before newer answers are counted."""


@dataclass(frozen=True)
class Findings:
    """Statistics, and how they stand to the answers."""

    body: dict[str, Any] | None
    """The fields of `sacrecap_studies.quality.Quality`; None if they were never computed."""
    is_current: bool
    """False if there are newer answers, which a job counts."""
    computed: Any = None
    is_counting: bool = False
    """Whether a job waits or runs."""
    problem: str = ""
    """Why the last job did not find any."""


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
    limit = repository.limit_of(study, "speed").least
    text = ",".join(f"{state[0]}{count}.{total}" for state, count, total in rows)
    return f"{text},{limit:g}", sum(count for _, count, _ in rows)


def current(session: Session, study: Study) -> Findings:
    """The statistics as they are known now; see `ask_if_due` for where they are not current."""
    state, count = state_of(session, study)
    kept = session.get(StudyFindings, study.id)
    if kept is not None and kept.state == state:
        return Findings(json.loads(kept.body), True, kept.computed)
    if count <= SMALL:
        return Findings(
            _computed(repository.kind_of(study), list(answers_of(session, study, *_COUNTED)), _limit(study)),
            True,
            now(),
        )
    body = None if kept is None else json.loads(kept.body)
    job = newest_job(session, study)
    is_counting = job is not None and job.finished is None
    problem = job.message if job is not None and job.state == "failed" else ""
    return Findings(body, False, None if kept is None else kept.computed, is_counting, problem)


def ask_if_due(database: Database, study: Study, known: Findings) -> bool:
    """Queues the job where there are newer answers; False if one waits, runs, or ended less than a minute ago.

    Call `Jobs.wake` where it returns True.
    """
    if known.is_current:
        return False
    with database.write() as session:
        job = newest_job(session, study)
        if job is not None and (job.finished is None or job.finished > now() - _AGAIN):
            return False
        jobs.add(session, KIND, study.id)
    return True


def newest_job(session: Session, study: Study) -> Job | None:
    """The job that was asked for last."""
    query = select(Job).where(Job.kind == KIND, Job.subject_id == study.id).order_by(Job.id.desc()).limit(1)
    return session.execute(query).scalar_one_or_none()


def _limit(study: Study) -> float:
    return repository.limit_of(study, "speed").least


def prepare(session: Session, study_id: int) -> tuple[dict[str, Any], list[bytes]]:
    """The study's answers as lines of JSON, with no more of each than its statistics need."""
    study = session.get(Study, study_id)
    if study is None:  # deleted meanwhile
        return {"kind": "", "limit": 0.0, "state": ""}, [b""]
    state, _ = state_of(session, study)
    lines = bytearray()
    for one in answers_of(session, study, *_COUNTED):
        lines += json.dumps(to_row(one)).encode()
        lines += b"\n"
    asked = repository.settings_of(study).get("asked", {})
    return {"kind": study.kind, "asked": asked, "limit": _limit(study), "state": state}, [bytes(lines)]


def compute(header: dict[str, Any], files: list[bytes], _progress: Callable[[str], None]) -> dict[str, Any]:
    """In the child: the statistics of the answers."""
    if not header["kind"]:
        return {}
    answers = [from_row(json.loads(line)) for line in files[0].splitlines()]
    kind = KINDS[header["kind"]].asking(header["asked"])
    return {"state": header["state"], "body": _computed(kind, answers, header["limit"])}


def _computed(kind: StudyKind, answers: list[PageAnswer], limit: float) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(quality(kind, answers, fast_below=limit))))
    return body


def store(session: Session, study_id: int, answer: dict[str, Any]) -> None:
    """Keeps what the child found."""
    if not answer or session.get(Study, study_id) is None:
        return
    kept = session.get(StudyFindings, study_id) or StudyFindings(study_id=study_id)
    kept.state, kept.body, kept.computed = answer["state"], json.dumps(answer["body"]), now()
    session.add(kept)


jobs.JOB_KINDS[KIND] = jobs.JobKind(prepare, "sacrecap_server.studies.answer_statistics:compute", store)
