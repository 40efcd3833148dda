"""How people leave a study: complete, partly, screened out, without consent, or with their answers deleted."""

import csv
import datetime as dt
import io
import re

import pytest
from sqlalchemy import select, update
from study_world import Person, make, triplet_file
from test_annotating import GOLD, rows

from sacrecap_server.store.schema import Annotator, Assignment, Study, StudyFindings, StudyItem, now
from sacrecap_server.studies.arrivals import Arrival, begin
from sacrecap_server.studies.endings import erase, reject
from sacrecap_server.web.context import Role

CODES = {
    "code": "DONE",
    "screened_out": {"code": "SCREENED"},
    "no_consent": {"code": "DECLINED"},
    "partial": {"code": "PARTLY"},
}


def prolific(**more):
    return triplet_file(**{"platform": "prolific", "completion": CODES, "consent": "Do you agree?", **more})


def answer(person, times=1):
    """Chooses what stands first."""
    for _ in range(times):
        person.answer(choice=re.search(r'name="choice" value="([^"]+)"', person.page)[1])
    return person


def code(page):
    found = re.search(r'<code class="secret"[^>]*>([^<]+)</code>', page)
    return found[1] if found else None


def later(world, minutes):
    """Time passes since every answer."""
    with world.database.write() as session:
        session.execute(update(Assignment).values(answered=now() - dt.timedelta(minutes=minutes)))


def change(world, study, **values):
    with world.database.write() as session:
        for name, value in values.items():
            setattr(session.get_one(type(study), study.id), name, value)


def test_the_completion_code_is_for_completion_alone(world):
    """Neither a pause of the study nor waiting for others gives the code."""
    study = make(world, prolific(pairs=4, references=2, judgments=1))
    person = answer(Person(world, study, worker="P1").begin(), 2)
    change(world, study, state="paused")
    answer(person)  # what was given out can still be answered
    assert "The study is paused" in person.page
    assert code(person.page) is None
    assert "Finish now" not in person.page
    change(world, study, state="open")
    other = Person(world, study, worker="P2").begin()
    answer(person.look(), 4)
    assert "Others are at work on what is left" in person.page
    assert code(person.page) is None
    answer(other)
    assert code(person.look().page) == "DONE"
    assert 'href="https://app.prolific.com/submissions/complete?cc=DONE"' in person.page
    assert [one.ended for one in rows(world, Annotator, worker="P1")] == ["complete"]


def test_as_many_as_one_person_may_do_is_complete(world):
    study = make(world, prolific(most_per_person=1))
    assert code(answer(Person(world, study, worker="P1").begin()).page) == "DONE"


def test_whoever_has_waited_may_finish_and_is_seen_as_partial(world):
    study = make(world, prolific(pairs=2, references=1, judgments=1, minutes=20))
    person, other = (Person(world, study, worker=name).begin() for name in ("P1", "P2"))
    answer(person)
    assert "in 20 minutes with the answers" in person.page
    assert person.post("/finish").status_code == 303
    assert rows(world, Annotator, worker="P1")[0].ended is None
    later(world, 21)
    with world.database.write() as session:  # the other is still at it
        session.execute(update(Assignment).where(Assignment.state == "given").values(expires=now() + dt.timedelta(1)))
    person.look()
    assert "Finish now" in person.page
    person.post("/finish")
    assert code(person.look().page) == "PARTLY"
    assert rows(world, Annotator, worker="P1")[0].ended == "partial"
    assert "partial" in world.browser(Role.OWNER).get(f"/studies/{study.id}/people").text
    answer(other)
    assert code(person.look().page) == "PARTLY"


def test_a_study_that_is_closed_lets_people_finish_at_once(world):
    study = make(world, prolific())
    person = answer(Person(world, study, worker="P1").begin())
    change(world, study, state="closed")
    assert "Finish now" in person.look().page
    person.post("/finish")
    assert code(person.look().page) == "PARTLY"
    late = Person(world, study, worker="P2")
    assert "This study is over" in late.browser.get(late.path).text


def test_whoever_comes_when_everything_is_answered_gets_no_code(world):
    study = make(world, prolific(pairs=1, references=1, judgments=1))
    answer(Person(world, study, worker="P1").begin())
    late = Person(world, study, worker="P2").begin()
    assert "All questions are answered" in late.page
    assert "return the work on the platform" in late.page
    assert code(late.page) is None


def test_who_fails_the_checks_gets_the_code_of_screening(world):
    gold = {"every": 1, "items": GOLD}
    study = make(world, prolific(gold=gold))  # on a platform, checks exclude by default
    person = Person(world, study, worker="P1").begin()
    while person.assignment:
        wrong = next(value for value, text in re.findall(_CHOICE, person.page, re.DOTALL) if "kettle" in text)
        person.answer(choice=wrong)
    assert code(person.page) == "SCREENED"
    assert "goes on without you" in person.page


