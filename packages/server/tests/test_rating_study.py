"""A rating study from `study make` to `sacrecap agreement`: eight people over HTTP, and one in a browser."""

from __future__ import annotations

import json
import random
import re

import pytest
from browser_page import look, page, tab  # noqa: F401
from playwright.sync_api import Page, expect
from study_world import PIXEL, Person, make, questions_file, triplet_file
from test_annotating import rows
from test_browser_studies import begin, with_pictures
from test_exported_study import agreement, exported

from sacrecap_server.store.schema import Annotator, Assignment, StudyItem
from sacrecap_server.web.context import Role
from sacrecap_server_testing.world import World
from sacrecap_studies.make import make_study

QUALITY = {"good": 4, "fair": 3, "poor": 1}
"""What the captions of each system deserve, from 1 to 4."""
CAPTIONS = {"good": "a brown dog runs along beach {}", "fair": "a dog runs along beach {}", "poor": "two kettles"}


def rating_file(images=7, judgments=8, kind="expert", **more):
    references = {
        str(n): [f"A brown dog runs along beach {n}.", f"A dog is running on beach {n}."] for n in range(images)
    }
    systems = {name: {image: [text.format(image)] for image in references} for name, text in CAPTIONS.items()}
    made = make_study(kind, references, systems, judgments=judgments, **more)
    return {**made, "images": dict.fromkeys(references, PIXEL)}


def rate(person: Person, chance: random.Random) -> None:
    """Rates every caption by its words, half a point up or down, until there is none left."""
    while "score-1" in person.page:
        (shown,) = person.content()["sets"]
        told = next(name for name, text in CAPTIONS.items() if text[:8] == shown["captions"][0][:8])
        point = min(4, max(1, round(QUALITY[told] + chance.choice((-0.6, 0, 0, 0.6)))))
        person.answer(**{"score-1": str(point - 1)})
    person.answer(hard="2")


