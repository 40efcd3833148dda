"""What owners of studies see, decide, share and fetch: answers with their questions, statistics, files, the API."""

import csv
import datetime as dt
import io
import json
import re
import threading

from sqlalchemy import event, select, update
from study_world import Person, collection_file, diversity_file, make, pairwise_file, triplet_file
from test_annotating import rows

from sacrecap import judgments as study_api
from sacrecap_server.store.schema import Annotator, Assignment, StudyItem
from sacrecap_server.studies import results
from sacrecap_server.web.context import Role


def done(world, file=None, people=3, **more):
    """A study that so many people have answered as far as they can, with B always chosen by the first two."""
    study = make(world, file or triplet_file(pairs=3, references=2, judgments=people, **more))
    for number in range(people):
        person = Person(world, study, worker=f"W{number}").begin()
        while person.assignment:
            person.answer(choice="b" if number < 2 else "c")
    return study


def test_the_answers_show_the_whole_question(world):
    """There are A, both options in the order shown, what was chosen, and a link to the person's answers."""
    study = done(world, people=1)
    page = world.browser(Role.OWNER).get(f"/studies/{study.id}/answers").text
    for text in ("a dog number 0 runs home", "the dog 0 runs", "a red kettle 0"):
        assert text in page
    cards = re.findall(r'<li id="answer-(\d+)".*?</li>\s*</ol>', page, re.DOTALL)
    given = {str(one.id): one.shown_order for one in rows(world, Assignment)}
    for number in cards:
        card = page.partition(f'id="answer-{number}"')[2]
        places = re.findall(r'class="place">([BC])<', card)[:2]
        assert places == ["BC"[option] for option in given[number]]
    assert len(re.findall(r'<li class="chosen"><span class="place">B', page)) == 6
    assert f'/studies/{study.id}/answers?person={rows(world, Annotator)[0].id}"' in page


def test_images_of_other_hosts_are_shown_with_the_answers(world):
    """The page's policy lets in what its cards show, and nothing else."""
    file = pairwise_file(pairs=2, judgments=1)
    file["images"]["0"] = "https://images.example.org/0.jpg"
    study = done(world, file, people=1)
    answer = world.browser(Role.OWNER).get(f"/studies/{study.id}/answers")
    assert 'src="https://images.example.org/0.jpg"' in answer.text
    assert re.search(r'src="/images/[\w-]+"', answer.text)
    assert "img-src https://images.example.org 'self'" in answer.headers["content-security-policy"]


def test_the_owner_rejects_with_a_reason_and_takes_it_back(world):
    """A rejection is told from an exclusion, survives it, and can be taken back while there is room."""
    study = done(world, people=2)
    owner, place = world.browser(Role.OWNER), f"/studies/{study.id}"
    person = rows(world, Annotator)[0]
    answer = next(one for one in rows(world, Assignment) if one.annotator_id == person.id)
    back = f"person={person.id}&page=1&evil=//x"
    sent = owner.post(f"{place}/answers/{answer.id}", action="reject", reason="not  careful", back=back)
    assert sent.headers["location"] == f"{place}/answers?person={person.id}&page=1&at={answer.id}&notice=saved"
    owner.post(f"{place}/people/{person.id}", action="exclude")
    owner.post(f"{place}/people/{person.id}", action="include")
    page = owner.get(f"{place}/answers?state=rejected").text
    assert "Rejected: not careful." in page
    assert "1 answer, newest first" in page
    (row,) = [
        row
        for row in csv.DictReader(io.StringIO(owner.get(f"/api/v1{place}/answers.csv").text))
        if row["answer_id"] == str(answer.id)
    ]
    assert (row["state"], row["reason"], row["counts"]) == ("rejected", "not careful", "false")
    assert owner.post(f"{place}/answers/{answer.id}", action="restore", back="").status_code == 303
    states = {one.id: one.state for one in rows(world, Assignment)}
    assert states[answer.id] == "answered"
    assert {item.taken for item in rows(world, StudyItem)} == {2}


def test_an_answer_for_which_there_is_no_room_is_not_restored(world):
    study = make(world, triplet_file(pairs=1, references=1, judgments=1))
    Person(world, study).begin().answer(choice="b")
    owner, place = world.browser(Role.OWNER), f"/studies/{study.id}"
    (answer,) = rows(world, Assignment)
    owner.post(f"{place}/answers/{answer.id}", action="reject")
    Person(world, study).begin().answer(choice="c")
    refused = owner.post(f"{place}/answers/{answer.id}", action="restore")
    assert refused.status_code == 409
    assert "no place for this answer" in refused.text