_CHOICE = r'name="choice" value="([^"]+)".*?class="sentence-text">(.*?)</span>'


def test_whoever_clicks_through_a_platforms_study_is_told_and_ends_with_a_part_of_it(world):
    """The first five answers bring a warning, the tenth the end; what was answered stays for the owner to look at."""
    study = make(world, prolific(pairs=20, references=1, language="de"))
    person = answer(Person(world, study, worker="P1").begin(), 5)
    assert "nehmen Sie sich Zeit" in person.page
    answer(person, 5)
    assert person.assignment is None
    assert code(person.page) == "PARTLY"
    assert "Ihr Teil der Studie endet" in person.page
    assert [(one.ended, one.items, one.excluded) for one in rows(world, Annotator)] == [("too-fast", 10, None)]
    assert len(rows(world, Assignment, state="answered")) == 10
    assert "too-fast" in world.browser(Role.OWNER).get(f"/studies/{study.id}/people.csv").text
    slow = prolific(pairs=20, references=1, speed={"least": 0})
    person = answer(Person(world, make(world, slow), worker="P1").begin(), 11)
    assert person.assignment


def test_who_does_not_agree_gets_the_code_for_that_and_is_not_stored(world):
    study = make(world, prolific())
    person = Person(world, study, worker="P1")
    page = person.browser.get(person.path, params=person.arrival).text
    assert "I do not agree" in page
    person.csrf = person.browser.csrf("/s/")
    declined = person.post("/decline", **person.arrival)
    assert code(declined.text) == "DECLINED"
    assert "https://app.prolific.com/submissions/complete?cc=DECLINED" in declined.text
    assert rows(world, Annotator) == []
    assert "I do not agree" not in Person(world, make(world, triplet_file())).begin().page


def test_stopping_keeps_the_answers_and_gives_back_the_question(world):
    """Whoever stops gets the code for a part of the work, and a later answer is refused."""
    study = make(world, prolific())
    person = answer(Person(world, study, worker="P1").begin())
    assert "I want to stop" in person.page
    assert "Stop, and keep my answers" in person.browser.get(person.path + "/stop").text
    old = person.assignment
    assert person.post("/stop", how="keep").status_code == 303
    assert code(person.look().page) == "PARTLY"
    assert person.assignment is None
    late = person.post("/answer", assignment=old, choice="b")
    assert late.headers["location"].endswith("notice=too-late")
    assert sum(item.taken for item in rows(world, StudyItem)) == 1
    assert [one.state for one in rows(world, Assignment, state="answered")] == ["answered"]


def test_withdrawing_deletes_every_answer_and_others_are_asked(world):
    """Withdrawing must be confirmed, and whoever withdrew is asked nothing more."""
    gold = {"every": 1, "items": GOLD}
    study = make(world, prolific(pairs=2, references=1, judgments=1, gold=gold))
    person = Person(world, study, worker="P1").begin()
    while person.assignment:
        answer(person)
    assert code(person.page) == "DONE"
    refused = person.post("/stop", how="withdraw")
    assert refused.status_code == 422
    assert "Tick the box" in refused.text
    person.post("/stop", how="withdraw", sure="yes")
    assert "Your answers are deleted" in person.look().page
    assert rows(world, Assignment) == []
    assert {item.taken for item in rows(world, StudyItem)} == {0}
    again = Person(world, study, worker="P1", sig=signature(world, study, "P1")).begin()
    assert again.assignment is None
    other = Person(world, study, worker="P2").begin()
    assert other.assignment is not None


def signature(world, study, worker):
    from sacrecap_server.studies.arrivals import personal_signature

    return personal_signature(world.state.secret_key, study.code, worker)


def test_withdrawing_does_not_wash_off_an_exclusion(world):
    gold = {"every": 1, "items": GOLD}
    study = make(world, triplet_file(gold=gold, checks={"policy": "exclude"}))
    person = Person(world, study).begin()
    while person.assignment:
        wrong = next(value for value, text in re.findall(_CHOICE, person.page, re.DOTALL) if "kettle" in text)
        person.answer(choice=wrong)
    person.post("/stop", how="withdraw", sure="yes")
    found = rows(world, Annotator)[0]
    assert (found.ended, found.excluded is None, found.items) == ("withdrawn", False, 0)
    assert "Your answers are deleted" in person.look().page
    assert {item.taken for item in rows(world, StudyItem)} == {0}


@pytest.mark.parametrize("form", [{}, {"how": "delete"}, {"how": "withdraw", "sure": "no"}])
def test_what_the_page_cannot_send_stops_nobody(world, form):
    person = answer(Person(world, make(world, triplet_file())).begin())
    assert person.post("/stop", **form).status_code == 422
    assert person.look().assignment


