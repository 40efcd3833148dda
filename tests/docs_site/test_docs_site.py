"""The documentation site: its links, and how it behaves in a browser."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from built import ADDRESS, Site, served

from environment import absent

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
LONGEST = ("reference/python/", "reference/command-line/", "reference/api/", "howto/run-a-study/")
"""Pages of wide tables, wide code and long names."""


@pytest.fixture(scope="module")
def site() -> Site:
    """The site, built as `make docs` builds it, which fails where a page has a fault."""
    if importlib.util.find_spec("zensical") is None:
        absent("Zensical")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts"))
        sys.modules.pop("build_site", None)
        from build_site import SITE, build

        build()
    return Site(SITE)


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    with served(site.folder) as address:
        yield address


class Tab:
    """A tab of the browser, and what went wrong in it."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.address = address
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.page.set_default_timeout(300_000)  # against a hang: the machine may be busy
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message: Any) -> None:
        # The search's own script is told that it need not focus its field any more: not an error.
        if message.type == "error":
            self.complaints.append(message.text)

    def open(self, path: str) -> Any:
        self.page.goto(self.address + path)
        return self.page

    def close(self) -> None:
        """Checks that nothing was loaded from elsewhere, and that nothing went wrong."""
        own = urlsplit(self.address).netloc
        assert not [url for url in self.requests if urlsplit(url).netloc not in {own, ""}]
        assert self.complaints == []
        self.context.close()


@pytest.fixture
def tab(browser: Any, address: str) -> Iterator[Tab]:
    tab = Tab(browser, address)
    yield tab
    tab.close()


@pytest.fixture
def phone(browser: Any, address: str) -> Iterator[Tab]:
    tab = Tab(browser, address, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    yield tab
    tab.close()


# Its files


def test_links_and_anchors_lead_somewhere(site: Site) -> None:
    inside = [(page, url) for page, url in site.links() if urlsplit(url).netloc == urlsplit(ADDRESS).netloc]
    assert len(inside) > 5000
    assert [(page.parent.name, url, why) for page, url in inside if (why := site.fault(url))] == []


def test_the_check_of_links_can_fail(site: Site) -> None:
    assert site.fault(f"{ADDRESS}howto/no-such-page/") == "no such page"
    assert site.fault(f"{ADDRESS}howto/reproduce-a-published-number/#no-such-question") == "no such anchor"
    assert site.fault(f"{ADDRESS}howto/reproduce-a-published-number/#my-cider-is-0") is None


def test_nothing_is_left_as_markdown(site: Site) -> None:
    for path, page in site.pages.items():
        assert not re.search(r"`\]\[[\w.]*\]|```", "".join(page.words)), path


def test_the_page_of_commands_shows_what_help_prints(site: Site) -> None:
    text = "".join(site.pages[site.folder / "reference" / "command-line" / "index.html"].words)
    assert "Names or groups, separated by commas or blanks" in text
    assert len(re.findall(r"Show this message and exit", text)) == text.count(" --help\n")
    assert len(re.findall(r"Show these options, or all of them", text)) == text.count(" --help-all\n")
    page = (site.folder / "reference" / "command-line" / "index.html").read_text(encoding="utf-8")
    assert page.count("<details>") == text.count(" --help\n") + text.count(" --help-all\n"), "folded"


def test_every_page_of_the_menu_was_built(site: Site) -> None:
    menu = re.findall(r"(\S+)\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    for name in menu:
        built = site.folder / (name.removesuffix("README") if name.endswith("README") else name) / "index.html"
        assert built in site.pages, name


# In a browser


def test_the_search_finds_a_page(tab: Tab) -> None:
    page = tab.open("")
    page.locator("button.md-search__button").click()
    page.get_by_role("combobox", name="Search").fill("cider is 0")
    page.locator("a", has_text="My CIDEr is 0").first.click()
    page.wait_for_url(re.compile("howto/reproduce-a-published-number/"))
    assert page.get_by_role("heading", name="My CIDEr is 0").is_visible()


def test_light_and_dark(tab: Tab) -> None:
    page = tab.open("howto/install/")

    def background() -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    assert background() > 700
    page.locator("label[title='Switch to dark']").click()
    page.locator("body[data-md-color-scheme=slate]").wait_for()
    assert background() < 150
    page.reload()
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    page.locator("label[title='Switch to light']").click()
    page.locator("body[data-md-color-scheme=default]").wait_for()


def test_the_system_decides_first(browser: Any, address: str) -> None:
    tab = Tab(browser, address, color_scheme="dark")
    tab.open("").locator("body[data-md-color-scheme=slate]").wait_for()
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_and_named(browser: Any, address: str, scheme: str) -> None:
    """No serious finding of axe: contrast, names of buttons, structure."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tab = Tab(browser, address, color_scheme=scheme)
    for path in ("", "howto/reproduce-a-published-number/", "reference/api/"):
        found = axe.run(tab.open(path)).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in {"serious", "critical"}] == []
    tab.close()


@pytest.mark.parametrize("path", LONGEST)
def test_on_a_phone_nothing_is_wider_than_the_screen(phone: Tab, path: str) -> None:
    page = phone.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_menu_on_a_phone(phone: Tab) -> None:
    page = phone.open("")
    entry = page.locator(".md-nav--primary").get_by_text("Start", exact=True).first
    assert not entry.is_visible() or entry.bounding_box()["x"] < 0
    page.locator("header label[for=__drawer]").click()
    entry.click()
    page.locator(".md-nav--primary").get_by_role("link", name="Install").click()
    page.wait_for_url(re.compile("howto/install/"))


def test_copy_buttons_copy_code_and_commands_without_output(browser: Any, address: str) -> None:
    tab = Tab(browser, address, permissions=["clipboard-read", "clipboard-write"])
    page = tab.open("explanation/versioning/")

    def copied(block: Any) -> str:
        block.hover()
        block.locator("button").first.click()
        page.locator(".md-dialog--active").first.wait_for()
        return str(page.evaluate("navigator.clipboard.readText()")).strip()

    python = copied(page.locator(".language-python.highlight").first)
    assert python.startswith("import sacrecap\n")
    assert python.endswith("print(score.signature)")
    page = tab.open("howto/reproduce-a-published-number/")
    assert copied(page.locator(".language-console.highlight").nth(1)) == "sacrecap df build references.json -o words.df"
    tab.close()


def test_the_report_of_the_example_is_live(tab: Tab) -> None:
    page = tab.open("reference/report/")
    report = page.frame_locator("iframe.report")
    assert "0.9092" in report.locator("table.scores").inner_text()
    report.get_by_label("Search").fill("umbrella street")
    assert re.fullmatch(r"\d of 60 images", report.get_by_role("status").inner_text())
    page.get_by_role("link", name="Open it on a page of its own").wait_for()
