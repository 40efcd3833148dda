"""Studies as their owners see them."""

import base64
import csv
import hashlib
import io
import json
import re
import time

import pytest
from sqlalchemy import select
from study_world import Person, collection_file, diversity_file, make, pairwise_file, triplet_file
from test_annotating import GOLD, rows

from sacrecap_server.store.schema import Annotator, Assignment, Blob, Study, StudyImage, StudyItem
from sacrecap_server.web.context import Role
from sacrecap_studies.design import StudyFileError, read_design


def upload(browser, data):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return browser.post("/studies", files={"file": ("study.json", data, "application/json")})


def test_a_file_becomes_a_study_that_is_opened_and_done(world):
    owner = world.browser(Role.OWNER)
    for file in (triplet_file(), pairwise_file(), diversity_file(), collection_file()):
        made = upload(owner, file)
        assert made.status_code == 303
        place = made.headers["location"].partition("?")[0]
        assert owner.get(place).status_code == 200
        assert "A preview" in owner.get(place + "/preview").text
        assert owner.get(place + "/preview?page=999").status_code == 404
        assert owner.post(place + "/state", state="open").status_code == 303
        assert Person(world, rows(world, Study)[-1]).begin().assignment


def test_every_problem_of_a_wrong_file_is_shown_and_nothing_is_made(world):
    owner = world.browser(Role.OWNER)
    for data, problem in (
        (b"", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 10_000 + b"]" * 10_000, "not JSON"),
        (b"[]", "the file must be an object, got []"),
        (b"null", "the file must be an object, got nothing"),
        ({}, "study must be one of triplet, pairwise, pairwise-equal, diversity,"),
        ({"study": "triplets", "items": []}, "study must be one of"),
        ({"study": "triplet", "items": [], "judgements": 3}, "judgements: no such field; there are study,"),
        ({"study": "triplet", "items": [1]}, "items[0] must be an object, got 1"),
        (triplet_file(judgments=0), "judgments must be a whole number from 1 to 1,000, got 0"),
        (triplet_file(judgments=True), "judgments must be a whole number"),
        (triplet_file(completion={"url": "javascript:alert(1)"}), "completion.url must be an address"),
        (triplet_file(gold={"items": [{"a": "x", "b": "y", "c": "z"}]}), "gold.items[0].answer must be one of b, c"),
        ({**pairwise_file(), "images": {}}, "no image &#39;0&#39;, which an item shows"),
        ({**pairwise_file(), "images": {"0": "javascript:x"}}, "images[&#39;0&#39;] must be https://"),
        ({**pairwise_file(), "images": {"0": "data:image/svg+xml;base64,AAAA"}}, "must be https://"),
        ({**diversity_file(), "items": [{"image_id": "0", "sets": []}]}, "sets must be a list of at least 2, got []"),
    ):
        answer = upload(owner, data)
        assert (answer.status_code, problem in answer.text) == (422, True), problem
    assert rows(world, Study) == []


def test_many_problems_are_listed_at_once(world):
    file = triplet_file(pairs=100)
    for item in file["items"]:
        item["b"] = ""
    text = upload(world.browser(Role.OWNER), file).text
    assert "items[0].b must be text, got &#39;&#39;" in text
    assert "and 50 more" in text


def test_a_study_is_its_owners_alone(world):
    study = make(world, triplet_file())
    place = f"/studies/{study.id}"
    owner = world.browser(Role.OWNER)
    for path in ("", "/quality", "/answers", "/preview", "/edit", "/people", "/people.csv"):
        stranger = world.browser().get(place + path)
        assert stranger.status_code in (303, 401)
        assert study.title not in stranger.text
        assert owner.get(place + path).status_code == 200
    for path in ("", "/results", "/export", "/answers?person=1", "/answers.csv"):
        assert world.client().get(f"/api/v1{place}{path}").status_code == 401
        assert owner.get(f"/api/v1{place}{path}").status_code == 200


def test_a_large_wrong_file_is_refused_at_once():
    """Reading ends at the thousandth problem: one of each of a million numbers took a minute and a half."""
    began = time.process_time()
    for wrong in (b"[" + b"1," * 3_000_000 + b"1]", b"[" + b"{}," * 2_000_000 + b"{}]"):
        with pytest.raises(StudyFileError) as refused:
            read_design(b'{"study": "triplet", "items": ' + wrong + b"}")
        assert (len(refused.value.problems), refused.value.problems[-1]) == (51, "and at least 950 more")
    assert time.process_time() - began < 5