@pytest.mark.browser
def test_captions_by_eight_people_and_one_in_a_browser(page: Page, site, tmp_path):  # noqa: F811
    study = make(site.world, {**with_pictures(rating_file(judgments=9)), "after": [HARD]})
    for number in range(8):
        rate(Person(site.world, study).begin(), random.Random(number))
    rate_by_keyboard(page, study.code)
    path = exported(site.world, study, tmp_path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 21
    assert all(line["complete"] and len(line["rating"]) == 9 for line in lines)
    judgments, found = agreement(path, metrics="bleu-1,rouge-l")
    assert judgments.dataset == "ratings"
    assert judgments.system[:3] == ["good", "fair", "poor"]
    assert found["metrics"]["rouge-l"]["kendall_b"] > 0.5
    owner = site.world.browser(Role.OWNER)
    quality = owner.get(f"/studies/{study.id}/quality").text
    assert "reliable" in quality
    assert "Mean rating" in quality
    assert "a brown dog runs along beach" in owner.get(f"/studies/{study.id}/answers").text


def rate_by_keyboard(page: Page, code: str) -> None:  # noqa: F811
    """Rates 21 captions by the digits of the scale."""
    page.goto(f"/s/{code}")
    begin(page)
    for done in range(21):
        expect(page.get_by_text(f"{done} done")).to_be_visible()
        words = page.locator(".sentence").inner_text()
        page.keyboard.press("4" if "brown" in words else "3" if "dog" in words else "1")
        if done == 0:
            look(page, "study-expert")
        with page.expect_navigation():
            page.keyboard.press("Enter")
    page.keyboard.press("2")
    look(page, "study-after")
    page.keyboard.press("Enter")
    expect(page.get_by_text("21 answers are saved")).to_be_visible()


def test_adequacy_and_fluency_are_two_aspects(world: World, tmp_path):
    study = make(world, rating_file(images=3, judgments=1, kind="adequacy-fluency"))
    person = Person(world, study).begin()
    assert "How good is its language?" in person.page
    refused = person.post("/answer", assignment=person.assignment, **{"adequacy-1": "2"})
    assert refused.status_code == 422
    assert "Answer every question." in refused.text
    assert 'name="adequacy-1" value="2" data-key="3" required checked' in re.sub(r"\s+", " ", refused.text)
    while person.assignment:
        poor = "kettles" in person.content()["sets"][0]["captions"][0]
        person.answer(**{"adequacy-1": "0" if poor else "4", "fluency-1": "3"})
    path = exported(world, study, tmp_path)
    judgments, _ = agreement(path, metrics="bleu-1")
    assert judgments.aspect == "adequacy"
    assert {rating for ratings in judgments.ratings for rating in ratings} == {1.0, 5.0}


def test_no_difference_is_an_answer(world: World, tmp_path):
    file = {**triplet_file(4), "study": "pairwise-equal", "images": dict.fromkeys("0123", PIXEL), "judgments": 3}
    study = make(world, file)
    for answer in ("tie", "unsure", "b"):
        person = Person(world, study).begin()
        assert "Both are equally good" in person.page
        while person.assignment:
            person.answer(choice=answer)
    path = exported(world, study, tmp_path)
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert (first["winner"], first["votes"], first["people"]) == ("b", [1], [[1, 0]])
    assert {name: len(people) for name, people in first["said"][0].items()} == {"b": 1, "c": 0, "tie": 1, "unsure": 1}
    judgments, _ = agreement(path, metrics="bleu-1")
    assert judgments.preferred == [1, 1, 1, 1]


AGE = {"name": "age", "type": "choice", "text": "How old are you?", "options": ["under 30", "30 or more"]}
HARD = {"name": "hard", "type": "scale", "text": "How hard was it?", "least": 0, "most": 4, "labels": ["easy", "hard"]}


def test_questions_before_and_after_and_items_again(world: World):
    """They come once, count as no item, and take nobody's place; an item that comes again tells whether one agrees."""
    study = make(world, triplet_file(pairs=3, references=1, judgments=2, before=[AGE], after=[HARD], again=2))
    person = Person(world, study).begin()
    assert "How old are you?" in person.page
    assert person.post("/answer", assignment=person.assignment).status_code == 422
    person.answer(age="1")
    for _ in range(3):
        assert "0 done" in person.page or "more similar" in person.page
        person.answer(choice="b")
    person.answer(choice="b")
    person.answer(choice="c")
    assert "How hard was it?" in person.page
    person.answer(hard="3")
    assert person.assignment is None
    assert "3 answers are saved" in person.page
    found = rows(world, Assignment.role, Assignment.answer, Assignment.correct)
    assert found[0] == ("before", {"age": "30 or more"}, None)
    assert found[-1] == ("after", {"hard": 3.0}, None)
    assert found[4:6] == [("again", "b", True), ("again", "c", False)]
    assert [item.taken for item in rows(world, StudyItem, role="item")] == [1, 1, 1]
    owner = world.browser(Role.OWNER)
    assert "1 of 2 items again as before" in owner.get(f"/studies/{study.id}/quality").text
    assert "not as before" in owner.get(f"/studies/{study.id}/answers").text
    table = owner.get(f"/api/v1/studies/{study.id}/answers.csv").text
    assert table.count(",again,") + table.count(",before,") + table.count(",after,") == 4
    assert "30 or more" in owner.get(f"/studies/{study.id}/preview?page=2").text + "".join(
        owner.get(f"/studies/{study.id}/preview?page={number}").text for number in range(3, 9)
    )


def test_an_item_that_comes_again_is_no_check(world: World):
    """Whoever says something else the second time, and then passes a check, goes on: of three right, two would fail."""
    gold = {"every": 1, "items": [{"a": "A dog.", "b": "A dog.", "c": "A kettle.", "answer": "b"}]}
    rule = {"policy": "exclude", "honest": 0.99, "mistaken": 0.2}
    study = make(world, triplet_file(pairs=2, references=1, judgments=1, again=1, gold=gold, checks=rule))
    other, person = (Person(world, study).begin() for _ in range(2))
    other.answer(choice="b")
    for choice in "bbc":
        person.answer(choice=choice)
    assert person.assignment is None
    other.post("/stop", how="keep")
    person.look()
    person.answer(choice="b")
    assert person.assignment
    mine = rows(world, Annotator.excluded, Annotator.items)[-1]
    assert mine == (None, 1)
    found = rows(world, Assignment.role, Assignment.correct)
    assert found.count(("gold", True)) == 3
    assert ("again", False) in found


def test_whoever_is_excluded_gives_back_no_place_that_was_not_theirs(world: World):
    study = make(world, triplet_file(pairs=2, references=1, judgments=2, again=1))
    person = Person(world, study).begin()
    while person.assignment:
        person.answer(choice="b")
    other = Person(world, study).begin()
    other.answer(choice="b")
    owner = world.browser(Role.OWNER)
    number = rows(world, Assignment.annotator_id)[0]
    for action, taken in (("exclude", 1), ("include", 3)):
        owner.post(f"/studies/{study.id}/people/{number}", action=action)
        assert sum(item.taken for item in rows(world, StudyItem)) in (taken, taken + 1)  # the other's open question


def test_long_scales_and_lists_have_more_points_than_keys(world: World):
    """Up to 21 points and 20 options, of which nine or eleven have keys."""
    asked = [
        {"name": "points", "type": "scale", "text": "How good?", "least": 1, "most": 21},
        {"name": "options", "type": "choice", "text": "What?", "options": [f"option {n}" for n in range(20)]},
    ]
    study = make(world, questions_file([{"caption": "a dog", "references": ["A dog."]}], *asked))
    person = Person(world, study).begin()
    assert person.page.count('name="points-1"') == 21
    assert person.page.count('name="options-1"') == 20
    assert person.page.count("data-key") == 18
    assert person.answer(**{"points-1": "20", "options-1": "19"}).status_code == 303
    assert rows(world, Assignment.answer)[0] == {"points": [21.0], "options": ["option 19"]}


EXAMPLES = [
    {"text": "A man rides a horse along the beach.", "good": True},
    {"text": "What a lovely day!", "good": False, "because": "It says what you feel, not what can be seen."},
]


def test_examples_of_what_is_rejected_are_shown(world: World):
    study = make(world, rating_file(images=2) | {"examples": EXAMPLES})
    person = Person(world, study)
    welcome = person.browser.get(person.path).text
    for text in ("What a lovely day!", "Rejected", "It says what you feel", "Accepted"):
        assert text in welcome
        assert text in person.begin().page


@pytest.mark.browser
def test_a_page_of_every_question_by_keyboard(page: Page, site):  # noqa: F811
    sets = [{"system": name, "captions": [text.format(1)]} for name, text in CAPTIONS.items()]
    questions = [
        {"name": "ends", "type": "best-worst", "text": "Which sentence is best, and which is worst?"},
        {"name": "fluent", "type": "scale", "text": "How fluent is it?", "labels": ["not", "so-so", "very"]},
        {"name": "wrong", "type": "words", "text": "Mark every word that is wrong."},
        {"name": "note", "type": "text", "text": "Is there anything else?", "optional": True},
    ]
    file = questions_file([{"a": "A dog.", "sets": sets}], *questions, question="Compare the three.", judgments=1)
    study = make(site.world, {**file, "title": "All questions"})
    page.goto(f"/s/{study.code}")
    begin(page)
    page.get_by_label("Best").first.check(force=True)
    page.get_by_label("Worst").last.check(force=True)
    for box in page.locator(".rated").all():
        box.locator(".points .choice").first.click()
    page.get_by_text("kettles").last.click()
    page.get_by_label("Is there anything else?").fill("No, 1 2 3.")
    look(page, "study-every-question")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("1 answer is saved")).to_be_visible()


