"""Giving out pages and taking answers: no item to more people than its judgments, none twice to one person.

`StudyItem.taken` counts the assignments that hold a place of the item: given out or answered. Whoever changes it is
the only writer, so the count is right however many people there are. A place is given back when nobody answers in
time, and when the answers of a person no longer count. Checks and practice have a place for everybody.

Which page comes next, and in which order its options stand, is drawn: every draw follows from the study's secret seed
and the person's number, so that it can be repeated. Items are worked through in waves of `WAVE`, by an order of chance
of the whole study. Within a wave, a person gets the items that the fewest people have, and among those follows an order
of their own: an item's place in the study says nothing about its place in a person's work, all items of a wave fill
evenly, and a large study has items that several people judged long before its end.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

from sqlalchemy import bindparam, delete, exists, func, select, update
from sqlalchemy.orm import Session, joinedload

from sacrecap_server.errors import not_found
from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyItem, now
from sacrecap_server.studies import repository
from sacrecap_studies import checks
from sacrecap_studies.answers import elapsed, shortest
from sacrecap_studies.design import PARTIAL
from sacrecap_studies.questions import AnswerError, captions_of

WAVE = 1000
"""Items that are open at once."""
_PRIME = 1_000_003
"""Multiplying by a number below it shuffles the numbers of a wave; products stay below 2 ** 31."""

# Used for every page: building a query takes several times as long as running it.
_IS_NEW = ~exists().where(Assignment.item_id == StudyItem.id, Assignment.annotator_id == bindparam("annotator"))
_OPEN = (StudyItem.study_id == bindparam("study"), StudyItem.role == "item", StudyItem.taken < bindparam("judgments"))
_OWN_ORDER = ((StudyItem.shuffle - bindparam("start")) * bindparam("factor") + bindparam("shift")) % _PRIME
_BEST = (
    select(StudyItem.id, StudyItem.taken, StudyItem.group)
    .where(*_OPEN, StudyItem.shuffle >= bindparam("start"), StudyItem.shuffle < bindparam("end"), _IS_NEW)
    .order_by(StudyItem.taken, _OWN_ORDER)
    .limit(16)  # of which one may be of a pair that the person does not know yet
)
_FIRST_OPEN = (
    select(StudyItem.shuffle).where(*_OPEN, StudyItem.shuffle >= bindparam("start")).order_by(StudyItem.shuffle)
).limit(1)
_FIRST_NEW = _FIRST_OPEN.where(_IS_NEW)
_KNOWN = (
    select(Assignment.group, func.count())
    .where(
        Assignment.annotator_id == bindparam("annotator"),
        Assignment.role == "item",
        Assignment.group.in_(bindparam("groups", expanding=True)),
    )
    .group_by(Assignment.group)
)
AGAIN = "again"
"""The role of an assignment of an item that the person has answered before."""
_HAD = select(Assignment.item_id, Assignment.role).where(
    Assignment.annotator_id == bindparam("annotator"),
    Assignment.role.in_(("item", AGAIN)),
    Assignment.answered.is_not(None),
)
HELD = ("given", "answered")
"""States in which an assignment holds a place of its item."""
_SHOWN = select(Assignment.shown_order).where(Assignment.item_id == bindparam("item"), Assignment.state.in_(HELD))
_NEXT_OF_ROLE = (
    select(StudyItem)
    .where(StudyItem.study_id == bindparam("study"), StudyItem.role == bindparam("role"), _IS_NEW)
    .order_by(StudyItem.number)
    .limit(1)
)


def draw(study: Study, annotator: Annotator, *what: object) -> Random:
    """The random numbers of one decision."""
    return Random(seed_of(study, annotator) + "".join(f":{part}" for part in what))


def seed_of(study: Study, annotator: Annotator) -> str:
    """What all of a person's draws begin with."""
    return f"{study.seed}:{annotator.id}"


def _next_item(session: Session, study: Study, annotator: Annotator) -> StudyItem | None:
    """The next item of the wave that this person is in, else of the first that has one left for them."""
    annotator.wave = max(annotator.wave, study.wave)
    item = _best(session, study, annotator)
    if item is not None:
        return item
    release_abandoned(session, study)  # only now: until a place is wanted, whoever has it may still answer
    values = {"study": study.id, "judgments": study.judgments, "annotator": annotator.id}
    first = session.execute(_FIRST_OPEN, {**values, "start": study.wave * WAVE}).scalar_one_or_none()
    if first is None and study.wave:
        # Places have come free in items that were complete.
        first = session.execute(_FIRST_OPEN, {**values, "start": 0}).scalar_one_or_none()
    if first is None:
        return None
    study.wave = first // WAVE
    new = session.execute(_FIRST_NEW, {**values, "start": study.wave * WAVE}).scalar_one_or_none()
    if new is None:
        return None
    annotator.wave = new // WAVE
    return _best(session, study, annotator)