def test_a_wrong_file_of_ten_megabytes_is_refused_in_a_second():
    item = {"image_id": "beach", "references": ["A dog runs over a beach."], "b": "A dog.", "c": None}
    data = json.dumps({"study": "triplet", "items": [item] * 110_000}).encode()
    assert len(data) > 10_000_000
    began = time.process_time()
    with pytest.raises(StudyFileError, match="items.0..c must be text, got nothing"):
        read_design(data)
    assert time.process_time() - began < 1


def test_progress_counts(world):
    study = make(world, triplet_file(pairs=2, references=1, judgments=2))
    person, other = Person(world, study).begin(), Person(world, study).begin()
    person.answer(choice="b")
    counts = world.browser(Role.OWNER).get(f"/api/v1/studies/{study.id}").json()["progress"]
    assert counts == {"answers": 1, "wanted": 4, "at_work": 2, "people": 2, "excluded": 0, "discarded": 0}
    assert other.assignment


def test_excluding_gives_the_items_back_and_including_takes_them_again(world):
    study = make(world, triplet_file(pairs=3, references=1, judgments=1))
    person = Person(world, study, worker="W").begin()
    for _ in range(3):
        person.answer(choice="b")
    owner, place = world.browser(Role.OWNER), f"/studies/{study.id}/people/{rows(world, Annotator)[0].id}"
    assert owner.post(place, action="exclude").status_code == 303
    assert sorted(one.state for one in rows(world, Assignment)) == ["discarded"] * 3
    assert sum(item.taken for item in rows(world, StudyItem)) == 0
    assert "goes on without you" in person.look().page
    other = Person(world, study).begin()
    other.answer(choice="c")
    assert owner.post(place, action="include").status_code == 303
    states = [one.state for one in rows(world, Assignment)]
    assert states == [*states[:3], "answered", "given"]
    assert sorted(states[:3]) == ["answered", "discarded", "discarded"]
    assert [item.taken for item in rows(world, StudyItem)] == [1, 1, 1]
    assert owner.post(place, action="x").status_code == 422
    assert owner.post(place.replace("people/1", "people/99"), action="exclude").status_code == 404


def test_a_rejected_sentence_is_asked_of_somebody_else(world):
    study = make(world, collection_file(images=1, judgments=1))
    Person(world, study).begin().answer(sentence="dog it run on beach")
    other = Person(world, study).begin()
    assert other.assignment is None
    owner = world.browser(Role.OWNER)
    page = owner.get(f"/studies/{study.id}/answers").text
    assert "dog it run on beach" in page
    assert (
        owner.post(re.search(r'action="(/studies/\d+/answers/\d+)"', page)[1], action="reject", page="1").status_code
        == 303
    )
    other.look().answer(sentence="A dog runs on the beach.")
    exported = owner.get(f"/api/v1/studies/{study.id}/export").json()
    assert exported == [{"image_id": "0", "caption": "A dog runs on the beach."}]


def test_the_quality_page_of_choices(world):
    gold = {"every": 2, "items": GOLD}
    study = make(world, triplet_file(pairs=4, references=1, judgments=3, gold=gold))
    people = [Person(world, study, worker=f"W{n}").begin() for n in range(3)]
    for person, choice in zip(people, "bbc", strict=True):
        while person.assignment:
            person.answer(choice=choice)
    page = world.browser(Role.OWNER).get(f"/studies/{study.id}/quality").text
    assert "12 of 12 answers; questions answered: 4" in page
    assert re.search(r"<dt>Majority</dt><dd>4</dd>", page)
    assert re.search(r'W2</a>.*?data-label="Answers">4</td>.*?0 of 2', page, re.DOTALL)
    assert "Bradley–Terry" in page


def test_the_quality_page_before_anybody_has_answered(world):
    for file in (triplet_file(), diversity_file(), collection_file(), pairwise_file()):
        study = make(world, file)
        Person(world, study).begin()
        for place, path in (("", "/quality"), ("", "/answers"), ("/api/v1", "/export"), ("/api/v1", "/answers.csv")):
            assert world.browser(Role.OWNER).get(f"{place}/studies/{study.id}{path}").status_code == 200


