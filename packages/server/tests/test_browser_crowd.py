"""In a real browser: Mechanical Turk's frame, a network that fails, stopping, other languages, right to left."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_page import PICTURES, look, page, sign_in, tab  # noqa: F401
from playwright.sync_api import Page, expect
from study_world import diversity_file, make, pairwise_file, triplet_file
from test_browser_studies import with_pictures
from test_language import in_language

from sacrecap_server.store.schema import Annotator
from sacrecap_server.studies.arrivals import platform_key

pytestmark = pytest.mark.browser

ARABIC = {
    "Next": "التالي",
    "Instructions": "التعليمات",
    "I want to stop": "أريد التوقف",
    "Begin": "ابدأ",
    "%(done)s done, of at most %(most)s": "%(done)s من %(most)s على الأكثر",
}


def shown(page: Page, name: str) -> None:  # noqa: F811
    """`look`, and a picture at 360 px."""
    look(page, name)
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}-360.png", full_page=True)
    page.set_viewport_size({"width": 1100, "height": 800})


def test_a_study_in_the_frame_of_another_site(page: Page, site, elsewhere):  # noqa: F811
    """The study works in the frame without cookies and gives the platform its result; other pages stay out of it."""
    study = make(site.world, triplet_file(pairs=2, references=1, platform="mturk"))
    key = platform_key(site.world.state.secret_key, study.code)
    link = f"{site.url}/s/{study.code}?key={key}"
    link += f"&amp;assignmentId=A1&amp;hitId=H1&amp;workerId=W1&amp;turkSubmitTo={elsewhere.url}"
    elsewhere.pages["/hit"] = f'<iframe title="Task" width="1000" height="700" src="{link}"></iframe>'
    elsewhere.pages["/other"] = f'<iframe title="Task" src="{site.url}/sign-in"></iframe>'
    page.goto(f"{elsewhere.url}/hit")
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Begin").click()
    for done in range(2):
        expect(frame.get_by_text(f"{done} done")).to_be_visible()
        frame.locator(".choice").first.click()
        frame.get_by_role("button", name="Next").click()
    expect(frame.get_by_text("2 answers are saved")).to_be_visible()
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / "mturk-end.png")
    assert page.context.cookies(site.url) == []
    frame.get_by_role("button", name="Submit the work").click()
    expect(frame.get_by_role("heading", name="The platform has it")).to_be_visible()
    path, fields = elsewhere.received[-1]
    assert path == "/mturk/externalSubmit"
    assert (fields["assignmentId"], fields["answers"], fields["ended"]) == ("A1", "2", "complete")
    assert page.errors == []
    page.goto(f"{elsewhere.url}/other")
    expect(page.frame_locator("iframe").get_by_label("Token")).to_have_count(0)
    page.errors.clear()


def test_where_the_network_fails_the_answer_stays_on_the_page(page: Page, site):  # noqa: F811
    study = make(site.world, triplet_file())
    page.goto(f"/s/{study.code}")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("0 done")).to_be_visible()
    page.locator(".choice").nth(1).click()
    page.context.set_offline(True)
    page.get_by_role("button", name="Next").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("the server cannot be reached")
    expect(page.locator("input:checked")).to_have_count(1)
    shown(page, "study-unreachable")
    page.context.set_offline(False)
    page.route("**/answer", lambda route: route.fulfill(status=503, body="away"), times=1)
    page.get_by_role("button", name="Next").click()
    expect(alert).to_contain_text("the server cannot be reached")
    page.route("**/answer", lambda route: route.fulfill(status=403, body="<h1>No</h1>"), times=1)
    page.get_by_role("button", name="Next").click()
    expect(alert).to_contain_text("Reload the page")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("1 done")).to_be_visible()
    expect(alert).to_have_count(0)
    page.go_back()
    expect(page.get_by_text("1 done").or_(page.get_by_role("button", name="Continue"))).to_be_visible()


def test_instructions_progress_and_a_way_out_are_at_hand(page: Page, site):  # noqa: F811
    """Annotators can open the instructions, see their progress, and stop or withdraw at any question."""
    file = with_pictures(diversity_file(1, contact="study@example.org", most_per_person=1, consent="Do you agree?"))
    study = make(site.world, {**file, "title": "Ten keys and one more"})
    page.goto(f"/s/{study.code}")
    shown(page, "study-consent")
    page.get_by_role("button", name="I do not agree").click()
    expect(page.get_by_role("heading", name="You do not take part")).to_be_visible()
    shown(page, "study-no-consent")
    page.goto(f"/s/{study.code}")
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("progressbar")).to_have_attribute("max", "1")
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Read all sets first.")).to_be_visible()
    expect(page.get_by_role("link", name="study@example.org")).to_be_visible()
    page.locator(".rated input").first.focus()
    page.keyboard.press("x")
    assert page.locator("input:checked").get_attribute("value") == "10"
    shown(page, "study-instructions")
    page.get_by_role("link", name="I want to stop").click()
    shown(page, "study-stop")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("heading", name="Your answers are deleted")).to_be_visible()
    shown(page, "study-withdrawn")


def test_german_and_right_to_left(page: Page, site):  # noqa: F811
    """Pages of a study are in its language and run in its direction."""
    study = make(site.world, with_pictures(pairwise_file(2, consent="Einverstanden?")))
    in_language(site.world, study, language="de")
    page.goto(f"/s/{study.code}")
    shown(page, "study-german-welcome")
    page.get_by_role("button", name="Ich stimme zu, beginnen").click()
    expect(page.get_by_text("0 erledigt, von höchstens 2")).to_be_visible()
    shown(page, "study-german")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.get_by_role("button", name="Weiter").bounding_box()["height"] < 60, "its word stands on one line"
    file = with_pictures(diversity_file(1, title="دراسة", instructions="اقرأ كل المجموعات أولا."))
    for item in file["items"]:
        for one in item["sets"]:
            one["captions"] = ["كلب يركض على الشاطئ.", "A dog runs (on sand)."]
    study = make(site.world, file)
    in_language(site.world, study, language="ar", texts=ARABIC, question="ما مدى تنوع الأوصاف؟")
    page.goto(f"/s/{study.code}")
    page.get_by_role("button", name="ابدأ").click()
    expect(page.get_by_role("button", name="التالي")).to_be_visible()
    shown(page, "study-arabic")
    triplets = make(site.world, triplet_file())
    in_language(site.world, triplets, language="ar", texts=ARABIC, question="أي الجملتين أقرب إلى الأولى؟")
    page.goto(f"/s/{triplets.code}")
    page.get_by_role("button", name="ابدأ").click()
    expect(page.get_by_role("button", name="التالي")).to_be_visible()
    shown(page, "study-arabic-choice")


def test_the_owners_side(page: Page, site):  # noqa: F811
    study = make(site.world, triplet_file(platform="prolific", consent="Do you agree?"))
    with site.world.database.write() as session:
        session.add_all(
            Annotator(
                study_id=study.id,
                worker=f"5f0c{number:020d}",
                platform_session=f"66ab{number:020d}",
                platform_study="664f0c000000000000000000",
                completion="ABCDEFGHJK",
                ended=ended,
            )
            for number, ended in enumerate((None, "complete", "withdrawn"))
        )
    sign_in(page)
    page.goto(f"/studies/{study.id}")
    shown(page, "study-links")
    page.get_by_role("link", name="People", exact=True).first.click()
    expect(page.get_by_role("row", name="withdrawn")).to_be_visible()
    look(page, "study-people")
    for number, name in ((1, "question"), (16, "waiting")):
        page.goto(f"/studies/{study.id}/preview?page={number}")
        shown(page, f"study-preview-{name}")
