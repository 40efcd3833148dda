"""The tutorial is walked in a browser, word for word: whatever stands in italics is on the page, in that order."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pages import DOCS
from sacrecap import example
from sacrecap_server_testing.world import PASSWORD

pytestmark = pytest.mark.browser
TUTORIAL = DOCS / "tutorial" / "evaluation-server.md"


class Words:
    """What stands in italics, and in code beside it, in the order of the text."""

    def __init__(self) -> None:
        text = re.sub(r"```.*?```", "", TUTORIAL.read_text(encoding="utf-8"), flags=re.DOTALL)
        self.left = [" ".join(found.split()) for found in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", text)]

    def say(self, words: str) -> str:
        """These words, which must be the next ones."""
        assert self.left, f"the tutorial says nothing more, and {words!r} comes"
        assert self.left.pop(0) == words
        return words


def test_the_tutorial_can_be_followed(browser, site):
    said = Words()
    context = browser.new_context(base_url=site.url)
    context.set_default_timeout(300_000)
    page: Page = context.new_page()
    banner = page.get_by_role("banner")

    page.goto("/")
    banner.get_by_role("link", name=said.say("Sign in")).click()
    page.get_by_label(said.say("E-mail address")).fill("me@example.org")
    page.get_by_label(said.say("Password")).fill(PASSWORD)
    page.get_by_role("button", name=said.say("Sign in")).click()

    banner.get_by_role("link", name=said.say("Benchmarks")).click()
    page.get_by_role("link", name=said.say("Make a benchmark")).click()
    page.get_by_label(said.say("Title")).fill("My benchmark")
    page.get_by_label(said.say("Short name")).fill("my-benchmark")
    page.get_by_label(said.say("References")).set_input_files(example.references_path())
    page.get_by_role("button", name=said.say("Make the benchmark")).click()
    expect(page.get_by_role("heading", name=said.say("Next steps"))).to_be_visible()

    banner.get_by_role("link", name="me@example.org").click()
    page.get_by_label(said.say("Name"), exact=True).fill("My team")
    page.get_by_role("button", name=said.say("Make the team")).click()

    banner.get_by_role("link", name=said.say("Benchmarks")).click()
    page.get_by_role("link", name=said.say("My benchmark")).click()
    page.get_by_role("link", name=said.say("Submit captions")).click()
    page.get_by_label(said.say("Name of the system")).fill("My system")
    page.get_by_label(said.say("Captions"), exact=True).set_input_files(example.system_path("careful"))
    page.get_by_role("button", name=said.say("Check and submit")).click()
    expect(page.get_by_role("rowheader", name="CIDEr-D", exact=True)).to_be_visible()
    page.get_by_role("link", name=said.say("My benchmark")).click()
    expect(page.get_by_role("heading", name=said.say("Board"))).to_be_visible()
    expect(page.get_by_role("row", name="My team")).to_contain_text("My system")

    banner.get_by_role("link", name=said.say("My team")).click()
    expect(page.get_by_role("heading", name=said.say("API tokens"))).to_be_visible()
    page.get_by_label(said.say("What the token is for")).fill("a script")
    page.get_by_role("button", name=said.say("Make a token")).click()
    expect(page.get_by_role("status")).to_contain_text("sacrecap_")
    assert said.left == []
    context.close()