def _best(session: Session, study: Study, annotator: Annotator) -> StudyItem | None:
    """Of the items with the fewest people, one of a pair that the person knows least; then by the person's order."""
    chance, start = draw(study, annotator, "order", annotator.wave), annotator.wave * WAVE
    order = {"factor": chance.randrange(1, _PRIME), "shift": chance.randrange(_PRIME)}
    place = {"study": study.id, "judgments": study.judgments, "annotator": annotator.id}
    candidates = session.execute(_BEST, {**place, **order, "start": start, "end": start + WAVE}).all()
    if not candidates:
        return None
    tied = [candidate for candidate in candidates if candidate.taken == candidates[0].taken]
    if repository.kind_of(study).has_several_pages and len(tied) > 1:
        groups = list({candidate.group for candidate in tied})
        counts = {row[0]: row[1] for row in session.execute(_KNOWN, {"annotator": annotator.id, "groups": groups})}
        tied.sort(key=lambda candidate: counts.get(candidate.group, 0))
    return session.get_one(StudyItem, tied[0].id)


def next_practice(session: Session, study: Study, annotator: Annotator) -> StudyItem | None:
    """What comes before the items: the questions to everybody, then practice, in the order of the file."""
    if annotator.practised:
        return None
    item = _next_of_role(session, study, annotator, "before") or _next_of_role(session, study, annotator, "practice")
    annotator.practised = item is None
    return item


def next_at_the_end(session: Session, study: Study, annotator: Annotator) -> tuple[StudyItem, int] | None:
    """What comes after the items: some of them again, then the questions to everybody; and how often they had it."""
    again = min(study.settings.get("again", 0), annotator.items)
    if again:
        had = session.execute(_HAD, {"annotator": annotator.id}).all()
        ids = [row.item_id for row in had if row.role == "item"]
        left = sorted(set(ids) - {row.item_id for row in had if row.role == AGAIN})
        if left and len(had) - len(ids) < again:
            return session.get_one(StudyItem, draw(study, annotator, AGAIN, len(had)).choice(left)), 1
    item = _next_of_role(session, study, annotator, "after") if annotator.items else None
    return None if item is None else (item, 0)


def _next_of_role(session: Session, study: Study, annotator: Annotator, role: str) -> StudyItem | None:
    values = {"study": study.id, "annotator": annotator.id, "role": role}
    return session.execute(_NEXT_OF_ROLE, values).scalar_one_or_none()


def next_check(session: Session, study: Study, annotator: Annotator) -> tuple[StudyItem, int] | None:
    """A check that is due, and how often this person had it before; None if no check is due.

    A role whose checks this person has all had hands over to the other, and when all are used, those that the person
    had least often come again.
    """
    every = study.settings["checks"]
    due = checks.due(every, seed_of(study, annotator), annotator.items, repository.most_items(study))
    if sum(due.values()) <= annotator.checks:
        return None
    query = select(StudyItem.id, StudyItem.role).where(StudyItem.study_id == study.id, StudyItem.role.in_(every))
    pool = {row.id: row.role for row in session.execute(query.order_by(StudyItem.id))}
    had_query = (
        select(Assignment.item_id, func.count())
        .where(Assignment.annotator_id == annotator.id, Assignment.role.in_(("gold", "attention")))
        .group_by(Assignment.item_id)
        .order_by(func.max(Assignment.id))
    )
    had = Counter({row[0]: row[1] for row in session.execute(had_query)})  # the one they had last is the last
    counts = Counter(pool[item] for item in had.elements() if item in pool)
    chance = draw(study, annotator, "check", annotator.checks)
    for role in sorted(due, key=lambda role: counts[role] - due[role]):
        unused = [item for item, its_role in pool.items() if its_role == role and not had[item]]
        if unused:
            return session.get_one(StudyItem, chance.choice(unused)), 0
    last = next(reversed(had), None)
    again = [item for item in pool if item != last] or list(pool)
    least = min(had[item] for item in again)
    chosen = chance.choice([item for item in again if had[item] == least])
    return session.get_one(StudyItem, chosen), had[chosen]


