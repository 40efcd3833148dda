"""Studies in a world, and people who answer them."""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy.orm import joinedload

from sacrecap_server.store.schema import Assignment, Study
from sacrecap_server.studies import repository
from sacrecap_server.studies.arrivals import platform_key
from sacrecap_server_testing.world import Browser, World
from sacrecap_studies.design import read_design

WITH_ITEM = [joinedload(Assignment.item)]
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def triplet_file(pairs: int = 4, references: int = 2, **more: Any) -> dict[str, Any]:
    """Pairs whose B repeats a word of the references, with two systems."""
    items = [
        {
            "image_id": number,
            "references": [f"a dog number {number} runs {word}" for word in ("home", "away", "fast")[:references]],
            "b": f"the dog {number} runs",
            "c": f"a red kettle {number}",
            "b_system": "first",
            "c_system": "second",
        }
        for number in range(pairs)
    ]
    return {"study": "triplet", "title": "Which is closer?", "items": items, **more}


def pairwise_file(pairs: int = 3, **more: Any) -> dict[str, Any]:
    file = triplet_file(pairs, **more)
    return {**file, "study": "pairwise", "images": {str(number): PIXEL for number in range(pairs)}}


def diversity_file(images: int = 2, **more: Any) -> dict[str, Any]:
    sets = [
        {"system": "plain", "captions": ["a dog", "a dog", "a dog runs"]},
        {"system": "rich", "captions": ["a dog runs home", "nobody is on the beach", "sand and sea"]},
        {"system": "people", "captions": ["a wet dog", "the dog of my neighbour", "low tide"]},
    ]
    items = [{"image_id": number, "sets": sets} for number in range(images)]
    images_ = {str(number): PIXEL for number in range(images)}
    return {"study": "diversity", "images": images_, "items": items, **more}


def collection_file(images: int = 2, **more: Any) -> dict[str, Any]:
    return {
        "study": "collection",
        "images": {str(number): PIXEL for number in range(images)},
        "items": [{"image_id": number} for number in range(images)],
        **more,
    }


def questions_file(items: list[dict[str, Any]], *questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Questions of one's own about items that show no image."""
    return {"study": "questions", "questions": list(questions), "items": items, **more}


def make(world: World, file: dict[str, Any], state: str = "open") -> Study:
    """The study of a file, in the database."""
    with world.database.write() as session:
        study = repository.make(session, read_design(json.dumps(file).encode()), seed="of the tests")
        study.state = state
    return study


class Person:
    """An annotator with a browser of their own."""

    def __init__(self, world: World, study: Study, worker: str = "", **more: str) -> None:
        self.browser = Browser(world)
        self.path = f"/s/{study.code}"
        self.worker = worker
        self.more = more
        self.page = ""

    def begin(self) -> Person:
        page = self.browser.get(self.path, params=self.arrival)
        assert page.status_code == 200, page.text
        self.csrf = re.search(r'name="csrf" value="([0-9a-f]{64})"', page.text)[1]
        self.post("/begin", **self.arrival)
        return self.look()

    @property
    def arrival(self) -> dict[str, str]:
        """What the person's link says: it is the platform's."""
        if not self.worker:
            return {}
        code = self.path.removeprefix("/s/")
        return {"worker": self.worker, "key": platform_key(self.browser.world.state.secret_key, code), **self.more}

    def look(self) -> Person:
        answer = self.browser.get(self.path + "/task")
        assert answer.status_code == 200, answer.text
        self.page = answer.text
        return self

    def post(self, path: str, **fields: Any) -> Any:
        """Sends a form. `choice` may say B or C, and `sets` has the ratings of the sets as the file has them."""
        if fields.get("choice") in ("b", "c"):
            fields["choice"] = str(self.order(fields["assignment"]).index("bc".index(fields["choice"])) + 1)
        for number, score in enumerate(fields.pop("sets", ())):
            fields[f"score-{self.order(fields['assignment']).index(number) + 1}"] = score
        return self.browser.client.post(self.path + path, data={"csrf": self.csrf, **fields})

    def order(self, assignment: str) -> list[int]:
        """Which option stands first, second and so on: what the page does not tell."""
        with self.browser.world.database.read() as session:
            given = session.get(Assignment, int(assignment)) if re.fullmatch("[0-9]{1,9}", assignment) else None
        return [0, 1] if given is None else given.shown_order

    @property
    def assignment(self) -> str | None:
        """The number of the question on the page; None where there is none."""
        found = re.search(r'name="assignment" value="(\d+)"', self.page)
        return found[1] if found else None

    def content(self) -> dict[str, Any]:
        """What the page asks, as the database has it."""
        with self.browser.world.database.read() as session:
            return session.get_one(Assignment, int(self.assignment or ""), options=WITH_ITEM).item.content

    @property
    def choices(self) -> dict[str, str]:
        """The sentences of the page by option, B or C, in the order shown."""
        texts = re.findall(r'name="choice" value="[12]".*?class="sentence-text">(.*?)</span>', self.page, re.DOTALL)
        return {"bc"[option]: text for option, text in zip(self.order(self.assignment or ""), texts, strict=True)}

    def answer(self, **fields: Any) -> Any:
        """Answers the question on the page, then looks at the next."""
        sent = self.post("/answer", assignment=self.assignment, active="1500", **fields)
        self.look()
        return sent
