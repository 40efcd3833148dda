"""A study's answers out of the database, and how far it is."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from capeval_server.store.models import Annotator, Assignment, Study, StudyItem, now
from capeval_studies.answers import Answer


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
        .join(StudyItem, StudyItem.id == Assignment.item_id)
        .where(Assignment.study_id == study.id, StudyItem.role == "item")
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


def answers_of(session: Session, study: Study) -> list[Answer]:
    """Every answer, also those that do not count, in the order of the items."""
    query = (
        select(Assignment, StudyItem, Annotator.worker)
        .join(StudyItem, StudyItem.id == Assignment.item_id)
        .join(Annotator, Annotator.id == Assignment.annotator_id)
        .where(Assignment.study_id == study.id, Assignment.answered.is_not(None))
        .order_by(StudyItem.role, StudyItem.number, Assignment.answered)
    )
    contents: dict[int, dict[str, object]] = {}
    return [_answer(given, item, worker, contents) for given, item, worker in session.execute(query)]


def _answer(given: Assignment, item: StudyItem, worker: str | None, contents: dict[int, dict[str, object]]) -> Answer:
    assert given.answer is not None
    assert given.answered is not None
    if item.id not in contents:
        contents[item.id] = json.loads(item.content)
    return Answer(
        role=item.role, number=item.number, group=item.group, content=contents[item.id], person=given.annotator_id,
        worker=worker or "", answer=json.loads(given.answer), order=json.loads(given.shown_order),
        correct=given.correct, counts=given.state == "answered" and given.role != "practice", given=given.given,
        answered=given.answered, active_seconds=None if given.active_ms is None else given.active_ms / 1000, id=given.id,
        too_fast=given.too_fast, repeated=given.repeated,
    )  # fmt: skip


def people_of(session: Session, study: Study) -> dict[int, Annotator]:
    """The study's people by number."""
    query = select(Annotator).where(Annotator.study_id == study.id).order_by(Annotator.id)
    return {person.id: person for person in session.execute(query).scalars()}
