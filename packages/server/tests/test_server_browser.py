"""In a real browser: register, a wrong file with all its problems, a right one, the board; and accessibility (axe)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from sacrecap_server.accounts.access import Role
from sacrecap_server.store.models import Benchmark, Submission, SubmissionScore, Team, Webhook
from sacrecap_server_testing.benchmark import SYSTEMS, make, submitted
from sacrecap_server_testing.world import PASSWORD

pytestmark = pytest.mark.browser
expect.set_options(timeout=300_000)  # against a hang: the machine may be busy
PICTURES = os.environ.get("SACRECAP_PICTURES")
"""A folder in which to leave a picture of each page, wide and narrow."""
WIDTHS = ((390, "narrow"), (1100, "wide"))


@pytest.fixture(scope="module")
def benchmark(site) -> None:
    """A benchmark that two other teams have submitted to."""
    words = {"challenge": "The contest", "phase": "dev", "rules": "Be *fair*."}
    make(site.world, description="Sixty **made-up** images.\nFive people described each.", **words)
    make(site.world, slug="later", opens="2100-01-01T00:00", **{**words, "phase": "test"})
    with site.world.database.write() as session:
        # An address that nothing is sent to: the form would refuse it.
        session.add(Webhook(benchmark_id=1, url="https://127.0.0.1/", secret="0" * 64))
    for role in (Role.ADMIN, Role.ORGANISER):
        site.world.browser(role).post("/benchmarks/ours/rules", accept="1")
    submitted(site.world, "plain", role=Role.ADMIN)
    submitted(site.world, "template", role=Role.ORGANISER)
    site.world.run_jobs()


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


def sign_in(page: Page, email: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_from_registering_to_the_board(page, benchmark):
    page.goto("/")
    look(page, "home")
    page.get_by_role("link", name="Register", exact=True).click()
    look(page, "register")
    page.get_by_label("E-mail address").fill("new@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Team").fill("The Captioneers")
    page.get_by_label("Affiliation").fill("Example University")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("status")).to_contain_text("Your account is ready")
    look(page, "sign-in")
    sign_in(page, "new@example.org")
    page.get_by_role("link", name="Benchmarks").first.click()
    look(page, "benchmarks")
    page.get_by_role("link", name="Our benchmark").last.click()
    page.get_by_role("link", name="Submit captions").click()
    look(page, "rules-to-accept")
    page.get_by_label("I accept these rules").check()
    page.get_by_role("button", name="Accept, and go on to submit").click()
    look(page, "submit")

    captions = json.loads(SYSTEMS["careful"])
    images = list(captions)
    wrong = [{"image_id": image, "caption": caption} for image, caption in captions.items()][3:]
    wrong[0] = {"image_id": images[3], "caption": None}
    wrong.append({"image_id": "nowhere", "caption": "A dog."})
    page.get_by_label("Name of the system").fill("Careful")
    page.get_by_label("Captions").set_input_files(
        {"name": "captions.json", "mimeType": "application/json", "buffer": json.dumps(wrong).encode()}
    )
    page.get_by_role("button", name="Check and submit").click()
    problems = page.get_by_role("alert")
    expect(problems).to_contain_text("Entry 1: its caption must be text, got nothing.")
    expect(problems).to_contain_text("'nowhere' is not part of this benchmark.")
    expect(problems).to_contain_text("3 images have no caption: " + ", ".join(f"'{image}'" for image in images[:3]))
    look(page, "wrong-file")

    page.get_by_label("Captions").set_input_files(
        {"name": "captions.json", "mimeType": "application/json", "buffer": SYSTEMS["careful"]}
    )
    page.get_by_role("button", name="Check and submit").click()
    expect(page.get_by_role("heading", name="Careful")).to_be_visible()
    expect(page.get_by_role("row", name="cider-d")).to_be_visible()
    look(page, "submission")
    page.get_by_role("link", name="Our benchmark").click()
    expect(page.get_by_role("row", name="The Captioneers Example")).to_be_visible()
    look(page, "board")
    page.get_by_label("In order of").select_option(label="BLEU-4")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("th[aria-sort]")).to_contain_text("BLEU-4")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="Two submissions")).to_be_visible()
    look(page, "compare")
    page.goto("/benchmarks/ours/submit")
    page.get_by_label("Name of the system").fill("Plain again")
    page.get_by_label("Captions").set_input_files(
        {"name": "plain.json", "mimeType": "application/json", "buffer": SYSTEMS["plain"]}
    )
    page.get_by_role("button", name="Check and submit").click()
    expect(page.get_by_role("row", name="cider-d")).to_be_visible()
    page.get_by_role("link", name="Our benchmark").click()
    second = page.get_by_label("Second")
    again = second.locator("option", has_text="The Captioneers: Plain again (").get_attribute("value")
    second.select_option(again)
    page.get_by_role("button", name="Compare").click()
    look(page, "compare-untested")
    page.get_by_role("button", name="Test these two").click()
    expect(page.get_by_role("columnheader", name="p", exact=True)).to_be_visible()
    page.goto("/benchmarks/ours/history")
    look(page, "history")
    page.goto("/submissions")
    look(page, "submissions")
    page.goto("/account")
    page.get_by_label("What the token is for").fill("laptop")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_role("status")).to_contain_text("sacrecap_")
    look(page, "account")


def test_names_that_would_break_the_layout(page, site, benchmark):
    """The score that ranks stays in sight whatever a team calls itself, on the board and beside another."""
    long, lines = "W" * 80, "\n".join(["Institute of Descriptions, " * 5] * 7)
    names = [long, "مختبر الصور", "transformer-XL ensemble of 12 with self-critical training"]
    with site.world.database.write() as session:
        ours = select(Benchmark.id).where(Benchmark.slug == "ours").scalar_subquery()
        scored = select(Submission).where(Submission.benchmark_id == ours, Submission.scored.is_not(None))
        kept = session.execute(scored).scalars().first()
        its = select(SubmissionScore).where(SubmissionScore.submission_id == kept.id)
        scores = session.execute(its).scalars().all()
        for name in names:
            team = Team(name=name, name_key=f"{name} of the layout", affiliation=lines)
            session.add(team)
            session.flush()
            theirs = Submission(
                benchmark_id=kept.benchmark_id,
                team_id=team.id,
                account_id=kept.account_id,
                file_sha=kept.file_sha,
                file_name="a.json",
                system=name[:80],
                created=kept.created,
                scored=kept.scored,
            )
            session.add(theirs)
            session.flush()
            for score in scores:
                columns = {c.key: getattr(score, c.key) for c in SubmissionScore.__table__.columns}
                session.add(SubmissionScore(**{**columns, "submission_id": theirs.id}))
    page.goto("/benchmarks/ours")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for cell in page.locator("td.main").all():
            box = cell.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        heights = [row.bounding_box()["height"] for row in page.locator(".board tbody tr").all()]
        assert max(heights) < 170
    look(page, "hostile-names")
    page.get_by_label("First").select_option(index=0)
    page.get_by_label("Second").select_option(index=2)
    page.get_by_role("button", name="Compare").click()
    page.set_viewport_size({"width": 360, "height": 800})
    for cell in page.locator("td.main").all():
        box = cell.bounding_box()
        assert box["x"] + box["width"] <= 360
    look(page, "compare-hostile-names")


def test_an_administrators_pages(page, benchmark):
    sign_in(page, "me@example.org")
    for path, name in (
        ("/admin", "admin"),
        ("/admin/accounts", "accounts"),
        ("/admin/approvals", "approvals"),
        ("/admin/audit", "audit"),
        ("/forgot", "forgot"),
        ("/benchmarks/new", "new-benchmark"),
        ("/benchmarks/ours/edit", "edit-benchmark"),
        ("/benchmarks/ours/submissions", "all-submissions"),
        ("/benchmarks/ours/webhooks", "webhooks"),
        ("/benchmarks/ours/rules", "rules"),
        ("/submissions/1", "as-host"),
        ("/nothing", "error"),
    ):
        page.goto(path)
        look(page, name)
    page.goto("/admin")
    page.get_by_role("button", name="Make a link").click()
    expect(page.get_by_role("status")).to_contain_text("/register?invitation=")
    page.goto(page.get_by_role("status").locator("code").inner_text())
    look(page, "join")
    page.goto("/admin/accounts")
    page.get_by_role("link", name="organiser@example.org").click()
    look(page, "one-account")
    page.get_by_role("button", name="Link for a new password").click()
    look(page, "handed")
    page.goto(page.get_by_role("status").locator("code").inner_text())
    look(page, "reset")
