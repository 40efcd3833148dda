"""A server of studies under load: page times, and whether anything acknowledged is lost, also when it is killed.

Annotators do a triplet study in pages and forms, as browsers do; readers look at the owner's pages meanwhile.

    python benchmarks/server.py --seconds 120 --kills 10
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import ssl
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2 as httpx
from sqlalchemy import select

from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Assignment, Study, StudyItem
from serving import Load, options

sys.path.append(str(Path(__file__).parents[1] / "packages" / "server" / "tests"))
from sacrecap_server_testing.live import Live

PAIRS, JUDGMENTS = 1500, 3
READ = ("/studies", "/studies/1", "/studies/1/quality", "/studies/1/answers", "/studies/1/people")
_TLS = ssl.create_default_context()


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

    def open(self, database: Database) -> None:
        with database.write() as session:
            study = session.execute(select(Study)).scalar_one()
            study.state, self.code = "open", study.code

    async def person(self, load: Load, url: str, ends: float) -> None:
        """Begins, answers question after question, and tries an answer again where the server did not answer."""
        path, call, pause = f"/s/{self.code}", load.call, load.options.thinking
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


async def reader(load: Load, url: str, token: str, ends: float) -> None:
    """The owner, who looks at one page after the other."""
    async with httpx.AsyncClient(base_url=url, timeout=30, verify=_TLS) as client:
        await asyncio.sleep(random.random() * 3)
        page = None
        while page is None:
            page = await load.call(client, "GET", "/sign-in", page=False)
        fields = {"csrf": _find(r'name="csrf" value="(\w+)"', page), "token": token}
        while await load.call(client, "POST", "/sign-in", page=False, data=fields) is None:
            pass
        while time.monotonic() < ends:
            await load.call(client, "GET", random.choice(READ), page=True)
            await asyncio.sleep(0.5 + random.random())


async def run(load: Load, annotators: Annotators, url: str, token: str) -> None:
    """All people at once."""
    ends = time.monotonic() + load.options.seconds
    people = [reader(load, url, token, ends) for _ in range(load.options.readers)]
    people += [annotators.person(load, url, ends) for _ in range(load.options.annotators)]
    await load.run(people, ends)


def measured_inside(log: str) -> list[float]:
    """Milliseconds of page requests as the server itself measured them, without this process's own delays."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    return sorted(line["ms"] for line in lines if line["event"] == "request" and line["method"] == "GET")


def main() -> int:
    given = options(
        __doc__,
        readers=(20, "how many look at the owner's pages"),
        annotators=(200, "how many answer questions"),
        thinking=(5.0, "seconds an annotator takes for an answer"),
    )
    annotators = Annotators()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "study.json").write_bytes(triplets(PAIRS, JUDGMENTS))
        server = Live(folder, "study", "serve", "study.json")
        load = Load(server, given)
        server.start()
        with contextlib.closing(Database(str(folder / "study.db"))) as database:
            annotators.open(database)
        asyncio.run(run(load, annotators, server.url, (folder / "study.db.token").read_text().strip()))
        with contextlib.closing(Database(str(folder / "study.db"))) as database:
            lost = annotators.lost(database)
        server.stop()
        inside = measured_inside(server.log())
    return load.tell(
        len(annotators.acknowledged),
        lost,
        slowest_ms={path: round(took) for path, took in load.slowest.items() if not path.startswith("/s/")},
        server_median_ms=statistics.median(inside),
        server_p99_ms=inside[int(len(inside) * 0.99)],
    )


if __name__ == "__main__":
    sys.exit(main())