def test_answers_are_filtered_and_paged_by_the_database(world, monkeypatch):
    """They can be filtered by person, question, role, state and image; a page has its own answers and no others."""
    monkeypatch.setattr(results.answers_page, "__defaults__", (4,))
    study = done(world, people=3)
    owner, place = world.browser(Role.OWNER), f"/studies/{study.id}/answers"
    person = rows(world, Annotator)[1].id

    def count(query):
        return int(re.search(r": ([\d,]+) answers?, newest first", owner.get(f"{place}?{query}").text)[1])

    assert count(f"person={person}") == 6
    assert count("item=2") == 3
    assert count("image=1") == 6
    assert count(f"image=1&person={person}&role=item&state=counted") == 2
    assert count("state=excluded") == count("person=x") == count("item=999") == count("image=none") == 0
    page = owner.get(f"{place}?page=2&role=item").text
    assert "Page 2 of 5" in page
    assert page.count('<li id="answer-') == 4
    assert "?role=item&amp;page=3" in page
    assert "Page 5 of 5" in owner.get(f"{place}?page=99").text
    assert owner.get(f"{place}?image=%00").status_code == 400


def test_owner_pages_do_not_load_every_answer(world, monkeypatch):
    """The statistics of many answers come from a job; the request reads counts, and what was found before."""
    monkeypatch.setattr(results, "SMALL", 5)
    study = done(world, people=2)
    owner, place = world.browser(Role.OWNER), f"/studies/{study.id}"
    read, goes_on = [], threading.Event()
    world.state.counting._pool.submit(goes_on.wait)
    event.listen(world.database.engine, "after_cursor_execute", lambda *given: read.append(given[2]))
    page = owner.get(place + "/quality").text
    assert "counted in the background" in page
    assert not [statement for statement in read if "shown_order" in statement]
    assert '<meta http-equiv="refresh"' in page
    assert world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/results").json() == {
        "current": False,
        "computed": None,
        "results": None,
    }
    goes_on.set()
    world.run_jobs()
    read.clear()
    page = owner.get(place + "/quality").text
    assert "Bradley–Terry" in page
    assert "counted in the background" not in page
    assert not [statement for statement in read if "shown_order" in statement]
    answer = rows(world, Assignment)[0]
    owner.post(f"{place}/answers/{answer.id}", action="reject")
    page = owner.get(place + "/quality").text
    assert "These are the numbers of" in page
    assert '<meta http-equiv="refresh"' not in page, "not again within the minute"


def test_the_job_finds_what_the_request_finds(world, monkeypatch):
    """The child reads the same file."""
    for file in (pairwise_file(pairs=2, judgments=2), diversity_file(judgments=2)):
        study = make(world, file)
        for number in range(2):
            person = Person(world, study).begin()
            said = {"choice": "bc"[number]} if study.kind == "pairwise" else {"sets": [str(number), "4", "7"]}
            while person.assignment:
                person.answer(**said)
        with world.database.read() as session:
            here = results.current(session, study, world.state.counting).body
        found = results.compute({"database": world.database.file, "study": study.id}, [])
        assert found["body"] == here
        monkeypatch.setattr(results, "SMALL", 0)
        with world.database.write() as session:
            results.store(session, study.id, found)
            assert results.current(session, study, world.state.counting).is_current
        monkeypatch.undo()


def test_the_state_of_the_answers_changes_with_them(world):
    """It changes even if as many answers count as before, but others."""
    study = done(world, people=2)
    states = set()

    def look():
        with world.database.read() as session:
            states.add(results.state_of(session, study)[0])

    owner, (first, second, *_) = world.browser(Role.OWNER), rows(world, Assignment)
    for number, action in ((first.id, "reject"), (second.id, "reject"), (first.id, "restore")):
        look()
        owner.post(f"/studies/{study.id}/answers/{number}", action=action)
    look()
    assert len(states) == 4


