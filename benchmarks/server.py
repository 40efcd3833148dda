"""A server of studies under load: page times, and whether anything acknowledged is lost, also when it is killed.

Annotators do a triplet study in pages and forms, as browsers do; readers look at the owner's pages meanwhile.

    python benchmarks/server.py --seconds 120 --kills 10
"""

from __future__ import annotations

import argparse
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
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2 as httpx
from sqlalchemy import select

from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Assignment, Study, StudyItem

sys.path.append(str(Path(__file__).parents[1] / "packages" / "server" / "tests"))
from sacrecap_server_testing.live import Live

PAIRS, JUDGMENTS = 1500, 3
READ = ("/studies", "/studies/1", "/studies/1/quality", "/studies/1/answers", "/studies/1/people")
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

    def open(self, database: Database) -> None:
        with database.write() as session:
            study = session.execute(select(Study)).scalar_one()
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


class Load:
    """The server, the people at its pages, and what they were told."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.folder = folder
        (folder / "study.json").write_bytes(triplets(PAIRS, JUDGMENTS))
        self.server = Live(folder, "study", "serve", "study.json")
        self.milliseconds: list[float] = []
        self.slowest: dict[str, float] = {}
        self.wrong: list[str] = []
        self.killed_at = -10.0
        self.annotators = Annotators()

    @contextlib.contextmanager
    def database(self) -> Any:
        with contextlib.closing(Database(str(self.folder / "study.db"))) as database:
            yield database

    async def call(
        self, client: httpx.AsyncClient, method: str, path: str, *, page: bool, **options: object
    ) -> httpx.Response | None:
        started = time.monotonic()
        try:
            answer = await client.request(method, path, **options)
        except httpx.HTTPError as error:
            if time.monotonic() - self.killed_at > 10 and started - self.killed_at > 10:
                self.wrong.append(f"{method} {path}: {type(error).__name__}")
            await asyncio.sleep(0.2)
            return None
        if page:
            took = 1000 * (time.monotonic() - started)
            self.milliseconds.append(took)
            self.slowest[path] = max(took, self.slowest.get(path, 0))
        if answer.status_code >= 400 and answer.status_code != 429:
            self.wrong.append(f"{method} {path}: {answer.status_code}")
        return answer

    async def reader(self, ends: float) -> None:
        token = (self.folder / "study.db.token").read_text().strip()
        async with httpx.AsyncClient(base_url=self.server.url, timeout=30, verify=_TLS) as client:
            await asyncio.sleep(random.random() * 3)
            page = None
            while page is None:
                page = await self.call(client, "GET", "/sign-in", page=False)
            fields = {"csrf": _find(r'name="csrf" value="(\w+)"', page), "token": token}
            await self.call(client, "POST", "/sign-in", page=False, data=fields)
            while time.monotonic() < ends:
                await self.call(client, "GET", random.choice(READ), page=True)
                await asyncio.sleep(0.5 + random.random())

    async def killer(self, ends: float) -> None:
        for left in range(self.options.kills, 0, -1):
            await asyncio.sleep(max(0.0, (ends - time.monotonic()) / left * random.uniform(0.4, 1.0)))
            self.killed_at = float("inf")
            self.server.kill()
            await asyncio.to_thread(self.server.start)
            self.killed_at = time.monotonic()

    async def run(self) -> None:
        ends = time.monotonic() + self.options.seconds
        people = [self.reader(ends) for _ in range(self.options.readers)]
        people += [
            self.annotators.person(self.call, self.server.url, ends, self.options.thinking)
            for _ in range(self.options.annotators)
        ]
        await asyncio.gather(self.killer(ends), *people)

    def inside(self) -> list[float]:
        """Milliseconds of page requests as the server itself measured them, without this process's own delays."""
        lines = [json.loads(line) for line in self.server.log().splitlines() if line.startswith("{")]
        return sorted(line["ms"] for line in lines if line["event"] == "request" and line["method"] == "GET")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--thinking", type=float, default=5, help="seconds an annotator takes for an answer")
    parser.add_argument("--kills", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load = Load(options, Path(folder))
        load.server.start()
        with load.database() as database:
            load.annotators.open(database)
        asyncio.run(load.run())
        with load.database() as database:
            lost = load.annotators.lost(database)
        load.server.stop()
        inside = load.inside()
    times = sorted(load.milliseconds)
    told = {
        "seconds": options.seconds,
        "kills": options.kills,
        "pages": len(times),
        "median_ms": round(statistics.median(times), 1),
        "p99_ms": round(times[int(len(times) * 0.99)], 1),
        "slowest_ms": {path: round(took) for path, took in load.slowest.items() if not path.startswith("/s/")},
        "server_median_ms": statistics.median(inside),
        "server_p99_ms": inside[int(len(inside) * 0.99)],
        "answers": len(load.annotators.acknowledged),
        "lost": lost,
        "wrong": load.wrong[:10],
    }
    print(json.dumps(told, indent=2))
    return 1 if lost or load.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
