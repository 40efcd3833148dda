"""A study's answers from the database, and its progress.

Nothing here holds all answers of a study in memory: they are counted by the database, looked at a page at a time, or
streamed, some hundred questions at a time, in the order of the items.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from sacrecap_server.store.models import Annotator, Assignment, Study, StudyItem, now
from sacrecap_studies.answers import PageAnswer

A_PAGE = 50
_ITEMS_AT_A_TIME = 300
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


@dataclass(frozen=True)
class StudyProgress:
    """The progress of a study."""

    wanted: int
    """Answers to items that the study asks for."""
    answers: int
    """Those that it has, and that count."""
    at_work: int
    """Questions given out and not answered yet."""
    people: int
    excluded: int
    discarded: int
    """Answers that do not count."""

    @property
    def percent(self) -> float:
        return 100 * self.answers / self.wanted if self.wanted else 0.0


def progress(session: Session, study: Study) -> StudyProgress:
    """Counted in the database; quick enough for a page that looks every few seconds."""
    items = select(func.count()).where(StudyItem.study_id == study.id, StudyItem.role == "item")
    states = (
        select(Assignment.state, func.count())
        .where(Assignment.study_id == study.id, Assignment.role == "item")
        .group_by(Assignment.state)
    )
    at_work = select(func.count()).where(
        Assignment.study_id == study.id, Assignment.state == "given", Assignment.expires >= now()
    )
    people = select(func.count(), func.count(Annotator.excluded)).where(Annotator.study_id == study.id)
    counts = {row[0]: row[1] for row in session.execute(states)}
    everybody, excluded = session.execute(people).one()
    return StudyProgress(
        wanted=session.execute(items).scalar_one() * study.judgments,
        answers=counts.get("answered", 0),
        at_work=session.execute(at_work).scalar_one(),
        people=everybody,
        excluded=excluded,
        discarded=counts.get("discarded", 0) + counts.get("rejected", 0),
    )


def answers_of(session: Session, study: Study, *roles: str) -> Iterator[PageAnswer]:
    """Every answer to pages of these roles (by default all), whether it counts or not, in the order of the items."""
    people = _People(session, study)
    for role in sorted(roles or ROLES):
        last = -1
        while items := _items_after(session, study, role, last):
            last = items[-1].number
            by_item: dict[int, list[Any]] = {}
            query = select(*_COLUMNS).where(Assignment.item_id.in_([item.id for item in items]))
            for given in session.execute(query.where(Assignment.answered.is_not(None)).order_by(Assignment.answered)):
                by_item.setdefault(given.item_id, []).append(given)
            for item in items:
                if item.id in by_item:
                    content = json.loads(item.content)
                    yield from (_answer(given, item, content, people) for given in by_item[item.id])


_COLUMNS = (
    Assignment.id,
    Assignment.item_id,
    Assignment.annotator_id,
    Assignment.role,
    Assignment.state,
    Assignment.shown_order,
    Assignment.given,
    Assignment.answered,
    Assignment.active_ms,
    Assignment.answer,
    Assignment.correct,
    Assignment.too_fast,
    Assignment.repeated,
    Assignment.reason,
)
_ITEM_COLUMNS = (StudyItem.id, StudyItem.role, StudyItem.number, StudyItem.group, StudyItem.content)


def _items_after(session: Session, study: Study, role: str, last: int) -> list[Any]:
    query = select(*_ITEM_COLUMNS).where(
        StudyItem.study_id == study.id, StudyItem.role == role, StudyItem.number > last
    )
    return list(session.execute(query.order_by(StudyItem.number).limit(_ITEMS_AT_A_TIME)))


class _People:
    """What answers tell of the people of a study."""

    def __init__(self, session: Session, study: Study) -> None:
        query = select(
            Annotator.id, Annotator.worker, Annotator.platform_study, Annotator.platform_session, Annotator.excluded
        )
        self.rows = {row.id: row for row in session.execute(query.where(Annotator.study_id == study.id))}


def _answer(given: Any, item: Any, content: dict[str, Any], people: _People) -> PageAnswer:
    person = people.rows[given.annotator_id]
    state = next((name for name, stored in STATES.items() if stored == given.state), given.state)
    if item.role == "practice":
        state = "practice"
    return PageAnswer(
        role=given.role,
        number=item.number,
        group=item.group,
        content=content,
        person=given.annotator_id,
        worker=person.worker or "",
        answer=json.loads(given.answer),
        order=json.loads(given.shown_order),
        correct=given.correct,
        counts=state == "counted",
        given=given.given,
        answered=given.answered,
        id=given.id,
        active_seconds=None if given.active_ms is None else given.active_ms / 1000,
        too_fast=given.too_fast,
        repeated=given.repeated,
        state=state,
        reason=given.reason if state == "rejected" else (person.excluded or "") if state == "excluded" else "",
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

    @property
    def is_empty(self) -> bool:
        return self == Filter()

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


def answers_page(session: Session, study: Study, wanted: Filter, page: int, size: int = A_PAGE) -> AnswersPage:
    """One page of the answers that the filter lets through; the last where there are fewer pages."""
    count = session.execute(wanted.apply(select(func.count()).select_from(Assignment), study)).scalar_one()
    pages = max(1, -(-count // size))
    page = min(max(page, 1), pages)
    every: Any = select(*_COLUMNS)
    query = wanted.apply(every, study).order_by(Assignment.answered.desc(), Assignment.id.desc())
    rows = session.execute(query.offset((page - 1) * size).limit(size)).all()
    items = {
        item.id: item
        for item in session.execute(select(*_ITEM_COLUMNS).where(StudyItem.id.in_([row.item_id for row in rows])))
    }
    contents = {number: json.loads(item.content) for number, item in items.items()}
    people = _People(session, study)
    answers = [_answer(row, items[row.item_id], contents[row.item_id], people) for row in rows]
    return AnswersPage(answers, count, page, pages)


def pages_by_group(session: Session, study: Study) -> dict[int, int]:
    """How many questions each item of the file has become, where it can be several."""
    query = select(StudyItem.group, func.count()).where(StudyItem.study_id == study.id, StudyItem.role == "item")
    return {row[0]: row[1] for row in session.execute(query.group_by(StudyItem.group).having(func.count() > 1))}


def people_of(session: Session, study: Study) -> dict[int, Annotator]:
    """The study's people by number."""
    query = select(Annotator).where(Annotator.study_id == study.id).order_by(Annotator.id)
    return {person.id: person for person in session.execute(query).scalars()}


def progress_of_all(session: Session, studies: list[Study]) -> dict[int, tuple[int, int, int]]:
    """Answers that count, answers wanted and people of several studies, in three queries."""
    ids = [study.id for study in studies]

    def counted(query: Any) -> dict[int, int]:
        return {row[0]: row[1] for row in session.execute(query)}

    answers = counted(
        select(Assignment.study_id, func.count())
        .where(Assignment.study_id.in_(ids), Assignment.state == "answered")
        .where(Assignment.role == "item")
        .group_by(Assignment.study_id)
    )
    items = counted(
        select(StudyItem.study_id, func.count())
        .where(StudyItem.study_id.in_(ids), StudyItem.role == "item")
        .group_by(StudyItem.study_id)
    )
    people = counted(
        select(Annotator.study_id, func.count()).where(Annotator.study_id.in_(ids)).group_by(Annotator.study_id)
    )
    return {
        study.id: (answers.get(study.id, 0), items.get(study.id, 0) * study.judgments, people.get(study.id, 0))
        for study in studies
    }