def test_the_quality_page_judges(world):
    """It has the thresholds in words, warnings, charts with text, fast answers and the platforms' ids."""
    study = make(world, triplet_file(pairs=4, references=1, judgments=3))
    for number in range(3):
        person = Person(world, study, worker=f"W{number}").begin()
        while person.assignment:
            person.post("/answer", assignment=person.assignment, active="100", choice="bbc"[number])
            person.look()
    with world.database.write() as session:
        first = session.execute(select(Annotator)).scalars().first()
        first.platform_study, first.platform_session = "STUDY9", "SESSION7"
    page = world.browser(Role.OWNER).get(f"/studies/{study.id}/quality").text
    assert '<strong class="judgment bad">too low</strong>' in page
    assert "Few images have answers" in page
    assert page.count('<svg class="chart ') == 5
    assert page.count('role="img" data-box="') == page.count('" aria-label="too low: α ') + 4 == 5
    assert "4 of 4 <strong" in page
    assert "speeder" in page
    assert "SESSION7" in page
    assert "STUDY9" in page
    exported = world.browser(Role.OWNER).get(f"/api/v1/studies/{study.id}/answers.csv").text
    assert "SESSION7" in exported
    pseudonymous = world.browser(Role.OWNER).get(f"/api/v1/studies/{study.id}/answers.csv?pseudonymous=true").text
    assert not re.search("SESSION7|STUDY9|W0", pseudonymous)


def test_remarks_on_people_are_shown_and_exclude_nobody(world):
    """Pasted text, another window, an even pace, and one address; who has none of them has no remark."""
    file = collection_file(images=12, judgments=5, speed={"least": 0})
    study = make(world, file)
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    for number in range(3):
        person = Person(world, study, worker=f"W{number}").begin()
        for word in words[: 12 - 9 * bool(number)]:
            marks = {"pasted": "1", "away": "1"} if number == 0 else {}
            person.answer(sentence=f"A dog runs home at {word}, says the person {'xyz'[number]}.", **marks)
    with world.database.write() as session:
        for one in session.execute(select(Assignment)).scalars():
            if one.answered is not None:
                wait = 3.0 if one.annotator_id == 1 else 1.0 + one.id % 5
                one.given, one.active_ms = one.answered - dt.timedelta(seconds=wait), None
        session.execute(update(Annotator).where(Annotator.worker == "W2").values(place="elsewhere"))
    owner = world.browser(Role.OWNER)
    page = owner.get(f"/studies/{study.id}/quality").text
    for remark in ("pasted into 12 of 12 answers", "in another window during 12 of 12", "answers at an even pace"):
        assert page.count(remark) == 1
    assert "people at one address" not in page
    with world.database.write() as session:
        place = session.execute(select(Annotator.place).where(Annotator.worker == "W0")).scalar_one()
        session.execute(update(Annotator).values(place=place))
    assert owner.get(f"/studies/{study.id}/quality").text.count("3 people at one address") == 3
    assert all(one.excluded is None for one in rows(world, Annotator))
    table = list(csv.DictReader(io.StringIO(owner.get(f"/studies/{study.id}/people.csv").text)))
    assert [(one["pasted"], one["away"], one["same_address"]) for one in table] == [
        ("12", "12", "3"),
        ("0", "0", "3"),
        ("0", "0", "3"),
    ]


def test_half_finished_pairs_are_marked_and_still_read(world, tmp_path):
    """The export has `complete`, judgments wanted and had, and who said what; `sacrecap agreement` reads it."""
    study = make(world, triplet_file(pairs=2, references=2, judgments=2))
    person = Person(world, study).begin()
    for _ in range(3):
        person.answer(choice="b")
    text = world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/export").text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["complete"] for line in lines] == [False, False]
    assert {(line["judgments"]["wanted"], line["judgments"]["had"]) for line in lines} == {(4, 2), (4, 1)}
    number = rows(world, Annotator)[0].id
    assert all(said == {"b": [number], "c": []} for line in lines for said in line["said"])
    path = tmp_path / "pairs.jsonl"
    path.write_text(text, encoding="utf-8")
    found = study_api.agreement(study_api.read_judgments(str(path)), metrics="bleu-1", interval=None).to_dict()
    assert found["metrics"]["bleu-1"]["accuracy"]["all"] == 1


def test_exports_are_read_some_answers_at_a_time(world, monkeypatch):
    """They are whole and in the same order, however few are read at a time."""
    study = done(world, people=2)
    whole = world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/answers.csv").text
    judged = world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/export").text
    monkeypatch.setattr(results, "_AT_A_TIME", 1)
    assert world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/answers.csv").text == whole
    assert world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/export").text == judged
    assert len(list(csv.DictReader(io.StringIO(whole)))) == 12


