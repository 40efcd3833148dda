"""Fifty people, as many of them at once as the server has connections: more would only wait for one."""

import datetime as dt
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import NoResultFound
from study_world import make, triplet_file
from test_annotating import rows

from sacrecap_server.errors import Refused
from sacrecap_server.store import database
from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyItem, now
from sacrecap_server.studies.arrivals import Arrival, begin
from sacrecap_server.studies.assignment import next_assignment, record, release_abandoned
from sacrecap_server.studies.repository import delete_whole

_PATIENCE = 600.0
"""Seconds: what is tested is the order of many, and a busy machine needs more time for it than people would wait."""


@pytest.fixture
def patient(monkeypatch):
    """Writers wait longer than people would."""
    for name in ("_BUSY_SECONDS", "_SLOW_SECONDS", "_STUCK_SECONDS"):
        monkeypatch.setattr(database, name, _PATIENCE)


def work(world, study_id, number, questions):
    """One person's browser: answers, answers twice, or leaves. Gives the numbers of what was acknowledged."""
    chance = random.Random(number)
    acknowledged = []
    with world.database.write() as session:
        study = session.get_one(Study, study_id)
        person = begin(session, study, f"{number:064d}", Arrival(worker=f"W{number}"))
        given = next_assignment(session, study, person)
    for _ in range(questions):
        if given is None or chance.random() < 0.1:
            break
        assignment_id = given.id
        for _ in range(chance.choice((1, 1, 2))):
            with world.database.write() as session:
                study = session.get_one(Study, study_id)
                person = session.get_one(Annotator, person.id)
                stored = record(session, study, person, assignment_id, {"choice": chance.choice("12")})
                given = next_assignment(session, study, person)
            acknowledged += [assignment_id] * stored
    return acknowledged


def test_no_item_is_given_out_too_often_and_nothing_acknowledged_is_lost(patient, world):
    study = make(world, triplet_file(pairs=15, references=2, judgments=3))
    with ThreadPoolExecutor(32) as pool:
        done = list(pool.map(lambda number: work(world, study.id, number, 4), range(50)))
    assignments = rows(world, Assignment)
    answered = {one.id for one in assignments if one.state == "answered"}
    assert answered == {number for numbers in done for number in numbers}
    held = Counter(one.item_id for one in assignments if one.state in ("given", "answered"))
    assert max(held.values()) <= 3
    assert {item.id: item.taken for item in rows(world, StudyItem)} == {
        item.id: held[item.id] for item in rows(world, StudyItem)
    }
    pairs = [(one.item_id, one.annotator_id) for one in assignments]
    assert len(pairs) == len(set(pairs))
    _come_back(world, study.id)
    # Whoever left held places, which others now fill: the study ends complete.
    for number in range(1100, 1103):
        work(world, study.id, number, 250)
    with world.database.read() as session:
        counts = session.execute(select(StudyItem.taken)).scalars().all()
    assert max(counts) <= 3


def test_deleting_a_study_under_many_hands_leaves_nothing(patient, world):
    """Whoever answers in that moment is told that there is no such study; nothing breaks and nothing remains."""
    study = make(world, triplet_file(pairs=60, references=2, judgments=3))

    def answer(number):
        try:
            work(world, study.id, number, 30)
        except (Refused, NoResultFound) as gone:
            return gone
        return None

    with ThreadPoolExecutor(20) as pool:
        people = [pool.submit(answer, number) for number in range(20)]
        while not rows(world, Assignment):
            time.sleep(0.01)
        with world.database.write() as session:
            delete_whole(session, session.get_one(Study, study.id))
        assert any(person.result() is not None for person in people)
    for table in (Study, StudyItem, Annotator, Assignment):
        assert rows(world, table) == []


def _come_back(world, study_id):
    """Time passes, and what nobody answered is free again."""
    with world.database.write() as session:
        session.execute(
            update(Assignment).where(Assignment.state == "given").values(expires=now() - dt.timedelta(seconds=1))
        )
    with world.database.write() as session:
        study = session.get_one(Study, study_id)
        left = len(session.execute(select(Assignment.id).where(Assignment.state == "given")).all())
        assert release_abandoned(session, study) == left
        assert release_abandoned(session, study) == 0
