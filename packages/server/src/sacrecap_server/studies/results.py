"""A study's answers from the database, its progress, and statistics of them.

Nothing here holds all answers of a study in memory: they are counted by the database, looked at a page at a time, or
streamed, some hundred at a time, in the order of the items. Statistics are computed again only when the answers have
changed: for small studies in the request; for others in a process of its own, and pages show its last result until
there is a new one.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import BigInteger, ColumnElement, Select, cast, func, select
from sqlalchemy.orm import Session, selectinload

from sacrecap_server.child import ChildFailedError, ResourceLimits, run_child
from sacrecap_server.log import event
from sacrecap_server.store.database import Database
from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyFindings, StudyItem, now
from sacrecap_server.studies import repository
from sacrecap_studies.answers import PageAnswer
from sacrecap_studies.quality import quality

_AT_A_TIME = 1000
STATES = {"counted": "answered", "rejected": "rejected", "excluded": "discarded"}
"""What answers are, as pages and files say it, and the state that the database has. Practice is none of these."""
ROLES = {
    "item": "Question",
    "gold": "Gold question",
    "attention": "Attention check",
    "practice": "Practice",
    "before": "Before",
    "after": "After",
}
"""What pages ask, and how the owner's pages call it."""


class StudyProgress(BaseModel):
    """The progress of a study."""

    answers: int = Field(description="Answers to items that count.")
    wanted: int = Field(description="Answers that the study asks for.")
    at_work: int = Field(description="Questions given out and not answered yet.")
    people: int
    excluded: int = Field(description="People whose answers do not count.")
    discarded: int = Field(description="Answers to items that do not count.")


def progress(session: Session, study: Study) -> StudyProgress:
    """Counted in the database; quick enough for a page that looks every few seconds."""
    return progress_of(session, [study])[study.id]


def progress_of(session: Session, studies: list[Study]) -> dict[int, StudyProgress]:
    """The progress of several studies, with as many queries as that of one."""
    ids = [study.id for study in studies]

    def counted(table: type[Assignment | StudyItem | Annotator], *which: ColumnElement[bool]) -> Counter[int]:
        """Such rows of each study."""
        query = select(table.study_id, func.count()).where(table.study_id.in_(ids), *which).group_by(table.study_id)
        return Counter({row[0]: row[1] for row in session.execute(query)})

    is_item, items = Assignment.role == "item", counted(StudyItem, StudyItem.role == "item")
    counts = {
        "answers": counted(Assignment, is_item, Assignment.state == "answered"),
        "at_work": counted(Assignment, Assignment.state == "given", Assignment.expires >= now()),
        "people": counted(Annotator),
        "excluded": counted(Annotator, Annotator.excluded.is_not(None)),
        "discarded": counted(Assignment, is_item, Assignment.state.in_(("discarded", "rejected"))),
    }
    return {
        id: StudyProgress(wanted=items[id] * study.judgments, **{name: count[id] for name, count in counts.items()})
        for id, study in zip(ids, studies, strict=True)
    }


_WITH_QUESTION = (selectinload(Assignment.item), selectinload(Assignment.annotator))


def answers_of(session: Session, study: Study, *roles: str) -> Iterator[PageAnswer]:
    """Every answer to pages of these roles (by default all), whether it counts or not, in the order of the items."""
    query = (
        select(Assignment)
        .join(Assignment.item)
        .where(StudyItem.study_id == study.id, StudyItem.role.in_(roles or ROLES), Assignment.answered.is_not(None))
        .order_by(StudyItem.role, StudyItem.number, Assignment.answered, Assignment.id)
        .options(*_WITH_QUESTION)
        .execution_options(yield_per=_AT_A_TIME)
    )
    return map(_answer, session.execute(query).scalars())


def _answer(assignment: Assignment) -> PageAnswer:
    item, person = assignment.item, assignment.annotator
    state = next((name for name, stored in STATES.items() if stored == assignment.state), assignment.state)
    if item.role == "practice":
        state = "practice"
    assert assignment.answered is not None
    return PageAnswer(
        role=assignment.role,
        number=item.number,
        group=item.group,
        content=item.content,
        person=assignment.annotator_id,
        worker=person.worker or "",
        answer=assignment.answer,
        order=assignment.shown_order,
        correct=assignment.correct,
        counts=state == "counted",
        given=assignment.given,
        answered=assignment.answered,
        id=assignment.id,
        active_seconds=None if assignment.active_ms is None else assignment.active_ms / 1000,
        too_fast=assignment.too_fast,
        repeated=assignment.repeated,
        state=state,
        reason=assignment.reason if state == "rejected" else (person.excluded or "") if state == "excluded" else "",
        platform_study=person.platform_study,
        platform_session=person.platform_session,
    )


