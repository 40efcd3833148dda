"""Which page a person gets next, and in which order its options stand: what `assignment` gives out.

Every draw follows from the study's secret seed and the person's number, so that it can be repeated.

Items are worked through in waves of `WAVE`, by an order of chance of the whole study. Within a wave, a person gets the
items that the fewest people have, and among those follows an order of their own: an item's place in the study says
nothing about its place in a person's work, all items of a wave fill evenly, and a large study has items that several
people judged long before its end.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

from sqlalchemy import bindparam, exists, func, select
from sqlalchemy.orm import Session

from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyItem
from sacrecap_server.studies.repository import every_of, kind_of, most_items, settings_of
from sacrecap_studies import checks

WAVE = 1000
"""Items that are open at once."""
_CANDIDATES = 16
"""Items that are looked at for one whose pair the person does not know yet."""
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
    .limit(_CANDIDATES)
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


def item_of_wave(session: Session, study: Study, annotator: Annotator) -> StudyItem | None:
    """The next item of the wave in which this person is; None if it has none left for them."""
    annotator.wave = max(annotator.wave, study.wave)
    return _best(session, study, annotator)


def item_of_next_wave(session: Session, study: Study, annotator: Annotator) -> StudyItem | None:
    """The same of the first wave that has an item left for them."""
    values = {"study": study.id, "judgments": study.judgments, "annotator": annotator.id}
    first = session.execute(_FIRST_OPEN, {**values, "start": study.wave * WAVE}).scalar_one_or_none()
    if first is None and study.wave:
        # Places have come free in items that were complete.
        first = session.execute(_FIRST_OPEN, {**values, "start": 0}).scalar_one_or_none()
    if first is None:
        return None
    if study.wave != first // WAVE:
        study.wave = first // WAVE
    new = session.execute(_FIRST_NEW, {**values, "start": study.wave * WAVE}).scalar_one_or_none()
    if new is None:
        return None
    annotator.wave = new // WAVE
    return _best(session, study, annotator)


def _best(session: Session, study: Study, annotator: Annotator) -> StudyItem | None:
    """Of the items with the fewest people, one of a pair that the person knows least; then by the person's order."""
    chance = draw(study, annotator, "order", annotator.wave)
    values = {
        "study": study.id,
        "judgments": study.judgments,
        "annotator": annotator.id,
        "start": annotator.wave * WAVE,
        "end": (annotator.wave + 1) * WAVE,
        "factor": chance.randrange(1, _PRIME),
        "shift": chance.randrange(_PRIME),
    }
    candidates: list[tuple[int, int, int]] = [(row[0], row[1], row[2]) for row in session.execute(_BEST, values)]
    if not candidates:
        return None
    tied = [candidate for candidate in candidates if candidate[1] == candidates[0][1]]
    if kind_of(study).has_several_pages and len(tied) > 1:
        groups = list({group for _, _, group in tied})
        known = session.execute(_KNOWN, {"annotator": annotator.id, "groups": groups})
        counts = {row[0]: row[1] for row in known}
        tied.sort(key=lambda candidate: counts.get(candidate[2], 0))
    return session.get_one(StudyItem, tied[0][0])


def next_practice(session: Session, study: Study, annotator: Annotator) -> StudyItem | None:
    """What comes before the items: the questions to everybody, then practice, in the order of the file."""
    if annotator.practised:
        return None
    item = _next_of_role(session, study, annotator, "before") or _next_of_role(session, study, annotator, "practice")
    annotator.practised = item is None
    return item


def next_at_the_end(session: Session, study: Study, annotator: Annotator) -> tuple[StudyItem, int] | None:
    """What comes after the items: some of them again, then the questions to everybody; and how often they had it."""
    again = min(settings_of(study).get("again", 0), annotator.items)
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
    every = every_of(study)
    due = checks.due(every, seed_of(study, annotator), annotator.items, most_items(study))
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
    content: dict[str, Any] = json.loads(item.content)
    count = kind_of(study).options(content)
    if count < 2:
        return list(range(count))
    chance = draw(study, annotator, "options", item.id, annotator.checks)
    if item.role != "item":
        order = chance.sample(range(count), count)
        right = kind_of(study).right_option(json.loads(item.answer or "null"))
        if right is None or count > 2:
            return order
        if annotator.check_lean and (order[0] == right) == (annotator.check_lean > 0):
            order.reverse()
        annotator.check_lean += 1 if order[0] == right else -1
        return order
    held = [json.loads(order) for order in session.execute(_SHOWN, {"item": item.id}).scalars()] if item.taken else []
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
