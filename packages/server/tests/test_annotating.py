"""Doing a study, as the people who answer do."""

import pytest
from sqlalchemy import inspect, select, update
from study_world import Person, collection_file, diversity_file, make, pairwise_file, triplet_file

from sacrecap_server.store.schema import Annotator, Assignment, SignedIn, StudyItem
from sacrecap_server.studies.arrivals import platform_key
from sacrecap_server.web.context import digest
from sacrecap_server_testing.world import TOKEN


def rows(world, *what, **where):
    table = inspect(getattr(what[0], "class_", what[0]))
    with world.database.read() as session:
        query = select(*what).order_by(*table.primary_key)  # SQL promises no order
        for name, value in where.items():
            query = query.where(getattr(what[0], name) == value)
        return session.execute(query).scalars().all() if len(what) == 1 else session.execute(query).all()


def test_a_whole_triplet_study(world):
    study = make(world, triplet_file(pairs=2, references=2, judgments=3))
    people = [Person(world, study).begin() for _ in range(3)]
    for person in people:
        for done in range(4):
            assert "<img" not in person.page
            assert f"{done} done" in person.page
            assert person.answer(choice="b").status_code == 303
        assert person.assignment is None
        assert "completion code" in person.page
    answers = rows(world, Assignment)
    assert [(one.state, one.answer, one.active_ms) for one in answers] == [("answered", "b", 1500)] * 12
    assert all(item.taken == 3 for item in rows(world, StudyItem))
    late = Person(world, study).begin()
    assert "Others have answered all there was" in late.page
    assert "completion code" not in late.page


def test_the_order_of_b_and_c_is_by_chance_and_recorded(world):
    study = make(world, triplet_file(pairs=30, references=1))
    person = Person(world, study).begin()
    seen = {}
    for _ in range(30):
        seen[int(person.assignment)] = ["bc".index(name) for name in person.choices]
        person.answer(choice="c")
    assert seen == {one.id: one.shown_order for one in rows(world, Assignment)}
    assert 3 < sum(order == [0, 1] for order in seen.values()) < 27


def test_answers_are_idempotent(world):
    study = make(world, triplet_file())
    person = Person(world, study).begin()
    number = person.assignment
    for choice in ("b", "b", "c"):
        assert person.post("/answer", assignment=number, choice=choice).status_code == 303
    with world.database.read() as session:
        assert session.get(Assignment, int(number)).answer == "b"
        assert session.execute(select(Annotator.items)).scalar_one() == 1


def test_an_incomplete_answer_comes_back_with_what_is_missing(world):
    study = make(world, triplet_file())
    person = Person(world, study).begin()
    for fields in ({}, {"choice": "d"}, {"choice": ""}):
        sent = person.post("/answer", assignment=person.assignment, **fields)
        assert sent.status_code == 422
        assert "Choose one of the two sentences." in sent.text
    assert rows(world, Assignment)[0].state == "given"


def test_an_answer_to_no_question_of_theirs_is_refused(world):
    study = make(world, triplet_file())
    one, other = Person(world, study).begin(), Person(world, study).begin()
    for number in (one.assignment, "", "x", "-1", "99999999", "9" * 40, "١"):
        assert other.post("/answer", assignment=number, choice="b").status_code == 404, number


def test_people_resume_where_they_were(world):
    study = make(world, triplet_file())
    person = Person(world, study, worker="W1", session="E1").begin()
    person.answer(choice="b")
    number = person.assignment
    assert person.look().assignment == number
    other_device = Person(world, study, worker="W1", session="E1").begin()
    assert other_device.assignment == number
    assert "1 done" in other_device.page
    assert len(rows(world, Annotator)) == 1


def test_two_workers_at_one_browser_are_two_people(world):
    study = make(world, triplet_file())
    first = Person(world, study, worker="W1").begin()
    first.post("/begin", **{**first.arrival, "worker": "W2"})
    first.look()
    assert {one.worker: one.cookie_hash is not None for one in rows(world, Annotator)} == {"W1": False, "W2": True}


def test_what_is_abandoned_goes_to_somebody_else_and_a_late_answer_is_not_taken(world):
    study = make(world, triplet_file(pairs=1, references=1, judgments=1))
    away = Person(world, study).begin()
    other = Person(world, study).begin()
    assert other.assignment is None
    expire(world)
    assert other.look().assignment is not None
    late = away.post("/answer", assignment=away.assignment, choice="b")
    assert late.headers["location"].endswith("notice=too-late")
    other.answer(choice="c")
    assert [one.state for one in rows(world, Assignment)] == ["released", "answered"]
    assert rows(world, StudyItem)[0].taken == 1