@dataclass(frozen=True)
class Filter:
    """Which answers to look at; empty fields filter nothing."""

    person: int | None = None
    role: str = ""
    item: int | None = None
    """The question's number among those of its role, from 1 as pages show it."""
    state: str = ""
    image: str = ""

    def query(self) -> dict[str, str]:
        """As the query of an address has it."""
        return {name: str(value) for name, value in vars(self).items() if value not in (None, "")}

    def apply(self, query: Select[Any], study: Study) -> Select[Any]:
        """The query with this filter's conditions; each answer that fits is of the study."""
        query = query.where(Assignment.answered.is_not(None))
        # One condition says of which study: with two, databases go through all answers in order of time.
        if self.item is not None or self.image:
            items = select(StudyItem.id).where(StudyItem.study_id == study.id)
            if self.item is not None:
                items = items.where(StudyItem.number == self.item - 1, StudyItem.role.in_(ROLES))
            if self.image:
                items = items.where(StudyItem.image_id == self.image)
            query = query.where(Assignment.item_id.in_(items))
        elif self.person is None:
            query = query.where(Assignment.study_id == study.id)
        if self.person is not None:
            person = select(Annotator.id).where(Annotator.study_id == study.id, Annotator.id == self.person)
            query = query.where(Assignment.annotator_id.in_(person))
        if self.role:
            query = query.where(Assignment.role == self.role)
        if self.state:
            query = query.where(Assignment.state == STATES[self.state], Assignment.role != "practice")
        return query


@dataclass(frozen=True)
class AnswersPage:
    """Some answers of a study, the newest first."""

    answers: list[PageAnswer]
    count: int
    """Of all pages."""
    page: int
    pages: int


def answers_page(session: Session, study: Study, chosen: Filter, page: int, size: int = 50) -> AnswersPage:
    """One page of the answers that the filter lets through; the last where there are fewer pages."""
    count = session.execute(chosen.apply(select(func.count()).select_from(Assignment), study)).scalar_one()
    pages = max(1, -(-count // size))
    page = min(max(page, 1), pages)
    query = chosen.apply(select(Assignment).options(*_WITH_QUESTION), study)
    newest = query.order_by(Assignment.answered.desc(), Assignment.id.desc())
    rows = session.execute(newest.offset((page - 1) * size).limit(size)).scalars()
    return AnswersPage([_answer(row) for row in rows], count, page, pages)


def pages_by_group(session: Session, study: Study) -> dict[int, int]:
    """How many questions each item of the file has become, where it can be several."""
    query = select(StudyItem.group, func.count()).where(StudyItem.study_id == study.id, StudyItem.role == "item")
    return {row[0]: row[1] for row in session.execute(query.group_by(StudyItem.group).having(func.count() > 1))}


def people_of(session: Session, study: Study) -> dict[int, Annotator]:
    """The study's people by number."""
    query = select(Annotator).where(Annotator.study_id == study.id).order_by(Annotator.id)
    return {person.id: person for person in session.execute(query).scalars()}


SMALL = 200
"""Answers up to which statistics are computed in the request; that takes a tenth of a second."""


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
    return f"{text},{repository.limit_of(study, 'speed').least:g}", sum(count for _, count, _ in rows)


def current(session: Session, study: Study, counting: Counting) -> Findings:
    """The statistics as they are known now; where they are not current, their count is asked for."""
    state, count = state_of(session, study)
    findings = session.get(StudyFindings, study.id)
    if findings is not None and findings.state == state:
        return Findings(findings.body, True, findings.computed)
    if count <= SMALL:
        return Findings(_computed(session, study), True, now())
    is_counting, problem = counting.ask(study.id)
    body, computed = (None, None) if findings is None else (findings.body, findings.computed)
    return Findings(body, False, computed, is_counting, problem)


class Counting:
    """Counts the answers of large studies, one study at a time, in a process with limits on time and memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts: dict[int, Future[tuple[float, str]]] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="statistics")

    def ask(self, study_id: int) -> tuple[bool, str]:
        """Whether a count waits or runs (it begins here if the last is over a minute old); and why the last failed."""
        with self._lock:
            latest = self._counts.get(study_id)
            if latest is not None and latest.done():
                ended, problem = latest.result()
                if time.monotonic() - ended < 60:
                    return False, problem
                latest = None
            if latest is None:
                self._counts[study_id] = self._pool.submit(self._run, study_id)
        return True, ""

    def stop(self) -> None:
        """Ends the count that runs, and forgets those that wait."""
        self._stopping.set()
        self._pool.shutdown(cancel_futures=True)

    def _run(self, study_id: int) -> tuple[float, str]:
        """When the count ended, by `time.monotonic`, and why it failed, in plain words."""
        problem = ""
        try:
            header = {"database": self._database.file, "study": study_id}
            limits = ResourceLimits(seconds=600, memory=4096)
            answer = run_child(f"{__name__}:compute", header, [], limits, self._stopping)
            with self._database.write() as session:
                store(session, study_id, answer)
        except ChildFailedError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001  (the database may be away; another look asks again)
            event("statistics.error", error=type(error).__name__)
            problem = "It did not end. Look again in a minute."
        return time.monotonic(), problem


def compute(header: dict[str, Any], _: list[bytes]) -> dict[str, Any]:
    """In the child, so that no request waits while answers are read: the statistics, and of which state they are."""
    with closing(Database(header["database"])) as database, database.read() as session:
        study = session.get(Study, header["study"])
        if study is None:  # deleted meanwhile
            return {}
        return {"state": state_of(session, study)[0], "body": _computed(session, study)}


def _computed(session: Session, study: Study) -> dict[str, Any]:
    answers = list(answers_of(session, study, "item", "gold", "attention", "practice"))
    result = quality(repository.kind_of(study), answers, fast_below=repository.limit_of(study, "speed").least)
    body: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(result)))
    return body


def store(session: Session, study_id: int, answer: dict[str, Any]) -> None:
    """Keeps what the child found, unless the study was deleted meanwhile."""
    if answer and session.get(Study, study_id) is not None:
        session.merge(StudyFindings(study_id=study_id, computed=now(), **answer))
