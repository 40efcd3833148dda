"""The tutorial of studies is run from `study make` to the papers' tables; simulated people answer over HTTP."""

from __future__ import annotations

import html
import json
import random
import re
from pathlib import Path

from study_world import Person, make

from pages import Block, Page, every_page
from sacrecap_server.web.context import Role

STUDY, ANSWERS = Path("study.json"), Path("answers.jsonl")
PEOPLE = 3


@every_page("study")
def test_page_runs(page, world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Answered(Page):
        asked = ""

        def run_console(self, block: Block) -> None:
            if ANSWERS.name in block.text and self.asked != STUDY.read_text("utf-8"):
                answer(world)
                self.asked = STUDY.read_text("utf-8")
            super().run_console(block)

    running = Answered(page)
    running.run()
    running.rewrite()


def answer(world) -> None:
    """Does the study of the file, and exports it as its page does."""
    file = json.loads(STUDY.read_text("utf-8"))
    study = make(world, file)
    for number in range(PEOPLE):
        person = Person(world, study, worker=f"W{number}").begin()
        chance = random.Random(number)
        while person.assignment:
            person.answer(**(chosen if file["study"] == "triplet" else rated)(person, file, chance))
    exported = world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/export")
    assert exported.status_code == 200
    ANSWERS.write_text(exported.text, "utf-8")


def chosen(person, _, chance):
    """The sentence that has more words of A; one in ten answers is an accident."""
    a = words(re.search(r'class="sentence">(.*?)</p>', person.page, re.DOTALL)[1])
    shared = {option: len(a & words(text)) + chance.random() / 2 for option, text in person.choices.items()}
    best = max(shared, key=shared.get)
    return {"choice": best if chance.random() < 0.9 else "bc".replace(best, "")}


def rated(person, file, chance):
    """The share of distinct words among all, give or take a fifth."""
    shown = html.unescape(person.page)
    item = next(item for item in file["items"] if all(c in shown for own in item["sets"] for c in own["captions"]))
    scores = []
    for own in item["sets"]:
        said = [word for caption in own["captions"] for word in caption.lower().split()]
        share = 1.6 * len(set(said)) / len(said) - 0.4 + chance.uniform(-0.2, 0.2)
        scores.append(str(round(10 * min(max(share, 0), 1))))
    return {"sets": scores}


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", html.unescape(text).lower()))
