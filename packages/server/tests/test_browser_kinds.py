"""Each of the nine kinds of study in a real browser: from `study make` over a phone's page to `sacrecap agreement`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from study_world import make
from test_browser_studies import picture

from command_line import run
from runner import Runner
from sacrecap import example
from sacrecap_server.web.context import Role
from sacrecap_studies import KINDS

__all__ = ["run"]

pytestmark = pytest.mark.browser
ASKED = [
    {"name": "ends", "type": "best-worst", "text": "Which sentence is best, and which is worst?"},
    {"name": "fluency", "type": "scale", "text": "How fluent is it?", "labels": ["not at all", "so-so", "very"]},
    {"name": "wrong", "type": "words", "text": "Mark every word that is wrong."},
    {"name": "comment", "type": "text", "text": "Is there anything else?", "optional": True},
]
SENTENCES = ("An empty beach under a blue sky.", "Small waves come in from the left.")
ITEMS = len(SENTENCES)
CHOOSE = """form => {
  const last = {};
  for (const radio of form.querySelectorAll("input[type=radio]")) (last[radio.name] ??= []).push(radio);
  Object.values(last).forEach((group, place) => { group[Math.min(place % 2, group.length - 1)].checked = true; });
}"""
"""Chooses something in every group of the page, and different captions for the best and the worst."""


@pytest.fixture(scope="module")
def phone(browser, site) -> Iterator[Page]:
    size = {"width": 390, "height": 844}
    context = browser.new_context(base_url=site.url, viewport=size, has_touch=True, is_mobile=True, color_scheme="dark")
    context.set_default_timeout(300_000)
    page = context.new_page()
    page.errors = errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    yield page
    context.close()


def made(run: Runner, kind: str) -> dict:
    """The file of a study of the example, with pictures."""
    sets = kind == "diversity"
    systems = dict(zip(("one", "two", "three"), example.systems().values(), strict=True))
    for name, captions in systems.items():
        said = (
            {image: [text, f"{text} again", f"another {text}"] for image, text in captions.items()}
            if sets
            else captions
        )
        (run.folder / f"{name}.json").write_text(json.dumps(said), encoding="utf-8")
    (run.folder / "references.json").write_text(json.dumps(example.references()), encoding="utf-8")
    (run.folder / "asked.json").write_text(json.dumps(ASKED), encoding="utf-8")
    options = ["--references", "references.json", "--items", str(ITEMS), "--judgments", "1"]
    options += ["--images", "https://images.example/{image_id}.jpg"] if KINDS[kind].shows_image else []
    options += ["--questions", "asked.json", "--together"] if kind == "questions" else []
    options += [] if kind == "collection" else ["--systems", "one.json", "two.json", "three.json"]
    ended = run.here("study", "make", kind, *options)
    assert ended.status == 0, ended.stderr
    file = json.loads(ended.stdout)
    if "images" in file:
        file["images"] = dict.fromkeys(file["images"], picture())
    return file


@pytest.mark.parametrize("kind", list(KINDS))
def test_from_file_to_agreement(phone: Page, site, run: Runner, kind: str) -> None:
    file = made(run, kind)
    study = make(site.world, {**file, "title": f"All of {kind}", "completion": {"code": f"DONE-{kind}"}})
    phone.errors.clear()
    phone.goto(f"/s/{study.code}")
    phone.locator("button.go").tap()
    wanted = len(file["items"]) * (len(file["items"][0]["references"]) if kind == "triplet" else 1)
    for done in range(wanted):
        expect(phone.get_by_text(f"{done} done")).to_be_visible()
        phone.wait_for_load_state()  # before its styles are there, a page is as wide as its words
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        phone.locator("#question").evaluate(CHOOSE)
        for box in phone.locator("textarea[required]").all():
            box.fill(SENTENCES[done])
        phone.get_by_role("button", name="Next").tap()
    expect(phone.get_by_text(f"DONE-{kind}")).to_be_visible()
    assert phone.errors == []

    exported = site.world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/export").text
    if kind == "collection":
        references = json.loads(exported)
        assert len(references) == ITEMS
        (run.folder / "collected.json").write_text(exported, encoding="utf-8")
        captions = {row["image_id"]: "a sentence" for row in references}
        (run.folder / "captions.json").write_text(json.dumps(captions), encoding="utf-8")
        scored = run.here("score", "collected.json", "captions.json", "--metrics", "rouge-l", "--interval", "none")
        assert scored.status == 0, scored.stderr
        return
    lines = [json.loads(line) for line in exported.splitlines()]
    assert lines
    assert all(line["complete"] for line in lines)
    path = Path(run.folder / "judgments.jsonl")
    path.write_text(exported, encoding="utf-8")
    options = ["--raters", "mean", "--metrics", "self-cider"] if kind == "diversity" else ["--metrics", "rouge-l"]
    options += ["--rating", "fluency"] if kind == "questions" else []
    options += ["--rating", next(iter(lines[0]["rating"]))] if kind == "adequacy-fluency" else []
    done = run.here("agreement", "judgments.jsonl", *options, "--format", "json", "--interval", "none")
    assert done.status == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]
