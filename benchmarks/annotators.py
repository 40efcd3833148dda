"""Simulated annotators, who do a triplet study in pages and forms, as browsers do; and the study."""

from __future__ import annotations

import asyncio
import json
import random
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2 as httpx
from sqlalchemy import select

from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Assignment, Study, StudyItem
from sacrecap_server.studies import repository
from sacrecap_studies.design import read_design

PAIRS, JUDGMENTS = 1500, 3
_TLS = ssl.create_default_context()
Call = Callable[..., Awaitable[Any]]


def triplets(pairs: int, judgments: int) -> bytes:
    """A triplet study of made-up pairs with five references each."""
    items = [
        {
            "image_id": number,
            "references": [f"reference {place} of {number}" for place in range(5)],
            "b": f"a dog {number}",
            "c": f"a cat {number}",
        }
        for number in range(pairs)
    ]
    return json.dumps({"study": "triplet", "judgments": judgments, "items": items}).encode()


class Annotators:
    """People who answer a study, and the answers that the server acknowledged."""

    def __init__(self) -> None:
        self.code = ""
        self.acknowledged: dict[int, str] = {}

    def prepare(self, database: Database, owner_id: int) -> None:
        design = read_design(triplets(PAIRS, JUDGMENTS))
        with database.write() as session:
            study = repository.make(session, owner_id, design)
            study.state, self.code = "open", study.code

    async def person(self, call: Call, url: str, ends: float, pause: float) -> None:
        """Begins, answers every `pause` seconds or so, and tries an answer again where the server did not answer."""
        path = f"/s/{self.code}"
        await asyncio.sleep(random.random() * 2 * pause)
        # One TLS context for all: making 200 of them takes longer than what is measured.
        async with httpx.AsyncClient(base_url=url, timeout=30, follow_redirects=True, verify=_TLS) as client:
            csrf = None
            while csrf is None and time.monotonic() < ends:
                page = await call(client, "GET", path, page=True)
                csrf = _find(r'name="csrf" value="(\w+)"', page)
            page = None
            while time.monotonic() < ends:
                question = _find(r'name="assignment" value="(\d+)"', page)
                if question is None:
                    page = await call(client, "POST", path + "/begin", page=False, data={"csrf": csrf})
                    continue
                await asyncio.sleep(pause * (0.5 + random.random()))
                choice = random.choice("12")
                fields = {"csrf": csrf, "assignment": question, "choice": choice, "active": "900"}
                page = await call(client, "POST", path + "/answer", page=True, data=fields)
                if page is not None and page.status_code == 200 and "notice=too-late" not in str(page.url):
                    # A retry may bring another choice: the first that was stored stays.
                    self.acknowledged.setdefault(int(question), choice)

    def lost(self, database: Database) -> list[str]:
        """Answers that were acknowledged and are not there, and items that more people have than they should."""
        with database.read() as session:
            study = session.execute(select(Study).where(Study.code == self.code)).scalar_one()
            query = select(Assignment.id, Assignment.answer, Assignment.item_id, Assignment.state)
            rows = session.execute(query.where(Assignment.study_id == study.id)).all()
            taken = session.execute(select(StudyItem.id, StudyItem.taken).where(StudyItem.study_id == study.id)).all()
        stored = {row.id for row in rows if row.state == "answered" and row.answer is not None}
        held: dict[int, int] = {}
        for row in rows:
            if row.state in ("given", "answered"):
                held[row.item_id] = held.get(row.item_id, 0) + 1
        problems = [f"answer lost: {number}" for number in self.acknowledged if number not in stored]
        problems += [f"item {item}: {number} people" for item, number in held.items() if number > JUDGMENTS]
        return problems + [f"item {item}: count is wrong" for item, number in taken if held.get(item, 0) != number]


def _find(pattern: str, page: Any) -> str | None:
    found = re.search(pattern, page.text) if page is not None else None
    return found[1] if found else None
