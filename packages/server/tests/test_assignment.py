"""Who gets what: balance, checks, what expires, what is rejected, what is too fast; in transactions, without pages."""

from __future__ import annotations

import datetime as dt
import itertools
import random
import re
from collections import Counter, defaultdict

import pytest
from sqlalchemy import select, update
from study_world import PIXEL, Person, collection_file, diversity_file, make, pairwise_file, triplet_file
from test_annotating import GOLD, expire, rows

from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyItem, now
from sacrecap_server.studies import repository
from sacrecap_server.studies.arrivals import Arrival, begin
from sacrecap_server.studies.assignment import exclude, include, next_assignment, pages_of, record, release_abandoned
from sacrecap_server.studies.endings import reject
from sacrecap_server.studies.results import answers_of, progress
from sacrecap_studies.design import StudyFileError
from sacrecap_studies.questions import AnswerError

ATTENTION = [{**one, "a": one["b"]} for one in GOLD]


class Panel:
    """People of one study, each step in a transaction of its own; answers are what `choose` says of a question."""

    def __init__(self, world, study, people, choose=lambda given: "1"):
        self.world, self.study_id, self.choose = world, study.id, choose
        with world.database.write() as session:
            study = session.get_one(Study, study.id)
            self.people = [begin(session, study, f"{n:064d}", Arrival(worker=f"W{n}")).id for n in range(people)]

    def step(self, person, *, answers=True):
        """Takes a question, and answers it unless told not to; None where there is none."""
        with self.world.database.write() as session:
            return self._step(session, person, answers=answers)

    def _step(self, session, person, *, answers=True):
        study, annotator = session.get_one(Study, self.study_id), session.get_one(Annotator, self.people[person])
        given = next_assignment(session, study, annotator)
        if given is not None and answers:
            assert record(session, study, annotator, given.id, {"choice": self.choose(given)})
        return given

    def work(self, person):
        """Answers as long as there are questions; their roles."""
        with self.world.database.write() as session:
            return [given.role for given in iter(lambda: self._step(session, person), None)]

    def run(self, function, *arguments):
        with self.world.database.write() as session:
            study = session.get_one(Study, self.study_id)
            people = {one: session.get_one(Annotator, self.people[one.n]) for one in arguments if isinstance(one, At)}
            return function(session, study, *(people.get(one, one) for one in arguments))

    def item_answers(self):
        return [one for one in rows(self.world, Assignment) if one.role == "item" and one.state == "answered"]


class At:
    """A person of a panel, as an argument."""

    def __init__(self, n):
        self.n = n


def test_random_work_against_an_obvious_account(world):
    """Give, answer, leave, exclude, include, reject: the counts are those of a list that is kept beside it."""
    chance = random.Random(4)
    study = make(world, triplet_file(pairs=7, references=2, judgments=2, gold={"every": 3, "items": GOLD}))
    panel = Panel(world, study, 5)
    excluded = set()
    for _ in range(80):
        person, action = chance.randrange(5), chance.random()
        if action < 0.7:
            panel.step(person, answers=chance.random() < 0.8)
        elif action < 0.8:
            expire(world)
        elif action < 0.85 and person not in excluded and len(excluded) < 2:
            panel.run(exclude, At(person), "a test")
            excluded.add(person)
        elif action < 0.9 and excluded:
            panel.run(include, At(excluded.pop()))
        elif action < 0.93 and (answers := panel.item_answers()):
            panel.run(reject, chance.choice(answers).id)
        _assert_sound(world, 2)
    for person in excluded:
        panel.run(include, At(person))
    expire(world)
    for person in (*range(5), *range(5)):
        panel.work(person)
    _assert_sound(world, 2)
    counts = Counter(one.item_id for one in panel.item_answers())
    rejected = {one.item_id for one in rows(world, Assignment) if one.state == "rejected"}
    items = [item for item in rows(world, StudyItem) if item.role == "item" and item.id not in rejected]
    assert all(counts[item.id] == 2 for item in items)


def _assert_sound(world, judgments):
    assignments = rows(world, Assignment)
    held = Counter(one.item_id for one in assignments if one.state in ("given", "answered"))
    assert all(item.taken == held[item.id] for item in rows(world, StudyItem))
    pages = Counter((one.item_id, one.annotator_id) for one in assignments if one.role == "item")
    assert not pages or max(pages.values()) == 1, "nobody has an item twice"
    on_items = Counter(one.item_id for one in assignments if one.role == "item" and one.state in ("given", "answered"))
    assert not on_items or max(on_items.values()) <= judgments
    at_work = Counter(one.annotator_id for one in assignments if one.state == "given")
    assert not at_work or max(at_work.values()) == 1