def order_of_options(session: Session, study: Study, annotator: Annotator, item: StudyItem) -> list[int]:
    """Which option stands first, second and so on.

    Over the people of an item, every option stands equally often in every place, as far as their number allows. With
    two options, where that leaves a choice, the person has had this order less often; on checks, the right option
    has stood first as often as second for each person.
    """
    count = len(captions_of(item.content))
    if count < 2:
        return list(range(count))
    chance = draw(study, annotator, "options", item.id, annotator.checks)
    if item.role != "item":
        order = chance.sample(range(count), count)
        right = repository.kind_of(study).right_option(item.answer)
        if right is None or count > 2:
            return order
        if annotator.check_lean and (order[0] == right) == (annotator.check_lean > 0):
            order.reverse()
        annotator.check_lean += 1 if order[0] == right else -1
        return order
    held = session.execute(_SHOWN, {"item": item.id}).scalars().all() if item.taken else []
    # A Latin square: orders in which every option stands once in every place. The first `count` people have one.
    base = Random(f"{study.seed}:square:{item.id}:{len(held) // count}").sample(range(count), count)
    turns = [base[turn:] + base[:turn] for turn in range(count)]
    chance.shuffle(turns)
    used = Counter(place for order in held for place in enumerate(order))

    def cost(order: list[int]) -> tuple[int, int]:
        leaning = annotator.lean * (1 if order[0] == 0 else -1) if count == 2 else 0
        return sum(used[place] for place in enumerate(order)), leaning

    order = min(turns, key=cost)
    if count == 2:
        annotator.lean += 1 if order[0] == 0 else -1
    return order


TOO_FAST = "too-fast"
"""How people ended whose answers came faster than anybody reads."""
ANSWERED = ("answered", "discarded", "rejected")
"""States of assignments with an answer."""
WITH_ITEM = select(Assignment).options(joinedload(Assignment.item))
_PRESENT = WITH_ITEM.where(Assignment.annotator_id == bindparam("annotator"), Assignment.state == "given")
_MINE = WITH_ITEM.where(Assignment.id == bindparam("assignment"), Assignment.annotator_id == bindparam("annotator"))


def present(session: Session, annotator: Annotator) -> Assignment | None:
    """Items that this person was given and has not answered yet."""
    return session.execute(_PRESENT, {"annotator": annotator.id}).scalars().first()


def next_assignment(session: Session, study: Study, annotator: Annotator) -> Assignment | None:
    """The next page of this person, assigned now if they have none; None if no item is left for them."""
    assignment = present(session, annotator)
    if assignment is not None:
        assignment.expires = now() + dt.timedelta(minutes=study.minutes)
        return assignment
    if study.state != "open" or annotator.excluded is not None:
        return None
    practice = next_practice(session, study, annotator)
    if practice is not None:
        return _assign(session, study, annotator, practice)
    item = expired = None
    if study.most_per_person is None or annotator.items < study.most_per_person:
        item = _next_item(session, study, annotator)
        if item is None:
            # What this person did not answer in time and nobody else has answered meanwhile; least complete first.
            query = WITH_ITEM.join(Assignment.item).where(
                Assignment.annotator_id == annotator.id,
                Assignment.state == "released",
                Assignment.role == "item",
                StudyItem.taken < study.judgments,
            )
            expired = session.execute(query.order_by(StudyItem.taken, Assignment.id)).scalars().first()
    if item is None and expired is None:
        upcoming = next_at_the_end(session, study, annotator)
    else:
        upcoming = next_check(session, study, annotator)
        annotator.checks += upcoming is not None
    if upcoming is None and item is not None:
        upcoming = item, 0
    if upcoming is not None:
        return _assign(session, study, annotator, *upcoming)
    if expired is not None:
        # The same question with the options as they stood, since the person may still have the page.
        expired.state, expired.given = "given", now()
        expired.expires = now() + dt.timedelta(minutes=study.minutes)
        expired.item.taken += 1
        session.flush()
    return expired


def pages_of(study: Study, annotator: Annotator) -> int:
    """Pages that this person will have answered at the end, checks too, where nobody else takes any of the items."""
    most = repository.most_items(study)
    return most + sum(checks.due(study.settings["checks"], seed_of(study, annotator), most - 1, most).values())


