"""In a real browser: a whole triplet study by keyboard, a diversity rating, sentences, the owner's pages."""

from __future__ import annotations

import base64
import itertools
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_page import PICTURES, look, page, sign_in, tab  # noqa: F401
from playwright.sync_api import Page, expect
from study_world import collection_file, diversity_file, make, pairwise_file, triplet_file

from sacrecap_server.store.schema import Study
from sacrecap_server.studies.arrivals import platform_key

pytestmark = pytest.mark.browser
_numbers = itertools.count(1)


def begin(page: Page) -> None:  # noqa: F811
    """From the welcome to the first item, by keyboard: the button has the focus once the page is there."""
    expect(page.locator("button.go")).to_be_focused()
    with page.expect_navigation():
        page.keyboard.press("Enter")


def picture(width: int = 480, height: int = 300) -> str:
    """A sky above a beach, as a PNG in a `data:` URL."""
    rows = b"".join(
        b"\0" + bytes((120, 170 + row // 8, 230) if row < height // 2 else (225, 205, 150)) * width
        for row in range(height)
    )

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    data = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(data).decode()


def with_pictures(file):
    return {**file, "images": dict.fromkeys(file["images"], picture())}


@pytest.fixture
def studies(site) -> dict[str, Study]:
    """A study of each kind, open, with a title that no other has."""
    # One check among each five questions, so as many for everybody: the place of a check depends on the person.
    gold = {"every": 5, "items": [{"a": "A cat sleeps.", "b": "A cat is asleep.", "c": "A red bus.", "answer": "b"}]}
    done = {"code": "C-42", "url": "https://platform.example/done"}
    files = {
        "triplet": triplet_file(pairs=5, references=1, gold=gold, completion=done),
        "pairwise": with_pictures(pairwise_file(2)),
        "diversity": with_pictures(diversity_file(2)),
        "collection": with_pictures(collection_file(2)),
    }
    number = next(_numbers)
    return {
        kind: make(site.world, {**file, "title": f"A {kind} study, number {number}"}) for kind, file in files.items()
    }


def test_a_whole_triplet_study_by_keyboard(page: Page, studies, site):  # noqa: F811
    code = studies["triplet"].code
    page.goto(f"/s/{code}?key={platform_key(site.world.state.secret_key, code)}&PROLIFIC_PID=P1&SESSION_ID=E1")
    look(page, "study-welcome")
    begin(page)
    keys = ["1", "2", "ArrowLeft", "ArrowRight", "ArrowDown", "1"]
    for number, key in enumerate(keys):
        expect(page.get_by_role("heading", name="more similar")).to_be_visible()
        assert page.locator("img").count() == 0
        if number == 0:
            look(page, "study-triplet")
            page.keyboard.press("Enter")  # nothing is chosen yet, so nothing is sent
        page.keyboard.press(key)
        chosen = page.locator("input:checked")
        expect(chosen).to_have_count(1)
        assignment = page.locator("input[name=assignment]").get_attribute("value")
        if number == 1:
            page.reload()
            assert page.locator("input[name=assignment]").get_attribute("value") == assignment
            page.keyboard.press(key)
            look(page, "study-triplet-chosen")
        page.keyboard.press("Enter")
        page.wait_for_function(
            "before => document.querySelector('input[name=assignment]')?.value !== before", arg=assignment
        )
    expect(page.get_by_text("C-42")).to_be_visible()
    expect(page.get_by_role("link", name="Back to the platform")).to_have_attribute(
        "href", "https://platform.example/done"
    )
    look(page, "study-end")
    sign_in(page)
    page.goto(f"/studies/{studies['triplet'].id}")
    expect(page.get_by_text("5 of 15 answers")).to_be_visible()
    answers = page.request.get(f"/api/v1/studies/{studies['triplet'].id}/answers.csv").text().splitlines()
    assert len(answers) == 1 + 6, "five questions, and a check"
    assert all(",P1," in line for line in answers[1:])
    lines = page.request.get(f"/api/v1/studies/{studies['triplet'].id}/export").text().splitlines()
    assert [json.loads(line)["people"] in ([[1, 0]], [[0, 1]]) for line in lines] == [True] * 5


def test_a_diversity_rating_by_keyboard_then_the_quality_page(page: Page, studies):  # noqa: F811
    page.goto(f"/s/{studies['diversity'].code}")
    begin(page)
    for done in range(2):
        expect(page.get_by_text(f"{done} done")).to_be_visible()
        expect(page.locator("img")).to_have_js_property("naturalWidth", 480)
        scales = page.locator(".rated")
        for place, key in enumerate("275"):
            scales.nth(place).locator("input").first.focus()
            page.keyboard.press(key)
        look(page, "study-diversity")
        page.keyboard.press("ArrowRight")
        assert page.locator("input:checked").last.get_attribute("value") == "6"
        page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("2 answers are saved")).to_be_visible()
    sign_in(page)
    page.get_by_role("link", name="Studies").click()
    look(page, "studies")
    page.goto(f"/studies/{studies['diversity'].id}")
    look(page, "study")
    page.get_by_role("link", name="Quality and people").click()
    expect(page.get_by_role("row", name="plain")).to_be_visible()
    look(page, "study-quality-diversity")
    page.get_by_role("button", name="Exclude").click()
    expect(page.get_by_text("excluded: by the owner")).to_be_visible()
    page.goto(f"/studies/{studies['diversity'].id}/answers")
    look(page, "study-answers")


def test_sentences_and_pairs(page: Page, studies):  # noqa: F811
    page.goto(f"/s/{studies['collection'].code}")
    begin(page)
    expect(page.get_by_label("Describe what is going on")).to_be_focused()
    page.keyboard.type("A beach.")
    look(page, "study-collection")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Write a whole sentence")
    expect(page.get_by_label("Describe what is going on")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("An empty beach under a blue sky.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("1 done")).to_be_visible()
    page.goto(f"/s/{studies['pairwise'].code}")
    begin(page)
    expect(page.get_by_text("0 done")).to_be_visible()
    page.keyboard.press("2")
    look(page, "study-pairwise")
    page.get_by_role("button", name="Next").dblclick()
    expect(page.get_by_text("1 done")).to_be_visible()


def test_making_a_study_on_the_page_and_watching_it(page: Page, studies):  # noqa: F811
    sign_in(page)
    page.goto("/studies")
    wrong = {"study": "triplet", "items": [{"image_id": 1}], "judgements": 3}
    for file, name in ((wrong, "wrong.json"), (triplet_file(title="Made here"), "study.json")):
        page.get_by_label("File").set_input_files(
            {"name": name, "mimeType": "application/json", "buffer": json.dumps(file).encode()}
        )
        page.get_by_role("button", name="Make the study").click()
        if file is wrong:
            expect(page.get_by_role("alert")).to_contain_text("items[0].b must be text")
            look(page, "study-wrong-file")
    expect(page.get_by_role("heading", name="Made here")).to_be_visible()
    page.get_by_role("link", name="Preview", exact=True).click()
    look(page, "study-preview")
    page.get_by_role("link", name="Next").first.click()
    look(page, "study-preview-question")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Back to the study").click()
    page.get_by_role("button", name="Open").click()
    link = page.locator("dd code").first.inner_text()
    other = page.context.browser.new_context()
    annotator = other.new_page()
    annotator.goto(link)
    begin(annotator)
    expect(annotator.get_by_text("0 done")).to_be_visible()
    annotator.keyboard.press("1")
    annotator.keyboard.press("Enter")
    expect(annotator.get_by_text("1 done")).to_be_visible()
    expect(page.locator("[data-count=answers]")).to_have_text("1")
    other.close()
    page.get_by_role("link", name="Quality and people").click()
    look(page, "study-quality-triplet")


@pytest.fixture(scope="module")
def phone(browser, site) -> Iterator[Page]:
    context = browser.new_context(
        base_url=site.url, viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True, device_scale_factor=2
    )
    context.set_default_timeout(300_000)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("kind", ["triplet", "pairwise", "diversity", "collection"])
def test_a_study_on_a_phone(phone, studies, kind):
    """By touch on a small screen: what is touched is large enough, and nothing has to be moved sideways."""
    phone.context.clear_cookies()
    phone.goto(f"/s/{studies[kind].code}")
    phone.locator("button.go").tap()
    for done in range(2):
        expect(phone.get_by_text(f"{done} done")).to_be_visible()
        expect(phone.locator(".keys")).to_be_hidden()
        phone.wait_for_load_state()  # before its styles are there, a page is as wide as its words
        assert phone.evaluate("document.documentElement.scrollWidth") <= 360
        targets = phone.locator(".choice, .scale label, .go")
        for box in [target.bounding_box() for target in targets.all()]:
            assert box["height"] >= 44
            assert box["width"] >= 24
        if kind == "collection":
            sentence = ("An empty beach under a blue sky.", "Waves come in from the left.")[done]
            phone.get_by_label("Describe what is going on").fill(sentence)
        elif kind == "diversity":
            for number in range(3):
                phone.locator(".rated").nth(number).locator("label").nth(number + 4).tap()
        else:
            phone.locator(".choice").nth(done).tap()
        if done == 0 and PICTURES:
            phone.screenshot(path=Path(PICTURES) / f"phone-{kind}.png", full_page=True)
        phone.get_by_role("button", name="Next").tap()
    if kind == "triplet":
        expect(phone.get_by_text("2 done")).to_be_visible()
    else:
        expect(phone.get_by_text("2 answers are saved")).to_be_visible()


def test_deleting_a_study_on_the_page(page: Page, studies):  # noqa: F811
    sign_in(page)
    page.goto(f"/studies/{studies['collection'].id}")
    page.get_by_role("link", name="Delete").click()
    page.get_by_label("Its title").fill("something else")
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was deleted")
    look(page, "study-delete")
    page.get_by_label("Its title").fill(studies["collection"].title)
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("status")).to_contain_text("are deleted")
    expect(page.get_by_role("link", name=studies["collection"].title, exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name=studies["diversity"].title, exact=True)).to_have_count(1)