@pytest.mark.parametrize("wave", [3, 1000])
def test_everybody_has_an_order_of_their_own_and_all_is_balanced(world, monkeypatch, wave):
    """People's orders differ, items fill evenly, and B stands first about as often as C by item and by person."""
    monkeypatch.setattr("sacrecap_server.studies.assignment.WAVE", wave)
    study = make(world, triplet_file(pairs=8, references=2, judgments=4))
    panel = Panel(world, study, 4)
    for _ in range(16):
        for person in range(4):
            panel.step(person)
            taken = [item.taken for item in sorted(rows(world, StudyItem), key=lambda item: item.shuffle)]
            if wave == 1000:
                # All four are needed everywhere in the end, so not everybody can have one of the least taken items.
                assert max(taken) - min(taken) <= 2
    answers = panel.item_answers()
    orders = defaultdict(list)
    for one in answers:
        orders[one.annotator_id].append(one.item_id)
    assert len({tuple(order) for order in orders.values()}) == 4
    assert {tuple(sorted(order)) for order in orders.values()} == {tuple(sorted(orders[panel.people[0]]))}
    first = Counter((one.item_id, *one.shown_order) for one in answers)
    assert list(first.values()) == [2] * 32, "each item: B first twice, C first twice"
    for person in panel.people:
        b_first = sum(one.shown_order == [0, 1] for one in answers if one.annotator_id == person)
        assert 5 <= b_first <= 11


def test_people_who_come_one_after_another_have_orders_of_their_own(world):
    """When all items are equally complete, only the person's own order decides."""
    study = make(world, triplet_file(pairs=20, references=1, judgments=2))
    panel = Panel(world, study, 2)
    panel.work(0)
    panel.work(1)
    answers = panel.item_answers()
    first, second = ([one.item_id for one in answers if one.annotator_id == person] for person in panel.people)
    assert sorted(first) == sorted(second)
    assert sum(one == other for one, other in zip(first, second, strict=True)) < 8


