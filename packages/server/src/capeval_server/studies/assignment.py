"""Giving out items and taking answers: no item to more people than its judgments, none twice to one person.

`StudyItem.taken` counts the assignments that hold a place of the item: given out or answered. Whoever changes it has
locked the study, so the count is right however many people there are. A place is given back when nobody answers in
time, and when the answers of a person no longer count.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.orm import Session, joinedload

from capeval_server.store.models import Annotator, Assignment, Study, StudyItem, now
from capeval_server.studies.repository import checks_of, kind_of, lock
from capeval_server.web.errors import not_found

_LONGEST_MS = 24 * 3600 * 1000


def present(session: Session, annotator: Annotator) -> Assignment | None:
    """Items that this person was given and has not answered yet."""
    query = (
        select(Assignment)
        .where(Assignment.annotator_id == annotator.id, Assignment.state == "given")
        .options(joinedload(Assignment.item))
    )
    return session.execute(query).scalars().first()


def next_assignment(session: Session, study: Study, annotator: Annotator) -> Assignment | None:
    """The next item of this person, assigned now if they have none; None if no item is left for them."""
    lock(session, study.id)
    found = present(session, annotator)
    if found is None:
        return _give(session, study, annotator)
    found.expires = now() + dt.timedelta(minutes=study.minutes)
    return found


def _give(session: Session, study: Study, annotator: Annotator) -> Assignment | None:
    is_done = study.most_per_person is not None and annotator.items >= study.most_per_person
    if study.state != "open" or annotator.excluded is not None or is_done:
        return None
    ordinary = _next_item(session, study, annotator, "item")
    if ordinary is None and release_abandoned(session, study):
        # Only now: until a place is wanted, whoever has it may still answer.
        ordinary = _next_item(session, study, annotator, "item")
    if ordinary is None:
        return None
    due = _due_check(session, study, annotator)
    item = (_next_item(session, study, annotator, due) if due else None) or ordinary
    item.taken += 1
    order = list(range(kind_of(study).options(json.loads(item.content))))
    random.shuffle(order)
    given = Assignment(
        study_id=study.id, item=item, annotator_id=annotator.id, shown_order=json.dumps(order), state="given",
        expires=now() + dt.timedelta(minutes=study.minutes),
    )  # fmt: skip
    session.add(given)
    session.flush()
    return given


def _next_item(session: Session, study: Study, annotator: Annotator, role: str) -> StudyItem | None:
    """An item this person has not seen; those nearest to complete first, which the index has in this order."""
    seen = exists().where(Assignment.item_id == StudyItem.id, Assignment.annotator_id == annotator.id)
    query = select(StudyItem).where(StudyItem.study_id == study.id, StudyItem.role == role, ~seen)
    if role == "item":
        query = query.where(StudyItem.taken < study.judgments)
        query = query.order_by(StudyItem.taken.desc(), StudyItem.shuffle.desc())
    else:
        query = query.order_by(func.random())
    return session.execute(query.limit(1)).scalar_one_or_none()


def _due_check(session: Session, study: Study, annotator: Annotator) -> str | None:
    """The role of the check that is due after so many items."""
    checks = checks_of(study)
    if not checks or not annotator.items:
        return None
    query = (
        select(StudyItem.role, func.count())
        .join(Assignment, Assignment.item_id == StudyItem.id)
        .where(Assignment.annotator_id == annotator.id, StudyItem.role != "item")
        .group_by(StudyItem.role)
    )
    had = {row[0]: row[1] for row in session.execute(query)}
    return next((role for role, rules in checks.items() if annotator.items // rules.every > had.get(role, 0)), None)


def release_abandoned(session: Session, study: Study) -> int:
    """Gives back the places of what was not answered in time; how many there were."""
    query = select(Assignment.id, Assignment.item_id).where(
        Assignment.study_id == study.id, Assignment.state == "given", Assignment.expires < now()
    )
    rows = session.execute(query).all()
    for assignment_id, item_id in rows:
        session.execute(update(Assignment).where(Assignment.id == assignment_id).values(state="released"))
        _change_taken(session, item_id, -1)
    return len(rows)


def _change_taken(session: Session, item_id: int, change: int) -> None:
    session.execute(update(StudyItem).where(StudyItem.id == item_id).values(taken=StudyItem.taken + change))


def record(session: Session, study: Study, annotator: Annotator, assignment_id: int, form: Mapping[str, str]) -> bool:
    """Stores an answer, once: sent again, by a double click or a retry, it changes nothing.

    Raises `AnswerError` where the form is not complete. False where the item went to somebody else meanwhile, since
    this answer came too late, and where the study is closed.
    """
    lock(session, study.id)
    query = select(Assignment).where(Assignment.id == assignment_id, Assignment.annotator_id == annotator.id)
    given = session.execute(query.options(joinedload(Assignment.item))).scalar_one_or_none()
    if given is None:
        raise not_found("question")
    if given.state in ("answered", "discarded"):
        return True
    answer = kind_of(study).read(json.loads(given.item.content), form)
    if study.state == "closed" or annotator.excluded is not None:
        return False
    if given.state == "released":
        if given.item.role == "item" and given.item.taken >= study.judgments:
            return False
        _change_taken(session, given.item_id, +1)
    _store(session, study, annotator, given, answer, form)
    return True


def _store(
    session: Session, study: Study, annotator: Annotator, given: Assignment, answer: Any, form: Mapping[str, str]
) -> None:
    given.state, given.answered, given.answer = "answered", now(), json.dumps(answer)
    given.active_ms = _milliseconds(form.get("active", ""))
    if given.item.role == "item":
        annotator.items += 1
        return
    assert given.item.answer is not None
    given.correct = kind_of(study).is_correct(json.loads(given.item.answer), answer)
    session.flush()
    _apply_policy(session, study, annotator, given.item.role)


def _milliseconds(text: str) -> int | None:
    """The time that the browser measured, if it is plausible."""
    return min(int(text), _LONGEST_MS) if text.isascii() and text.isdecimal() and len(text) < 12 else None


def _apply_policy(session: Session, study: Study, annotator: Annotator, role: str) -> None:
    query = (
        select(Assignment.correct)
        .join(StudyItem, StudyItem.id == Assignment.item_id)
        .where(Assignment.annotator_id == annotator.id, StudyItem.role == role, Assignment.correct.is_not(None))
    )
    answers = session.execute(query).scalars().all()
    rules = checks_of(study)[role]
    if not rules.fails(sum(map(bool, answers)), len(answers)):
        return
    if rules.policy == "exclude":
        what = "gold questions" if role == "gold" else "attention checks"
        exclude(session, study, annotator, f"{sum(map(bool, answers))} of {len(answers)} {what} right")
    elif rules.policy == "warn":
        annotator.warned = True


def exclude(session: Session, study: Study, annotator: Annotator, reason: str) -> None:
    """From now on this person's answers do not count, and others judge the items again."""
    lock(session, study.id)
    annotator.excluded = reason[:200]
    _move(session, annotator, {"answered": "discarded", "given": "released"}, -1)


