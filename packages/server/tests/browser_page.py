"""A browser's page, and how every page is looked at: accessibility (axe), both colour schemes, a phone's width."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sacrecap_server_testing.world import TOKEN

expect.set_options(timeout=300_000)  # against a hang: the machine may be busy
PICTURES = os.environ.get("SACRECAP_PICTURES")
"""A folder in which to leave a picture of each page, wide and narrow."""
WIDTHS = ((390, "narrow"), (1200, "wide"))


@pytest.fixture(scope="module")
def tab(browser, site) -> Iterator[Page]:
    """One tab for the tests of a file: a new window for each takes a second of processor time."""
    context = browser.new_context(base_url=site.url)
    context.set_default_timeout(300_000)
    tab = context.new_page()
    tab.errors = errors = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None)
    yield tab
    context.close()


@pytest.fixture
def page(tab) -> Iterator[Page]:
    """A page that fails the test where the browser reports an error, such as a script that the policy refuses."""
    tab.context.clear_cookies()
    tab.errors.clear()
    yield tab
    assert tab.errors == []


def look(page: Page, name: str) -> None:
    """Checks accessibility, colours in both schemes, and that a phone's width is enough; leaves pictures if asked."""
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]})):
        page.emulate_media(color_scheme=scheme)
        serious = _serious(page, options)
        assert serious == [], [(each["id"], [node["html"] for node in each["nodes"]]) for each in serious]
        if PICTURES:
            for width, suffix in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                page.screenshot(path=Path(PICTURES) / f"{name}-{suffix}-{scheme}.png", full_page=True)
    for width, _ in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def _serious(page: Page, options: dict[str, Any]) -> list[dict[str, Any]]:
    """What axe finds that keeps people from using the page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"], **options})
    page.errors[:] = [error for error in page.errors if "axe" not in error]
    return [each for each in found.response["violations"] if each["impact"] in ("serious", "critical")]


def sign_in(page: Page) -> None:
    page.goto("/sign-in")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
