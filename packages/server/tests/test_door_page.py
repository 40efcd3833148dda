"""The page of a contest's host is run, from the folder to the table: its contest is served, and people answer."""

from __future__ import annotations

import json
import random
from pathlib import Path

from door_world import LiveDoor
from study_world import Person, make

from pages import Block, Page, every_page
from sacrecap_server.web.context import Role


@every_page("contest")
def test_page_runs(page, world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    door = LiveDoor(tmp_path / "contest")

    class Served(Page):
        def run_console(self, block: Block) -> None:
            if door.process is None:
                door.start()
            if "answers.jsonl" in block.text:
                answer(world)
            super().run_console(block)

        def compare(self, block: Block, shown: str, printed: str, place: int | None) -> None:
            super().compare(block, shown, printed.replace(door.url, "http://127.0.0.1:8080"), place)

    try:
        Served(page).run()
    finally:
        door.stop()
    board = json.loads(Path("site/board.json").read_text())
    assert set(board["sets"]["c5"]["systems"]) == {"The-Captioneers/001-careful", "Another-team/001-template"}


def answer(world) -> None:
    """Does the study of the file, and exports it as its page does."""
    study = make(world, json.loads(Path("study.json").read_text("utf-8")))
    for number in range(3):
        person, chance = Person(world, study, worker=f"W{number}").begin(), random.Random(number)
        while person.assignment:
            sent = person.answer(**{"score-1": str(chance.randint(0, 4))})
            assert sent.status_code == 303, sent.text
    exported = world.api(Role.OWNER).get(f"/api/v1/studies/{study.id}/export")
    assert exported.status_code == 200
    Path("answers.jsonl").write_text(exported.text, "utf-8")