def test_a_wave_is_done_before_the_next_begins_and_what_comes_free_is_found_again(world, monkeypatch):
    monkeypatch.setattr("sacrecap_server.studies.assignment.WAVE", 4)
    study = make(world, triplet_file(pairs=12, references=1, judgments=1))
    panel = Panel(world, study, 2)
    panel.work(0)
    shuffles = {item.id: item.shuffle for item in rows(world, StudyItem)}
    assert [shuffles[one.item_id] // 4 for one in panel.item_answers()] == [0] * 4 + [1] * 4 + [2] * 4
    assert panel.step(1) is None
    for one in panel.item_answers():
        if shuffles[one.item_id] in (1, 6):
            panel.run(reject, one.id)
    assert panel.work(1) == ["item"] * 2
    assert panel.step(1) is None


def test_references_of_a_pair_go_to_different_people(world):
    """Six people do six pages each, of six pairs with three references; at most two pages repeat a pair."""
    study = make(world, {**triplet_file(pairs=6, references=3, judgments=2, most_per_person=6)})
    panel = Panel(world, study, 6)
    for _ in range(6):
        for person in range(6):
            panel.step(person)
    pairs = defaultdict(list)
    for one in panel.item_answers():
        pairs[one.annotator_id].append(one.group)
    assert sum(len(set(groups)) for groups in pairs.values()) >= 34, "of 36 pages, at most two meet a pair again"


def test_each_set_stands_equally_often_in_each_place(world):
    study = make(world, diversity_file(images=2, judgments=6))
    for number in range(6):
        person = Person(world, study, worker=f"W{number}").begin()
        while person.assignment:
            person.answer(sets=("1", "2", "3"))
    for item in rows(world, StudyItem):
        orders = [one.shown_order for one in rows(world, Assignment) if one.item_id == item.id]
        assert [Counter(places) for places in zip(*orders, strict=True)] == [{0: 2, 1: 2, 2: 2}] * 3


@pytest.mark.parametrize("constant", ["1", "2"])
def test_a_script_with_one_answer_fails_half_of_the_checks(world, constant):
    """The form sends places only, and the right one is on each side equally often."""
    gold = {"every": 2, "items": GOLD}
    study = make(world, triplet_file(pairs=30, references=1, gold=gold, checks={"policy": "exclude"}))
    panel = Panel(world, study, 1, choose=lambda given: constant)
    panel.work(0)
    person = rows(world, Annotator)[0]
    right, answered = map(int, re.fullmatch(r"checks right: (\d+)/(\d+)", person.excluded).groups())
    assert abs(2 * right - answered) <= 1
    assert answered < 10
    for one in rows(world, Assignment):
        assert one.answer == "bc"[one.shown_order[int(constant) - 1]]


def test_the_page_does_not_tell_b_from_c_nor_a_check_from_an_item(world):
    """Apart from the texts and the question's number, the pages of both orders and both roles are identical."""
    gold = {"every": 2, "items": GOLD}
    file = triplet_file(pairs=8, references=1, gold=gold, checks={"policy": "note"})
    person = Person(world, make(world, file)).begin()
    seen = set()
    roles = set()
    while person.assignment:
        page = re.sub(r'class="sentence(-text)?">.*?</', r'class="sentence">…</', person.page, flags=re.DOTALL)
        page = re.sub(r'name="assignment" value="\d+"|\d+ done|value="\d+" aria-label|class="hidden">.*?<', "", page)
        seen.add(page)
        with world.database.read() as session:
            roles.add((session.get(Assignment, int(person.assignment)).role, str(person.order(person.assignment))))
        assert re.findall(r'name="choice" value="(.*?)"', person.page) == ["1", "2"]
        person.answer(choice="1")
    assert len(seen) == 1
    assert len(roles) == 4, "items and checks, in both orders"


def test_places_of_sets_lead_back_to_the_sets(world):
    """`score-1` is the score of the set that stood first."""
    study = make(world, diversity_file(images=1, judgments=1))
    person = Person(world, study).begin()
    assert sorted(set(re.findall(r'name="(score-\d)"', person.page))) == ["score-1", "score-2", "score-3"]
    order = person.order(person.assignment)
    person.answer(**{"score-1": "1", "score-2": "2", "score-3": "3"})
    assert rows(world, Assignment)[0].answer == [(order.index(number) + 1) / 10 for number in range(3)]


def test_gold_that_runs_out_hands_over_and_checks_come_again(world):
    """Of 2 gold and 2 attention checks all 4 come before any comes again; the owner hears that 40 are needed."""
    attention = [{**ATTENTION[0], "c": f"A kettle {number}."} for number in range(2)]
    gold = {"every": 5, "items": GOLD[:2]}
    study = make(
        world,
        triplet_file(
            pairs=100,
            references=1,
            judgments=1,
            gold=gold,
            attention={"every": 5, "items": attention},
            checks={"policy": "note"},
        ),
    )
    panel = Panel(world, study, 1)
    roles = panel.work(0)
    before = [roles[:place].count("item") for place, role in enumerate(roles) if role != "item"]
    assert Counter(item // 5 for item in before) == dict.fromkeys(range(20), 2)
    assert before[0] < 3
    checks = [one for one in rows(world, Assignment) if one.role != "item"]
    assert len({one.item_id for one in checks[:4]}) == 4
    assert [one.round for one in checks] == [number // 4 for number in range(40)]
    assert all(one.item_id != after.item_id for one, after in itertools.pairwise(checks))
    with world.database.read() as session:
        said = repository.remarks_of(session, session.get(Study, study.id))
    assert "needs 40 checks, but the study has 4" in said[0]


def test_each_role_has_its_share_while_both_last(world):
    """Gold questions do not keep attention checks from coming."""
    gold, attention = ({"every": 4, "items": some} for some in (GOLD, ATTENTION * 4))
    study = make(world, triplet_file(pairs=12, references=1, judgments=1, gold=gold, attention=attention))
    assert Counter(Panel(world, study, 1).work(0)) == {"item": 12, "gold": 3, "attention": 3}


def test_a_check_that_nobody_answered_in_time_waits_for_its_person(world):
    """Whoever lets checks expire gets no further."""
    study = make(world, triplet_file(pairs=3, references=1, gold={"every": 1, "items": GOLD}))
    panel = Panel(world, study, 1)
    given = panel.step(0, answers=False)
    assert given.role == "gold"
    expire(world)
    assert panel.run(release_abandoned) == 0
    assert panel.step(0).id == given.id


def test_an_expired_question_comes_back_to_its_person(world):
    """Of two people who give two judgments one goes away in between, and still the study completes."""
    study = make(world, triplet_file(pairs=4, references=1, judgments=2))
    panel = Panel(world, study, 2)
    left = panel.step(0, answers=False)
    panel.work(1)
    expire(world)
    assert panel.step(1) is None
    assert panel.run(release_abandoned) == 0, "the other person asked for it, so it is released"
    assert next(one for one in rows(world, Assignment) if one.id == left.id).state == "released"
    assert panel.work(0) == ["item"] * 4
    assert [item.taken for item in rows(world, StudyItem)] == [2] * 4
    again = next(one for one in rows(world, Assignment) if one.id == left.id)
    assert (again.state, again.shown_order) == ("answered", left.shown_order)


def test_what_the_owner_rejected_stays_rejected(world):
    """Taking an exclusion back restores only what the exclusion had discarded."""
    study = make(world, triplet_file(pairs=3, references=1, judgments=2))
    panel = Panel(world, study, 1)
    panel.work(0)
    first, second, _ = panel.item_answers()
    panel.run(reject, first.id)
    panel.run(exclude, At(0), "a test")
    panel.run(reject, second.id)
    assert [one.state for one in rows(world, Assignment)] == ["rejected", "rejected", "discarded"]
    panel.run(include, At(0))
    assert [one.state for one in rows(world, Assignment)] == ["rejected", "rejected", "answered"]
    assert sorted(item.taken for item in rows(world, StudyItem)) == [0, 0, 1]
    with world.database.read() as session:
        assert progress(session, session.get(Study, study.id)).discarded == 2


def test_a_clock_that_goes_back_makes_no_negative_times(world):
    """Such a time is unknown, rather than negative or 0."""
    study = make(world, triplet_file(pairs=2, references=1))
    panel = Panel(world, study, 1)
    panel.step(0, answers=False)
    with world.database.write() as session:
        session.execute(update(Assignment).values(given=now() + dt.timedelta(hours=2)))
    panel.step(0)
    panel.step(0)
    with world.database.read() as session:
        back, ordinary = sorted(answers_of(session, session.get(Study, study.id)), key=lambda one: one.id)
    assert (back.elapsed, back.seconds, back.too_fast) == (None, None, None)
    assert ordinary.elapsed >= 0
    assert ordinary.too_fast is True


@pytest.mark.parametrize("policy", ["note", "warn", "exclude"])
def test_answers_that_are_too_fast(world, policy):
    """The server's clock decides, whatever the browser says, or the time in sight where that is shorter."""
    speed = {"least": 2, "after": 4, "share": 0.5, "policy": policy}
    study = make(world, triplet_file(pairs=8, references=1, speed=speed))
    panel = Panel(world, study, 1)

    def answer(elapsed, active):
        given = panel.step(0, answers=False)
        if given is None:
            return
        with world.database.write() as session:
            person = session.get_one(Annotator, panel.people[0])
            session.get_one(Assignment, given.id).given = now() - dt.timedelta(seconds=elapsed)
            form = {"choice": "1", "active": active}
            record(session, session.get_one(Study, study.id), person, given.id, form)

    for elapsed, active in ((9, "9000"), (9, ""), (9, "500"), (0, "60000")):
        answer(elapsed, active)
    assert [one.too_fast for one in rows(world, Assignment)] == [False, False, True, True]
    assert rows(world, Annotator)[0].cautions == "", "half is not more than half"
    answer(0, "")
    person = rows(world, Annotator)[0]
    assert (person.fast, person.pages) == (3, 5)
    assert person.cautions == ("speed" if policy == "warn" else "")
    assert person.excluded == ("answers too fast: 3/5" if policy == "exclude" else None)


def test_whoever_is_too_fast_is_told(world):
    study = make(world, triplet_file(pairs=8, references=1, speed={"after": 1, "policy": "warn", "least": 600}))
    person = Person(world, study).begin()
    assert "faster than the page can be read" not in person.page
    person.answer(choice="1")
    assert "faster than the page can be read" in person.page


PRACTICE = [{**one, "because": f"Dogs, number {number}."} for number, one in enumerate(GOLD[:3])]


@pytest.mark.parametrize(("least", "goes_on"), [(None, True), (0.3, True), (0.5, False)])
def test_practice_comes_first_with_the_known_answers(world, least, goes_on):
    """They are shown after each question; whoever has too few right goes no further; and none of it counts."""
    practice = {"items": PRACTICE} | ({} if least is None else {"least": least})
    study = make(world, triplet_file(pairs=2, references=1, practice=practice))
    person = Person(world, study).begin()
    assert "Practice: you will see" in person.page
    person.answer(choice="b")
    assert "That was right." in person.page
    assert "Dogs, number 0." in person.page
    assert "0 done" in person.page
    person.answer(choice="c")
    assert "That was not right" in person.page
    assert "<li>The dog 1.</li>" in person.page
    person.answer(choice="c")
    assert ("The practice is over" in person.page) == goes_on
    assert ("goes on without you" in person.page) != goes_on
    found = rows(world, Annotator)[0]
    assert found.excluded == (None if goes_on else "practice questions right: 1/3")
    if goes_on:
        person.answer(choice="b")
        assert "practice is over" not in person.page
        with world.database.read() as session:
            answers = list(answers_of(session, session.get(Study, study.id)))
        assert Counter((one.role, one.counts) for one in answers) == {("practice", False): 3, ("item", True): 1}


@pytest.mark.parametrize(
    ("file", "wrong", "shown"),
    [
        (
            {**pairwise_file(1), "practice": {"items": [{"image_id": 0, "b": "A dog.", "c": "A bus.", "answer": "c"}]}},
            {"choice": "b"},
            "<li>A bus.</li>",
        ),
        (
            diversity_file(
                1,
                practice={
                    "items": [
                        {
                            "image_id": 0,
                            "answer": {"same": [0, 0.2]},
                            "sets": [
                                {"system": "same", "captions": ["x", "x"]},
                                {"system": "other", "captions": ["y", "z"]},
                            ],
                        }
                    ]
                },
            ),
            {"sets": ("9", "9")},
            "<li>x / x: 0 – 0.2</li>",
        ),
        (
            collection_file(1, practice={"items": [{"image_id": 0, "answer": ["Beach", "sea"]}]}),
            {"sentence": "A woman slices some bread."},
            "<li>beach, sea</li>",
        ),
    ],
)
def test_practice_of_the_other_kinds(world, file, wrong, shown):
    """In every kind of study a wrong answer is followed by the right one."""
    person = Person(world, make(world, file)).begin()
    person.answer(**wrong)
    assert "That was not right" in person.page
    assert shown in person.page
    assert "The practice is over" in person.page


def write(world, study, number, *sentences):
    """The answers to sentences of one person; the last that was refused, and why."""
    refused = ""
    person = Person(world, study, worker=f"W{number}").begin()
    for sentence in sentences:
        sent = person.answer(sentence=sentence)
        found = re.search(r'role="alert">(.*?)</p>', sent.text)
        refused = found[1] if sent.status_code == 422 else refused
    return refused


def test_one_sentence_for_every_image_is_refused(world):
    """Other punctuation, numbers or order of words do not make it another sentence."""
    study = make(world, collection_file(images=3, judgments=5))
    same = ("A dog runs on the beach.", "on the beach a dog runs!", "A dog runs on the beach 2")
    for sentence in same[1:]:
        assert "written this sentence before" in write(world, study, sentence, same[0], sentence)
    assert [one.state for one in rows(world, Assignment)].count("answered") == 2


def test_gibberish_is_refused(world):
    study = make(world, collection_file(images=1, judgments=9))
    for number, sentence in enumerate(
        (
            "asdf hjkl qwer zxcv",
            "dog dog dog dog",
            "aaaaaaa bbbbbb ccccc dddd",
            "1 2 3 4 5 6",
            "xkcd bfgh wrtz pqrs",
            "...., ,,,, !!!! a",
        )
    ):
        assert "does not read as a sentence" in write(world, study, number, sentence), sentence


def test_sentences_of_many_languages_are_taken(world):
    study = make(world, collection_file(images=1, judgments=9))
    for number, sentence in enumerate(
        (
            "A man and a woman and a dog.",
            "Ein Schifffahrtsmuseum wird von Kindern besucht.",
            "Vlk zmrzl v lese u vsi.",
            "犬が海岸を走っています。",
            "एक कुत्ता समुद्र तट पर दौड़ता है",
            "كلب يركض على الشاطئ",
            "สุนัขวิ่งบนชายหาด",
            "The 2 dogs are on top of a car.",
        )
    ):
        assert write(world, study, number, sentence) == "", sentence


def test_sentences_that_others_wrote_are_counted(world):
    """They count against whoever wrote them later, and not against whoever wrote them first."""
    rules = {"after": 2, "share": 0.4, "policy": "exclude"}
    study = make(world, collection_file(images=3, judgments=5, repeats=rules))
    sentences = ("A dog runs on the beach.", "Two people eat lunch outside.", "A bus waits at the station.")
    write(world, study, 0, *sentences)
    write(world, study, 1, *sentences)
    first, second = rows(world, Annotator)
    assert (first.repeats, first.excluded) == (0, None)
    assert (second.repeats, second.excluded) == (2, "sentences that others wrote before: 2/2")
    assert [one.repeated for one in rows(world, Assignment) if one.answered] == [False] * 3 + [True] * 2


def test_progress_counts_checks_too(world):
    """The count rises after a check as after an item, and so does not tell which is which."""
    gold = {"every": 2, "items": GOLD}
    study = make(world, triplet_file(pairs=9, references=1, most_per_person=4, gold=gold))
    person = Person(world, study).begin()
    counts = []
    while person.assignment:
        counts.append(re.search(r"(\d+) of (\d+) done", person.page).groups())
        person.answer(choice="1")
    assert counts == [(str(number), "6") for number in range(6)]
    with world.database.read() as session:
        assert pages_of(session.get(Study, study.id), rows(world, Annotator)[0]) == 6


def test_the_words_of_the_owner(world):
    file = triplet_file(question="Welcher Satz ist näher?", language="de-AT", direction="ltr", texts={"Next": "Weiter"})
    study = make(world, file)
    settings = study.settings
    assert {name: settings[name] for name in ("question", "language", "direction", "texts")} == {
        "question": "Welcher Satz ist näher?",
        "language": "de-AT",
        "direction": "ltr",
        "texts": {"Next": "Weiter"},
    }
    assert "<h1>Welcher Satz ist näher?</h1>" in Person(world, study).begin().page


def test_a_study_can_change_after_the_start(world):
    """More judgments bring complete items back, but the consent that people gave cannot be changed."""
    study = make(world, triplet_file(pairs=2, references=1, judgments=1, consent="I agree."))
    panel = Panel(world, study, 2)
    panel.work(0)
    assert panel.step(1) is None
    wrong = {"judgments": 0, "title": "x" * 200, "consent": "More.", "language": "english!"}
    with pytest.raises(StudyFileError) as error, world.database.write() as session:
        repository.change(session, session.get_one(Study, study.id), **wrong)
    assert [problem.split()[0] for problem in error.value.problems] == ["title", "judgments", "language", "consent:"]
    with world.database.write() as session:
        one = session.get_one(Study, study.id)
        repository.change(session, one, judgments=2, most_per_person=1, question="Which?", texts={"Next": "On"})
        assert (one.judgments, one.most_per_person, one.title) == (2, 1, "Which is closer?")
        assert one.settings["question"] == "Which?"
    assert panel.work(1) == ["item"]
    with world.database.write() as session:
        repository.change(session, session.get_one(Study, study.id), most_per_person=0, question="")
    assert panel.work(1) == ["item"]
    with world.database.read() as session:
        assert session.get_one(Study, study.id).settings["question"].startswith("Which of the two")


def test_a_clone_asks_the_same_of_nobody_yet(world):
    study = make(world, {**pairwise_file(3, judgments=2), "title": "First"})
    panel = Panel(world, study, 1)
    panel.work(0)
    with world.database.write() as session:
        twin = repository.clone(session, session.get_one(Study, study.id), "Second")
    assert (twin.state, twin.title, twin.judgments) == ("paused", "Second", 2)
    assert twin.code != study.code
    assert twin.seed != study.seed
    with world.database.write() as session:
        session.get_one(Study, twin.id).state = "open"
        own, copied = (
            session.execute(select(StudyItem.content).where(StudyItem.study_id == one).order_by(StudyItem.number)).all()
            for one in (study.id, twin.id)
        )
        assert own == copied
    person = Person(world, twin).begin()
    assert person.browser.get(re.search(r'<img src="(.*?)"', person.page)[1]).status_code == 200
    with world.database.write() as session:
        repository.delete_whole(session, session.get_one(Study, study.id))
    assert person.browser.get(re.search(r'<img src="(.*?)"', person.page)[1]).status_code == 200
    assert PIXEL.startswith("data:")


def test_sentences_are_refused_without_a_trace(world):
    """A refused sentence is not one that somebody wrote."""
    study = make(world, collection_file(images=2))
    panel = Panel(world, study, 1)
    given = panel.step(0, answers=False)
    with world.database.write() as session:
        person = session.get_one(Annotator, panel.people[0])
        with pytest.raises(AnswerError):
            record(session, session.get_one(Study, study.id), person, given.id, {"sentence": "A dog."})
    assert rows(world, Assignment)[0].fingerprint is None
