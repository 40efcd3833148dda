"""Giving out pages and taking answers: no item to more people than its judgments, none twice to one person.

`StudyItem.taken` counts the assignments that hold a place of the item: given out or answered. Whoever changes it is
the only writer, so the count is right however many people there are. A place is given back when nobody answers in
time, and when the answers of a person no longer count. Checks and practice have a place for everybody.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.orm import Session, joinedload

from sacrecap_server.errors import not_found
from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyItem, now
from sacrecap_server.studies.ordering import (
    AGAIN,
    item_of_next_wave,
    item_of_wave,
    next_at_the_end,
    next_check,
    next_practice,
    order_of_options,
    seed_of,
)
from sacrecap_server.studies.repository import (
    SURVEYS,
    every_of,
    kind_of,
    limit_of,
    most_checks,
    most_items,
    rule_of,
    settings_of,
)
from sacrecap_studies import checks
from sacrecap_studies.answers import elapsed, shortest
from sacrecap_studies.design import PARTIAL
from sacrecap_studies.kinds import AnswerError
from sacrecap_studies.messages import Message

TOO_FAST = "too-fast"
"""How people ended whose answers came faster than anybody reads."""
ANSWERED = ("answered", "discarded", "rejected")
"""States of assignments with an answer."""
_LONGEST_MS = 24 * 3600 * 1000
WITH_ITEM = select(Assignment).options(joinedload(Assignment.item))
_PRESENT = WITH_ITEM.where(Assignment.annotator_id == bindparam("annotator"), Assignment.state == "given")
_MINE = WITH_ITEM.where(Assignment.id == bindparam("assignment"), Assignment.annotator_id == bindparam("annotator"))


def present(session: Session, annotator: Annotator) -> Assignment | None:
    """Items that this person was given and has not answered yet."""
    return session.execute(_PRESENT, {"annotator": annotator.id}).scalars().first()


def next_assignment(session: Session, study: Study, annotator: Annotator) -> Assignment | None:
    """The next page of this person, assigned now if they have none; None if no item is left for them."""
    assignment = present(session, annotator)
    if assignment is None:
        return _give(session, study, annotator)
    assignment.expires = now() + dt.timedelta(minutes=study.minutes)
    return assignment


def pages_of(study: Study, annotator: Annotator) -> int:
    """Pages that this person will have answered at the end, checks too, where nobody else takes any of the items."""
    most = most_items(study)
    return most + sum(checks.due(every_of(study), seed_of(study, annotator), most - 1, most).values())


def _give(session: Session, study: Study, annotator: Annotator) -> Assignment | None:
    if study.state != "open" or annotator.excluded is not None:
        return None
    practice = next_practice(session, study, annotator)
    if practice is not None:
        return _assign(session, study, annotator, practice)
    if study.most_per_person is not None and annotator.items >= study.most_per_person:
        return _give_at_the_end(session, study, annotator)
    item = item_of_wave(session, study, annotator)
    if item is None:
        # Only now: until a place is wanted, whoever has it may still answer.
        release_abandoned(session, study)
        item = item_of_next_wave(session, study, annotator)
    expired = _expired(session, study, annotator) if item is None else None
    if item is None and expired is None:
        return _give_at_the_end(session, study, annotator)
    check = next_check(session, study, annotator)
    if check is not None:
        annotator.checks += 1
        return _assign(session, study, annotator, *check)
    if item is not None:
        return _assign(session, study, annotator, item)
    assert expired is not None
    # The same question with the options as they stood, since the person may still have the page.
    expired.state, expired.given = "given", now()
    expired.expires = now() + dt.timedelta(minutes=study.minutes)
    expired.item.taken += 1
    session.flush()
    return expired


def _expired(session: Session, study: Study, annotator: Annotator) -> Assignment | None:
    """What this person did not answer in time and nobody else has answered meanwhile; least complete first."""
    query = WITH_ITEM.join(Assignment.item).where(
        Assignment.annotator_id == annotator.id,
        Assignment.state == "released",
        Assignment.role == "item",
        StudyItem.taken < study.judgments,
    )
    return session.execute(query.order_by(StudyItem.taken, Assignment.id)).scalars().first()


def _give_at_the_end(session: Session, study: Study, annotator: Annotator) -> Assignment | None:
    upcoming = next_at_the_end(session, study, annotator)
    return None if upcoming is None else _assign(session, study, annotator, *upcoming)


def _assign(session: Session, study: Study, annotator: Annotator, item: StudyItem, times: int = 0) -> Assignment:
    order = order_of_options(session, study, annotator, item)
    role = AGAIN if times and item.role == "item" else item.role
    item.taken += role != AGAIN  # which takes nobody's place
    assignment = Assignment(
        study_id=study.id,
        item=item,
        annotator_id=annotator.id,
        shown_order=json.dumps(order),
        state="given",
        given=now(),
        expires=now() + dt.timedelta(minutes=study.minutes),
        role=role,
        group=item.group,
        round=times,
    )
    session.add(assignment)
    session.flush()
    return assignment


def release_abandoned(session: Session, study: Study) -> int:
    """Gives back the places of items that were not answered in time; how many there were."""
    query = WITH_ITEM.where(
        Assignment.study_id == study.id,
        Assignment.state == "given",
        Assignment.expires < now(),
        Assignment.role == "item",
    )
    late = session.execute(query).scalars().all()
    for assignment in late:
        assignment.state = "released"
        assignment.item.taken -= 1
    if late:
        study.wave = 0
    return len(late)


def record(session: Session, study: Study, annotator: Annotator, assignment_id: int, form: Mapping[str, str]) -> bool:
    """Stores an answer, once: sent again, by a double click or a retry, it changes nothing.

    Raises `AnswerError` if the form is not complete. False where the item went to somebody else meanwhile, since
    this answer came too late, and where the study is closed.
    """
    assignment = session.execute(_MINE, {"assignment": assignment_id, "annotator": annotator.id}).scalar_one_or_none()
    if assignment is None:
        raise not_found("question")
    if assignment.state in ANSWERED:
        return True
    kind = kind_of(study)
    answer = kind.read(json.loads(assignment.item.content), form, json.loads(assignment.shown_order))
    written = kind.fingerprint(answer)
    if _wrote_it(session, assignment, written, mine=True):
        raise AnswerError("You have written this sentence before. Describe this image in words of its own.")
    if study.state == "closed" or annotator.excluded is not None:
        return False
    if assignment.state == "released":
        if assignment.role == "item" and assignment.item.taken >= study.judgments:
            return False
        assignment.item.taken += assignment.role != AGAIN
    if written is not None:
        assignment.fingerprint, assignment.repeated = written, _wrote_it(session, assignment, written, mine=False)
    _store(session, study, annotator, assignment, answer, form)
    return True


def _wrote_it(session: Session, assignment: Assignment, written: str | None, *, mine: bool) -> bool:
    """Whether this person wrote the same of another page before, or anybody else of any page."""
    if written is None:
        return False
    query = select(Assignment.id).where(
        Assignment.study_id == assignment.study_id, Assignment.fingerprint == written, Assignment.state.in_(ANSWERED)
    )
    if mine:
        query = query.where(
            Assignment.annotator_id == assignment.annotator_id, Assignment.item_id != assignment.item_id
        )
    else:
        query = query.where(Assignment.annotator_id != assignment.annotator_id)
    return session.execute(query.limit(1)).first() is not None


def _store(
    session: Session, study: Study, annotator: Annotator, assignment: Assignment, answer: Any, form: Mapping[str, str]
) -> None:
    assignment.state, assignment.answered, assignment.answer = "answered", now(), json.dumps(answer)
    milliseconds = form.get("active", "")  # that the browser measured, if they are plausible
    is_plausible = milliseconds.isascii() and milliseconds.isdecimal() and len(milliseconds) < 12
    assignment.active_ms = min(int(milliseconds), _LONGEST_MS) if is_plausible else None
    in_sight = None if assignment.active_ms is None else assignment.active_ms / 1000
    seconds = shortest(elapsed(assignment.given, assignment.answered), in_sight)
    assignment.too_fast = None if seconds is None else seconds < limit_of(study, "speed").least
    annotator.feedback = None
    if assignment.role in SURVEYS:
        assignment.too_fast = None
        return
    if assignment.role == AGAIN:
        assignment.correct = _same_as_before(session, assignment, answer)
        return
    if assignment.role == "practice":
        _end_practice_question(session, study, annotator, assignment, answer)
        return
    annotator.pages += 1
    annotator.fast += bool(assignment.too_fast)
    annotator.repeats += bool(assignment.repeated)
    annotator.pasted += form.get("pasted") == "1"
    annotator.away += form.get("away") == "1"
    if assignment.role == "item":
        annotator.items += 1
    else:
        assignment.correct = _is_right(study, assignment, answer)
        session.flush()
        _apply_checks(session, study, annotator)
    _apply_limits(session, study, annotator)


def _is_right(study: Study, assignment: Assignment, answer: Any) -> bool:
    assert assignment.item.answer is not None
    return kind_of(study).is_correct(json.loads(assignment.item.answer), answer)


def _same_as_before(session: Session, assignment: Assignment, answer: Any) -> bool:
    """Whether somebody who got an item again says the same."""
    query = select(Assignment.answer).where(
        Assignment.annotator_id == assignment.annotator_id,
        Assignment.item_id == assignment.item_id,
        Assignment.round == 0,
    )
    before = session.execute(query).scalar_one_or_none()
    return before is not None and bool(json.loads(before) == answer)


def _end_practice_question(
    session: Session, study: Study, annotator: Annotator, assignment: Assignment, answer: Any
) -> None:
    """Keeps what the next page says about the answer; after the last, decides whether the person goes on."""
    assignment.correct = _is_right(study, assignment, answer)
    lines = kind_of(study).explain(json.loads(assignment.item.content), json.loads(assignment.item.answer or "null"))
    annotator.feedback = json.dumps({"right": assignment.correct, "lines": lines, "because": assignment.item.because})
    session.flush()
    least = settings_of(study)["practice"]["least"]
    if least is None or next_practice(session, study, annotator) is not None:
        return
    right, answered = _score(session, annotator, Assignment.role == "practice")
    if right < least * answered:
        exclude(session, study, annotator, Message("practice questions right") + f": {right}/{answered}")


def _score(session: Session, annotator: Annotator, which: Any) -> tuple[int, int]:
    """Right answers to such questions, of those with known answers, and all answers to them."""
    query = (
        select(Assignment.correct, func.count())
        .where(Assignment.annotator_id == annotator.id, which, Assignment.correct.is_not(None))
        .group_by(Assignment.correct)
    )
    counts = {row[0]: row[1] for row in session.execute(query)}
    return counts.get(True, 0), sum(counts.values())


def _apply_checks(session: Session, study: Study, annotator: Annotator) -> None:
    """Consequences of wrong answers to checks; those of all roles count together."""
    right, answered = _score(session, annotator, Assignment.role.in_(every_of(study)))
    rule = rule_of(study)
    if not rule.fails(right, answered, most_checks(study)):
        return
    if rule.policy == "exclude":
        exclude(session, study, annotator, Message("checks right") + f": {right}/{answered}")
    elif rule.policy == "warn":
        annotator.warned = True


def _apply_limits(session: Session, study: Study, annotator: Annotator) -> None:
    """Consequences of answers that are too fast, or that others have written before."""
    for name, faults, what in (
        ("speed", annotator.fast, Message("answers too fast")),
        ("repeats", annotator.repeats, Message("sentences that others wrote before")),
    ):
        rule = limit_of(study, name)
        if annotator.excluded is not None or not rule.fails(faults, annotator.pages):
            continue
        if rule.policy == "exclude":
            exclude(session, study, annotator, f"{what}: {faults}/{annotator.pages}")
        elif rule.policy == PARTIAL and annotator.pages >= 2 * rule.after:
            annotator.ended, annotator.ended_at = TOO_FAST, now()
        elif rule.policy != "note" and name not in annotator.cautions.split():
            annotator.cautions = f"{annotator.cautions} {name}".strip()


def exclude(session: Session, study: Study, annotator: Annotator, reason: str) -> None:
    """From now on this person's answers do not count, and others judge the items again."""
    annotator.excluded = reason[:200]
    study.wave = 0
    _move(session, annotator, {"answered": "discarded", "given": "released"}, -1)