def test_the_quality_page_of_ratings(world):
    study = make(world, diversity_file(images=2, judgments=2))
    for scores in (("0", "7", "9"), ("1", "8", "10")):
        person = Person(world, study).begin()
        while person.assignment:
            person.answer(sets=scores)
    page = world.browser(Role.OWNER).get(f"/studies/{study.id}/quality").text
    cells = 'data-label="Mean rating">0.75.*?</td><td class="number" data-label="Ratings">4</td>'
    assert re.search(f'rich</td><td class="number" {cells}', page)


def test_the_answers_as_csv(world):
    file = triplet_file(pairs=1, references=1)
    file["items"][0]["b"] = "=HYPERLINK(1)"
    study = make(world, file)
    Person(world, study, worker="@W").begin().answer(choice="b")
    client = world.api(Role.OWNER)
    answer = client.get(f"/api/v1/studies/{study.id}/answers.csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="study-{study.id}-answers.csv"'
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert row["b"] == "'=HYPERLINK(1)"
    assert row["worker"] == "'@W"
    assert row["answer"] == "b"
    assert row["shown_order"] in ("b c", "c b")
    assert row["counts"] == "true"
    assert float(row["active_seconds"]) == 1.5


def test_hostile_names_are_text_on_the_owners_pages(world):
    hostile = '<script>alert(1)</script>"'
    file = triplet_file(title=hostile, completion={"code": hostile})
    for item in file["items"]:
        item |= {"b_system": hostile, "category": hostile}
    study = make(world, file)
    Person(world, study, worker=hostile).begin().answer(choice="b")
    owner = world.browser(Role.OWNER)
    for path in ("", "/quality", "/answers", "/preview"):
        page = owner.get(f"/studies/{study.id}{path}").text
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page or path == "/preview"
    assert "<script>alert" not in owner.get("/studies").text


def test_only_the_own_study_is_touched(world):
    first, second = make(world, triplet_file()), make(world, triplet_file())
    Person(world, second).begin().answer(choice="b")
    owner = world.browser(Role.OWNER)
    with world.database.read() as session:
        theirs = session.execute(select(Assignment.id)).scalars().first()
        person = session.execute(select(Annotator.id)).scalars().first()
    assert owner.post(f"/studies/{first.id}/answers/{theirs}", action="reject").status_code == 404
    assert owner.post(f"/studies/{first.id}/people/{person}", action="exclude").status_code == 404


def test_a_deleted_study_is_gone_with_its_answers(world):
    """Its own images too; those that another study has stay."""
    image = "data:image/png;base64," + base64.b64encode(b"an image of its own").decode()
    images = {**pairwise_file()["images"], "0": image}
    first = make(world, {**pairwise_file(title="First  study"), "images": images})
    second = make(world, pairwise_file())
    people = [Person(world, study).begin() for study in (first, second)]
    for person in people:
        person.answer(choice="b")
    owner, place = world.browser(Role.OWNER), f"/studies/{first.id}"
    with world.database.read() as session:
        blobs = set(session.execute(select(Blob.sha256)).scalars())
    assert "Keep what it found first" in owner.get(place).text
    for title in ("", "first study", "First"):
        refused = owner.post(place + "/delete", title=title)
        assert refused.status_code == 422
        assert "not the title" in refused.text
    assert len(rows(world, Study)) == 2
    done = owner.post(place + "/delete", title="First study")
    assert (done.status_code, done.headers["location"]) == (303, "/studies?notice=study-deleted")
    for table in (StudyItem, StudyImage, Annotator, Assignment):
        assert {row.study_id for row in rows(world, table)} == {second.id}
    assert [study.id for study in rows(world, Study)] == [second.id]
    with world.database.read() as session:
        assert blobs - set(session.execute(select(Blob.sha256)).scalars()) == {
            hashlib.sha256(b"an image of its own").hexdigest()
        }
    for path in ("", "/quality"):
        assert owner.get(place + path).status_code == 404
    assert people[0].post("/answer", assignment=people[0].assignment, choice="b").status_code == 404
    assert people[0].browser.get(people[0].path + "/task").status_code == 404
    assert people[1].answer(choice="c").status_code == 303