def test_a_rejected_answer_does_not_undo_completion(world):
    study = make(world, prolific(pairs=1, references=1, judgments=1))
    person = answer(Person(world, study, worker="P1").begin())
    number = rows(world, Assignment)[0].id
    with world.database.write() as session:
        reject(session, session.get_one(type(study), study.id), number)
    assert code(person.look().page) == "DONE"


def test_sessions_of_the_platform_are_shown_and_exported(world):
    """The page of people and its CSV file have them, and the file makes formulas harmless."""
    study = make(world, prolific())
    for name in ("P1", "P2"):
        answer(Person(world, study, worker=name, session=f"S-{name}", STUDY_ID="=1+1").begin())
    owner = world.browser(Role.OWNER)
    assert "S-P2" in owner.get(f"/studies/{study.id}/people").text
    table = owner.get(f"/studies/{study.id}/people.csv").text
    lines = list(csv.DictReader(io.StringIO(table)))
    assert [(line["worker"], line["platform_session"], line["answers"], line["state"]) for line in lines] == [
        ("P1", "S-P1", "1", "at work"),
        ("P2", "S-P2", "1", "at work"),
    ]
    assert {line["platform_study"] for line in lines} == {"'=1+1"}
    assert world.client().get(f"/studies/{study.id}/people.csv").status_code == 401


@pytest.mark.parametrize("platform", ["prolific", "mturk"])
def test_lists_to_approve_and_to_pay_are_those_that_platforms_take(world, platform):
    """Who is complete, who did a part, who is excluded, who is still at work."""
    gold = {"every": 1, "items": GOLD}
    file = prolific(platform=platform, pairs=4, references=1, gold=gold, speed={"least": 0})
    study = make(world, file)
    ends = {"done": ("complete", None), "=part": ("stopped", None), "fast": ("too-fast", None)}
    ends |= {"bad": (None, "checks right: 1/6"), "here": (None, None), "gone": ("withdrawn", None)}
    with world.database.write() as session:
        for number, (worker, (ended, excluded)) in enumerate(ends.items()):
            arrival = Arrival(worker=worker, study="HIT", session=f"S{number}")
            person = begin(session, study, f"{number:064d}", arrival)
            person.items, person.ended, person.excluded = 3, ended, excluded
    owner = world.browser(Role.OWNER)
    assert "Approve and pay" in owner.get(f"/studies/{study.id}/people").text
    approve = owner.get(f"/studies/{study.id}/approve").text.splitlines()
    bonus = owner.get(f"/studies/{study.id}/bonus", params={"per_answer": "0.055"}).text.splitlines()
    if platform == "prolific":
        assert approve == ["done"]
        assert bonus == ["'=part,0.17", "fast,0.17"]
    else:
        assert approve == [
            "HITId,AssignmentId,WorkerId,Approve,Reject",
            "HIT,S0,done,x,",
            "HIT,S1,'=part,x,",
            "HIT,S2,fast,x,",
            "HIT,S3,bad,,Excluded: checks right: 1/6.",
        ]
        assert bonus[1:] == ["done,S0,0.17,3 answers", "'=part,S1,0.17,3 answers", "fast,S2,0.17,3 answers"]
    for refused in ("", "-1", "x", "1e9", "nan"):
        assert owner.get(f"/studies/{study.id}/bonus", params={"per_answer": refused}).status_code in (400, 422)
    assert world.client().get(f"/studies/{study.id}/approve").status_code == 401


def test_the_owner_takes_part_and_stays_the_same_person_when_signed_out(world):
    """The study's own cookie says who the annotator is, whether or not somebody is signed in."""
    study = make(world, triplet_file())
    person = Person(world, study)
    person.browser = world.browser(Role.OWNER)
    answer(person.begin())
    number = person.assignment
    assert person.browser.get("/studies").status_code == 200
    person.browser.client.cookies.delete(world.state.cookie_name)
    assert person.look().assignment == number
    assert rows(world, Annotator)[0].items == 1


def test_erasing_a_person_leaves_nothing_of_them(world):
    """The statistics that were kept name the person; the places go to others."""
    study = make(world, triplet_file(pairs=3))
    for choice in "bc":
        Person(world, study).begin().answer(choice=choice)
    with world.database.write() as session:
        session.add(StudyFindings(study_id=study.id, state="1", body="{}", computed=now()))
    with world.database.write() as session:
        person = session.execute(select(Annotator).order_by(Annotator.id).limit(1)).scalar_one()
        erase(session, session.get(Study, study.id), person)
    assert rows(world, StudyFindings) == []
    assert [one.id for one in rows(world, Annotator)] == [2]
    assert {one.annotator_id for one in rows(world, Assignment)} == {2}
    assert sum(item.taken for item in rows(world, StudyItem)) == 2, "an answer, and a question given"