def include(session: Session, study: Study, annotator: Annotator) -> None:
    """Reverses an exclusion; answers to items that others have completed meanwhile stay discarded.

    What the owner rejected stays rejected.
    """
    annotator.excluded = None
    _move(session, annotator, {"discarded": "answered"}, +1, most=study.judgments)


def _move(session: Session, annotator: Annotator, states: dict[str, str], change: int, most: int | None = None) -> None:
    query = WITH_ITEM.where(Assignment.annotator_id == annotator.id, Assignment.state.in_(states))
    for assignment in session.execute(query).scalars():
        item = assignment.item
        if most is not None and assignment.role == "item" and item.taken + change > most:
            continue
        assignment.state = states[assignment.state]
        item.taken += change * (assignment.role != AGAIN)


def give_back(session: Session, study: Study, annotator: Annotator) -> None:
    """Gives back what this person holds and has not answered, as if its time were over."""
    mine = (Assignment.annotator_id == annotator.id) & (Assignment.state == "given")
    session.execute(update(Assignment).where(mine).values(expires=now() - dt.timedelta(seconds=1)))
    release_abandoned(session, study)


def withdraw(session: Session, study: Study, annotator: Annotator) -> None:
    """Deletes everything that this person was asked and answered; others judge the items again."""
    before = annotator.excluded
    exclude(session, study, annotator, Message("withdrawn"))  # which gives the places back
    annotator.excluded = before
    session.flush()
    session.execute(delete(Assignment).where(Assignment.annotator_id == annotator.id))
    annotator.items = annotator.pages = annotator.checks = annotator.fast = annotator.repeats = 0
    annotator.lean = annotator.check_lean = annotator.pasted = annotator.away = 0
    annotator.warned, annotator.cautions, annotator.feedback = False, "", None
