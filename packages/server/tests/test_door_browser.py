"""The host's page is walked in a browser, word for word: whatever stands in italics there is on the pages."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from door_world import SYSTEMS, LiveDoor, file_of, make_contest
from playwright.sync_api import expect

from pages import DOCS

pytestmark = pytest.mark.browser
expect.set_options(timeout=300_000)  # against a hang: the machine may be busy
PAGE = DOCS / "howto" / "run-a-contest.md"
PICTURES = os.environ.get("SACRECAP_PICTURES")
"""A folder in which to leave a picture of each page, wide and light, narrow and dark."""


def words():
    """What stands in italics on the page."""
    text = re.sub(r"```.*?```", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {" ".join(found.split()) for found in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", text)}


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contest")
    lines = ['rules = "Be fair.\\n<b>No</b> more."', "ends = 2100-01-01T00:00:00Z"]
    door = LiveDoor(make_contest(folder, *lines, quota="day = 3\nmonth = 20", private="share = 50"))
    door.start()
    yield door
    assert door.stop() == 0


@pytest.fixture
def page(browser, door):
    context = browser.new_context(base_url=door.url)
    context.set_default_timeout(300_000)
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda line: page.errors.append(line.text) if "Content Security Policy" in line.text else None)
    page.on("dialog", lambda dialog: page.errors.append(dialog.message))
    yield page
    context.close()
    assert page.errors == []


def look(page, name):
    """Checks accessibility and widths; leaves pictures if asked."""
    from axe_playwright_python.sync_playwright import Axe

    for width, scheme in ((1200, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"door-{name}-{width}-{scheme}.png", full_page=True)
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        page.errors[:] = [error for error in page.errors if "axe" not in error]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert serious == [], [(each["id"], [node["html"] for node in each["nodes"]]) for each in serious]


def test_the_way_of_a_host_and_a_team(page, browser, door):
    left = words()

    def say(text):
        left.discard(text)
        return text

    # The host makes a team.
    page.goto(door.command_link("host"))
    expect(page).to_have_url(re.compile("/host$"))
    expect(page.get_by_role("heading", name=say("Teams"))).to_be_visible()
    page.get_by_label("Name of a team").fill("<b>The</b> Captioneers")
    page.get_by_role("button", name="Make the team").click()
    link = page.get_by_role("status").locator("code").inner_text()
    look(page, "host")
    # The team opens its link from another site, and nothing of it stays in the address.
    team = browser.new_context(base_url=door.url)
    team.set_default_timeout(300_000)
    tab = team.new_page()
    tab.errors = page.errors
    requests = []
    tab.on("request", lambda request: requests.append((request.url, request.headers.get("referer", ""))))
    tab.set_content(f'<a href="{link}">your link</a>')
    tab.get_by_role("link").click()
    expect(tab).to_have_url(re.compile("/team$"))
    secret = link.rpartition(".")[2]
    assert not [sent for sent in requests if secret in sent[1] or secret in sent[0].partition("#")[0]]
    tab.go_back()
    assert secret not in tab.url
    tab.goto("/team")
    expect(tab.get_by_role("heading", name=say("Submit captions"))).to_be_visible()
    look(tab, "team-empty")
    # A wrong file with its problems, and a right one.
    wrong = [{"image_id": image, "caption": caption} for image, caption in SYSTEMS["careful"].items()][3:]
    wrong[0]["caption"] = None
    for data, name in (
        (json.dumps(wrong).encode(), "wrong"),
        (file_of("careful"), "careful"),
        (file_of("plain"), "plain"),
    ):
        tab.get_by_label(say("Name of the system")).fill(f"{name} <script>alert(1)</script>")
        tab.get_by_label(say("Captions"), exact=True).set_input_files(
            {"name": "captions.json", "mimeType": "application/json", "buffer": data}
        )
        tab.get_by_role("button", name=say("Check and submit")).click()
        if name == "wrong":
            expect(tab.get_by_role("alert")).to_contain_text("Entry 1: its caption must be text, got nothing.")
            expect(tab.get_by_role("alert")).to_contain_text("3 images have no caption")
            look(tab, "problems")
        else:
            row = tab.get_by_role("row", name=re.compile(f"{name}-script"))
            expect(row).to_contain_text("cider-d")
            expect(tab.get_by_role("heading", name="Submit captions")).to_be_visible()
    tab.get_by_role("row", name=re.compile("plain-script")).get_by_role(
        "button", name=say("Let this one count")
    ).click()
    expect(tab.get_by_text("chosen", exact=True)).to_be_visible()
    look(tab, "team")
    # The board comes within a minute.
    tab.goto("/")
    look(tab, "home")
    board = tab.get_by_role("banner").get_by_role("link", name=say("Board"))
    for _ in range(200):
        tab.goto("/board/board.json")
        if "plain-script" in tab.content():
            break
        tab.wait_for_timeout(1000)
    tab.goto("/")
    board.click()
    expect(tab.get_by_text("b-The-b-Captioneers").first).to_be_visible()
    look(tab, "board")
    # The host closes, and nothing is taken any more.
    page.goto("/host")
    page.get_by_role("button", name=say("Close the contest")).click()
    expect(page.get_by_role("button", name="Close the contest")).to_be_hidden()
    look(page, "host-over")
    tab.goto("/team")
    expect(tab.get_by_role("heading", name="Submit captions")).to_be_hidden()
    look(tab, "team-over")
    tab.goto("/nothing")
    look(tab, "error")
    tab.goto("/enter")
    look(tab, "enter")
    team.close()
    assert left == set()