def test_texts_and_numbers_change_after_the_start(world):
    study = make(world, triplet_file(pairs=1, references=1, judgments=1, title="Before"))
    Person(world, study).begin().answer(choice="b")
    owner, place = world.browser(Role.OWNER), f"/studies/{study.id}"
    form = {
        "title": "After",
        "question": "Which is nearer?",
        "instructions": "Look twice.",
        "consent": "",
        "judgments": "2",
        "most_per_person": "7",
        "minutes": "5",
        "completion_code": "",
        "completion_url": "",
    }
    assert "Before" in owner.get(place + "/edit").text
    refused = owner.post(place + "/edit", **{**form, "completion_url": "javascript:alert(1)", "consent": "New"})
    assert refused.status_code == 422
    assert "completion_url must be an address" in refused.text
    assert "people have agreed to the text as it is" in refused.text
    assert owner.post(place + "/edit", **form).status_code == 303
    other = Person(world, study).begin()
    assert "Which is nearer?" in other.page
    assert "After" in owner.get(place).text


def test_empty_states_tell_the_next_step(world):
    owner = world.browser(Role.OWNER)
    assert "You have no study yet" in owner.get("/studies").text
    study = make(world, triplet_file(), state="paused")
    for path in ("/quality", "/answers"):
        assert f'<a href="/studies/{study.id}#state">Open the study</a>' in owner.get(f"/studies/{study.id}{path}").text
    page = " ".join(owner.get(f"/studies/{study.id}").text.split())
    assert "Nobody has come yet. Look at the" in page
    assert "below" not in page, "on a wide screen what follows stands beside it"
    for place in ("state", "links"):
        assert f'href="#{place}"' in page
        assert f'id="{place}"' in page
    owner.post(f"/studies/{study.id}/state", state="open")
    assert "the study’s link</a>" in owner.get(f"/studies/{study.id}/quality").text


def test_a_study_over_the_api(world):
    """A study is made of a file, opened, watched, read, changed, cloned and deleted."""
    api = world.api(Role.OWNER)
    refused = api.post("/api/v1/studies", content=json.dumps({"study": "triplet", "items": []}))
    assert refused.status_code == 422
    assert refused.json()["error"]["problems"]
    made = api.post("/api/v1/studies", content=json.dumps(triplet_file(pairs=2, references=1, judgments=2)))
    assert made.status_code == 201
    body = made.json()
    assert (body["state"], body["pages"], body["progress"]["wanted"]) == ("paused", {"item": 2}, 4)
    place = f"/api/v1/studies/{body['id']}"
    assert api.patch(place, json={"state": "sleeping"}).status_code == 422
    assert api.patch(place, json={"state": "open"}).json()["state"] == "open"
    study = next(one for one in rows(world, type(make(world, collection_file()))) if one.id == body["id"])
    for number in range(2):
        person = Person(world, study, worker=f"W{number}").begin()
        while person.assignment:
            person.answer(choice="bc"[number])
    assert api.get(place).json()["progress"]["answers"] == 4
    found = api.get(place + "/answers", params={"size": 3, "page": 2, "pseudonymous": True}).json()
    assert (found["count"], found["pages"], len(found["answers"])) == (4, 2, 1)
    assert found["answers"][0]["worker"] == ""
    assert api.get(place + "/answers?state=lost").status_code == 422
    results_ = api.get(place + "/results").json()
    assert results_["current"]
    assert results_["results"]["people"][0]["first"]["interval"]
    assert results_["results"]["strengths"][0][0]["system"]
    assert len(api.get(place + "/export").text.splitlines()) == 2
    assert "worker" not in api.get(place + "/answers.csv?pseudonymous=true").text
    assert api.patch(place, json={"title": "Other", "judgments": 3}).json()["progress"]["wanted"] == 6
    assert api.patch(place, json={"minutes": 100_000}).status_code == 422
    twin = api.post(place + "/clone", json={}).json()
    assert (twin["title"], twin["pages"], twin["progress"]["people"]) == ("Other (again)", {"item": 2}, 0)
    cloned = world.browser(Role.OWNER).post(f"/studies/{body['id']}/clone", title="Once more")
    assert "Once more" in world.browser(Role.OWNER).get(cloned.headers["location"].partition("?")[0]).text
    assert {one["title"] for one in api.get("/api/v1/studies").json()["studies"]} >= {"Other", "Other (again)"}
    assert api.delete(place).status_code == 422
    assert api.delete(place, params={"title": "Other"}).json() == {"deleted": body["id"], "answers": 4}
    assert api.get(place).status_code == 404
    assert world.client().get(place).status_code == 401