def test_a_late_answer_is_taken_where_the_place_is_still_free(world):
    study = make(world, triplet_file(pairs=1, references=1, judgments=2))
    away = Person(world, study).begin()
    expire(world)
    Person(world, study).begin()
    away.answer(choice="b")
    assert sorted(one.state for one in rows(world, Assignment)) == ["answered", "given"]
    assert rows(world, StudyItem)[0].taken == 2


def expire(world):
    import datetime as dt

    from sacrecap_server.store.schema import now

    with world.database.write() as session:
        session.execute(update(Assignment).values(expires=now() - dt.timedelta(seconds=1)))


def test_platform_links(world):
    study = make(world, triplet_file(completion={"code": "C0DE", "url": "https://platform.example/done?cc=C0DE"}))
    person = Person(world, study)
    key = platform_key(world.state.secret_key, study.code)
    query = {"PROLIFIC_PID": "5f", "STUDY_ID": "s1", "SESSION_ID": "e1", "key": key}
    page = person.browser.get(person.path, params=query).text
    assert 'name="worker" value="5f"' in page
    assert 'name="session" value="e1"' in page
    page = person.browser.get(
        person.path, params={"workerId": "A1", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h"}
    ).text
    assert "preview" in page
    assert "<button" not in page


def test_the_end_has_the_code_of_the_platform(world):
    study = make(
        world,
        triplet_file(most_per_person=1, completion={"code": "C0DE", "url": "https://platform.example/done?cc=C0DE"}),
    )
    person = Person(world, study, worker="5f").begin()
    assert "0 of 1 done" in person.page
    person.answer(choice="b")
    assert "C0DE</code>" in person.page
    assert 'href="https://platform.example/done?cc=C0DE"' in person.page


def test_a_study_for_a_platform_only(world):
    study = make(world, triplet_file(workers_only=True))
    stranger = Person(world, study)
    assert "come by the link" in stranger.browser.get(stranger.path).text
    assert stranger.browser.post(stranger.path + "/begin").status_code == 403
    assert Person(world, study, worker="W1").begin().assignment


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_nothing_is_given_out_unless_the_study_is_open(world, state):
    study = make(world, triplet_file(), state=state)
    person = Person(world, study)
    assert "<button" not in person.browser.get(person.path).text
    person.csrf = person.browser.csrf(person.path)
    person.post("/begin")
    assert person.look().assignment is None


GOLD = [{"a": f"A dog {n}.", "b": f"The dog {n}.", "c": "A kettle.", "answer": "b"} for n in range(5)]


def do(person, choose, times):
    for _ in range(times):
        if person.assignment:
            person.answer(choice=choose(person))


def test_gold_questions_come_as_often_as_asked_and_look_like_the_others(world):
    study = make(world, triplet_file(pairs=12, references=1, gold={"every": 4, "items": GOLD}))
    person = Person(world, study).begin()
    roles = []
    while person.assignment:
        with world.database.read() as session:
            query = select(StudyItem.role).join(Assignment).where(Assignment.id == int(person.assignment))
            roles.append(session.execute(query).scalar_one())
        assert "gold" not in person.page
        person.answer(choice="b")
    before = [roles[:place].count("item") for place, role in enumerate(roles) if role == "gold"]
    assert [place // 4 for place in before] == [0, 1, 2], "one in each four items"
    assert len(roles) == 15


@pytest.mark.parametrize("policy", ["note", "warn", "exclude"])
def test_policies(world, policy):
    roles = {"gold": {"every": 2, "items": GOLD[:2]}, "attention": {"every": 2, "items": GOLD[2:]}}
    study = make(world, triplet_file(pairs=4, references=1, judgments=1, **roles, checks={"policy": policy}))
    person = Person(world, study).begin()
    do(person, lambda _: "c", 5)
    found = rows(world, Annotator)[0]
    assert found.warned == (policy == "warn")
    assert ("take your time" in person.page) == (policy == "warn")
    assert found.excluded == ("checks right: 0/2" if policy == "exclude" else None)
    if policy == "exclude":
        assert "goes on without you" in person.page
        assert "completion code" not in person.page
        assert all(item.taken == 0 for item in rows(world, StudyItem))
        assert {one.state for one in rows(world, Assignment)} == {"discarded"}
        other = Person(world, study).begin()
        assert other.assignment


def test_hostile_captions_are_text(world):
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7007*7007 }}"
    file = triplet_file(title=hostile, instructions=hostile, consent=hostile)
    file["items"] = [{"image_id": hostile, "references": [hostile], "b": hostile + "b", "c": hostile + "c"}]
    study = make(world, file)
    person = Person(world, study, worker=hostile).begin()
    assert hostile[:20] not in person.page
    assert "&lt;script&gt;" in person.page
    assert "49098049" not in person.page.split("<main")[1].split("csrf")[0]
    assert "script-src 'self'" in person.browser.get(person.path).headers["content-security-policy"]