@pytest.mark.browser
def test_several_images_on_a_page_of_a_phone(page: Page, site, tmp_path):  # noqa: F811
    """Two images and their captions below each other, with two questions about each, and one between them."""
    sets = [
        {"image_id": image, "system": "good", "captions": [f"a dog on the {image} is running"]}
        for image in ("beach", "lawn")
    ]
    asked = [
        {"name": "fluency", "type": "scale", "text": "How fluent is it?", "labels": ["not at all", "very"]},
        {"name": "true", "type": "choice", "text": "Is it true?", "options": ["yes", "no"]},
        {"name": "better", "type": "choice", "text": "Which fits its image better?"},
    ]
    references = {"references": ["a dog runs"]}
    file = questions_file([{"sets": sets, **references}], *asked, images=dict.fromkeys(("beach", "lawn"), PIXEL))
    study = make(site.world, {**with_pictures(file), "title": "Several images"})
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"/s/{study.code}")
    begin(page)
    expect(page.locator(".rated img")).to_have_count(2)
    look(page, "study-several-images")
    first = page.locator(".rated").first.locator("li").inner_text()
    page.get_by_role("radio", name="running").first.check(force=True)
    for place, answers in enumerate((("very", "yes"), ("not at all", "no"))):
        for answer in answers:
            page.locator(".rated").nth(place).get_by_role("radio", name=answer, exact=True).check(force=True)
    with page.expect_navigation():
        page.get_by_role("button", name="Next").click()
    path = exported(site.world, study, tmp_path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["image_id"] for line in lines] == ["beach", "lawn"]
    said = {line["image_id"]: (line["rating"]["fluency"], line["answers"]["true"]) for line in lines}
    seen = "beach" if "beach" in first else "lawn"
    assert said[seen] == ([2.0], ["yes"])
    assert said["lawn" if seen == "beach" else "beach"] == ([1.0], ["no"])
    judgments, _ = agreement(path, metrics="bleu-1")
    assert [row.image_id for row in judgments.rows] == ["beach", "lawn"]
    owner = site.world.browser(Role.OWNER)
    assert owner.get(f"/studies/{study.id}/answers").text.count('class="thumb"') == 2