def include(session: Session, study: Study, annotator: Annotator) -> None:
    """Takes an exclusion back; answers to items that others have completed meanwhile stay discarded."""
    lock(session, study.id)
    annotator.excluded = None
    _move(session, annotator, {"discarded": "answered"}, +1, most=study.judgments)


def _move(session: Session, annotator: Annotator, states: dict[str, str], change: int, most: int | None = None) -> None:
    query = (
        select(Assignment)
        .where(Assignment.annotator_id == annotator.id, Assignment.state.in_(states))
        .options(joinedload(Assignment.item))
    )
    for assignment in session.execute(query).scalars():
        item = assignment.item
        if most is not None and item.role == "item" and item.taken + change > most:
            continue
        assignment.state = states[assignment.state]
        item.taken += change


def reject(session: Session, study: Study, assignment_id: int) -> None:
    """The owner does not take this answer: the item goes to somebody else."""
    lock(session, study.id)
    query = select(Assignment).where(Assignment.id == assignment_id, Assignment.study_id == study.id)
    assignment = session.execute(query.options(joinedload(Assignment.item))).scalar_one_or_none()
    if assignment is None:
        raise not_found("answer")
    if assignment.state == "answered":
        assignment.state = "discarded"
        assignment.item.taken -= 1


def give_back(session: Session, study: Study, annotator: Annotator) -> None:
    """Gives back what this person holds and has not answered, as if its time were over."""
    lock(session, study.id)
    mine = (Assignment.annotator_id == annotator.id) & (Assignment.state == "given")
    session.execute(update(Assignment).where(mine).values(expires=now() - dt.timedelta(seconds=1)))
    release_abandoned(session, study)


def withdraw(session: Session, study: Study, annotator: Annotator) -> None:
    """Deletes everything that this person was asked and answered; others judge the items again."""
    before = annotator.excluded
    exclude(session, study, annotator, "withdrawn")  # which gives the places back
    annotator.excluded = before
    session.flush()
    session.execute(delete(Assignment).where(Assignment.annotator_id == annotator.id))
    annotator.items, annotator.warned = 0, False