def test_pairwise_shows_the_image(world):
    study = make(world, pairwise_file())
    person = Person(world, study).begin()
    source = person.page.split('<img src="')[1].split('"')[0]
    image = person.browser.get(source)
    assert image.headers["content-type"] == "image/png"
    assert image.content.startswith(b"\x89PNG")
    assert person.browser.get("/images/none").status_code == 404


def test_an_image_from_the_web_is_allowed_by_the_page_and_no_other(world):
    file = pairwise_file(pairs=1)
    file["images"] = {"0": "https://images.example:8443/val/0.jpg?size=1"}
    person = Person(world, make(world, file)).begin()
    policy = person.browser.get(person.path + "/task").headers["content-security-policy"]
    assert "img-src https://images.example:8443 'self' data:;" in policy
    assert "script-src 'self';" in policy


def test_a_diversity_rating(world):
    study = make(world, diversity_file(images=1))
    person = Person(world, study).begin()
    assert person.post("/answer", assignment=person.assignment, **{"score-1": "3"}).status_code == 422
    person.answer(sets=("0", "7", "10"))
    answer = rows(world, Assignment)[0]
    assert answer.answer == [0.0, 0.7, 1.0]
    assert sorted(answer.shown_order) == [0, 1, 2]


def test_sentences(world):
    study = make(world, collection_file(images=1, judgments=2))
    person = Person(world, study).begin()
    for sentence in ("", "a dog", '"Sit," she says to it', "A DOG RUNS ON THE BEACH", "long " * 120):
        assert person.post("/answer", assignment=person.assignment, sentence=sentence).status_code == 422
    person.answer(sentence="  A dog runs\non the beach. ")
    assert rows(world, Assignment)[0].answer == "A dog runs on the beach."
    assert person.assignment is None


def test_a_check_that_comes_again_takes_the_same_sentence(world):
    """It is the same page; on another page the same sentence is refused."""
    checks = {"items": [{"image_id": "0", "answer": ["kettle"]}], "every": 1}
    study = make(world, collection_file(images=3, judgments=1, attention=checks))
    person = Person(world, study).begin()
    sentences = iter(("A dog runs on the beach.", "A cat sleeps in the sun.", "A bird sits on a branch."))
    for _ in range(4):
        with world.database.read() as session:
            role = session.get_one(Assignment, int(person.assignment)).role
        sentence = next(sentences) if role == "item" else "A red kettle stands here."
        assert person.post("/answer", assignment=person.assignment, sentence=sentence).status_code == 303
        person.look()
    assert [one.role for one in rows(world, Assignment)].count("attention") >= 2
    refused = person.post("/answer", assignment=person.assignment, sentence="A dog runs on the beach.")
    assert refused.status_code == 422


def test_signing_in_keeps_an_annotators_place(world):
    """The sign-in and the study have cookies of their own, with different hashes."""
    study = make(world, triplet_file())
    person = Person(world, study).begin()
    question = person.assignment
    assert person.browser.post("/sign-in", token=TOKEN).status_code == 303
    assert person.browser.get("/studies").status_code == 200
    assert person.look().assignment == question
    assert person.answer(choice="b").status_code == 303
    assert person.browser.post("/sign-out").status_code == 303
    assert "1 done" in person.look().page
    [hashed] = rows(world, Annotator.cookie_hash)
    assert rows(world, SignedIn.token_hash) == []
    cookies = dict(person.browser.client.cookies)
    assert set(cookies) == {"sacrecap", "sacrecap-study"}
    assert digest(cookies["sacrecap-study"]) == hashed
    assert digest(cookies["sacrecap"]) != hashed