def _assign(session: Session, study: Study, annotator: Annotator, item: StudyItem, times: int = 0) -> Assignment:
    order = order_of_options(session, study, annotator, item)
    role = AGAIN if times and item.role == "item" else item.role
    item.taken += role != AGAIN  # which takes nobody's place
    assignment = Assignment(
        study_id=study.id,
        item=item,
        annotator_id=annotator.id,
        shown_order=order,
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
    kind = repository.kind_of(study)
    answer = kind.read(assignment.item.content, form, assignment.shown_order)
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
    is_mine = Assignment.annotator_id == assignment.annotator_id
    query = select(Assignment.id).where(
        Assignment.study_id == assignment.study_id,
        Assignment.fingerprint == written,
        Assignment.state.in_(ANSWERED),
        is_mine & (Assignment.item_id != assignment.item_id) if mine else ~is_mine,
    )
    return session.execute(query.limit(1)).first() is not None


def _store(
    session: Session, study: Study, annotator: Annotator, assignment: Assignment, answer: Any, form: Mapping[str, str]
) -> None:
    assignment.state, assignment.answered, assignment.answer = "answered", now(), answer
    milliseconds = form.get("active", "")  # that the browser measured, if they are plausible
    is_plausible = milliseconds.isascii() and milliseconds.isdecimal() and len(milliseconds) < 12
    assignment.active_ms = min(int(milliseconds), 24 * 3600 * 1000) if is_plausible else None
    in_sight = None if assignment.active_ms is None else assignment.active_ms / 1000
    seconds = shortest(elapsed(assignment.given, assignment.answered), in_sight)
    assignment.too_fast = None if seconds is None else seconds < repository.limit_of(study, "speed").least
    annotator.feedback = None
    if assignment.role in repository.SURVEYS:
        assignment.too_fast = None
        return
    if assignment.role == AGAIN:
        before = select(Assignment.answer).where(
            Assignment.annotator_id == annotator.id, Assignment.item_id == assignment.item_id, Assignment.round == 0
        )
        assignment.correct = session.execute(before).scalars().all() == [answer]
        return
    if assignment.role != "item":
        assignment.correct = repository.kind_of(study).is_correct(assignment.item.answer, answer)
    if assignment.role == "practice":
        _end_practice_question(session, study, annotator, assignment)
        return
    annotator.pages += 1
    annotator.items += assignment.role == "item"
    annotator.fast += bool(assignment.too_fast)
    annotator.repeats += bool(assignment.repeated)
    annotator.pasted += form.get("pasted") == "1"
    annotator.away += form.get("away") == "1"
    if assignment.role != "item":
        # Consequences of wrong answers to checks; those of all roles count together.
        session.flush()
        every, rule = study.settings["checks"], checks.CheckRule(**study.settings["rule"])
        right, answered = _score(session, annotator, Assignment.role.in_(every))
        has_failed = rule.fails(right, answered, checks.needed(every, repository.most_items(study)))
        if has_failed and rule.policy == "exclude":
            exclude(session, study, annotator, f"checks right: {right}/{answered}")
        annotator.warned |= has_failed and rule.policy == "warn"
    _apply_limits(session, study, annotator)


def _end_practice_question(session: Session, study: Study, annotator: Annotator, assignment: Assignment) -> None:
    """Keeps what the next page says about the answer; after the last, decides whether the person goes on."""
    lines = repository.kind_of(study).explain(assignment.item.content, assignment.item.answer)
    annotator.feedback = {"right": assignment.correct, "lines": lines, "because": assignment.item.because}
    session.flush()
    least = study.settings["practice"]["least"]
    if least is None or next_practice(session, study, annotator) is not None:
        return
    right, answered = _score(session, annotator, Assignment.role == "practice")
    if right < least * answered:
        exclude(session, study, annotator, f"practice questions right: {right}/{answered}")


def _score(session: Session, annotator: Annotator, which: Any) -> tuple[int, int]:
    """Right answers to such questions, of those with known answers, and all answers to them."""
    query = (
        select(Assignment.correct, func.count())
        .where(Assignment.annotator_id == annotator.id, which, Assignment.correct.is_not(None))
        .group_by(Assignment.correct)
    )
    counts = {row[0]: row[1] for row in session.execute(query)}
    return counts.get(True, 0), sum(counts.values())


def _apply_limits(session: Session, study: Study, annotator: Annotator) -> None:
    """Consequences of answers that are too fast, or that others have written before."""
    for name, faults, what in (
        ("speed", annotator.fast, "answers too fast"),
        ("repeats", annotator.repeats, "sentences that others wrote before"),
    ):
        rule = repository.limit_of(study, name)
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
    exclude(session, study, annotator, "withdrawn")  # which gives the places back
    annotator.excluded = before
    session.flush()
    session.execute(delete(Assignment).where(Assignment.annotator_id == annotator.id))
    annotator.items = annotator.pages = annotator.checks = annotator.fast = annotator.repeats = 0
    annotator.lean = annotator.check_lean = annotator.pasted = annotator.away = 0
    annotator.warned, annotator.cautions, annotator.feedback = False, "", None
