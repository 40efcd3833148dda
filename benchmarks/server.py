"""The evaluation server under load: page times, and whether anything acknowledged is lost, also when it is killed.

    python benchmarks/server.py --seconds 120                      # 200 annotators, 20 teams, 20 readers at once
    python benchmarks/server.py --seconds 120 --kills 10           # and kill -9 at random moments, ten times
    python benchmarks/server.py --postgresql                       # on a temporary cluster

Everything runs on this machine, load included. Prints one JSON document; exit status 1 where something was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx2 as httpx
from sqlalchemy import select

from annotators import Annotators
from sacrecap import example
from sacrecap_server.accounts.access import Caller, Role, new_token, sign_in
from sacrecap_server.boards.forms import BenchmarkForm, HiddenFiles, make
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, Job, Submission, Team, now

sys.path.append(str(Path(__file__).parents[1] / "packages" / "server" / "tests"))
from sacrecap_server_testing import postgres
from sacrecap_server_testing.live import Live

BENCHMARK = "load"


class Load:
    """Teams that submit, readers that look at pages, and what they were told."""

    def __init__(self, options: argparse.Namespace, folder: Path, database: str | None) -> None:
        self.options = options
        self.database = database or f"sqlite:///{folder / 'sacrecap.db'}"
        self.server = Live(folder, self.database)
        self.url = self.server.url
        self.milliseconds: list[float] = []
        self.slowest: dict[str, float] = {}
        self.wrong: list[str] = []
        self.acknowledged: list[tuple[int, str, str]] = []
        self.killed_at = -10.0
        self.annotators = Annotators()
        self.captions = json.loads(example.system_path("careful").read_bytes())

    def prepare(self) -> None:
        database = Database(self.database)
        database.migrate()
        self.tokens, self.cookies = [], []
        with database.write() as session:
            for number in range(self.options.teams):
                team = Team(name=f"Team {number}", name_key=f"team {number}")
                session.add(team)
                session.flush()
                account = Account(
                    email=f"{number}@example.org",
                    password="-",  # noqa: S106
                    role=Role.ADMIN,
                    team_id=team.id,
                    confirmed=now(),
                )
                session.add(account)
                session.flush()
                self.tokens.append(new_token(session, account.id, "load"))
                self.cookies.append(sign_in(session, account.id))
            form = BenchmarkForm(
                slug=BENCHMARK,
                title="Load",
                description="",
                metrics="cider-d, bleu-4",
                tokenizer="ptb",
                quota_day=10**6,
                quota_total=10**6,
                opens=None,
                closes=None,
                board="public",
                own_scores=True,
            )
            make(session, Caller(Role.ADMIN, account.id), form, HiddenFiles(example.references_path().read_bytes()))
        self.annotators.prepare(database, account.id)
        database.close()

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
            path = path.partition("?")[0]
            self.slowest[path] = max(took, self.slowest.get(path, 0))
        if answer.status_code >= 400 and answer.status_code != 429:
            self.wrong.append(f"{method} {path}: {answer.status_code}")
        return answer

    async def team(self, number: int, ends: float) -> None:
        headers = {"Authorization": f"Bearer {self.tokens[number]}"}
        sent = 0
        async with httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30) as client:
            await asyncio.sleep(random.random() * self.options.pause)
            while time.monotonic() < ends:
                system = f"s{sent}"
                data = json.dumps({**self.captions, next(iter(self.captions)): f"team {number} sends {sent}"})
                path = f"/api/v1/benchmarks/{BENCHMARK}/submissions?system={system}"
                answer = await self.call(client, "POST", path, page=False, content=data.encode())
                if answer is not None and answer.status_code in (200, 201):
                    body = answer.json()
                    self.acknowledged.append((body["id"], f"Team {number}", body["sha256"]))
                    sent += 1
                await asyncio.sleep(self.options.pause * (0.5 + random.random()))

    async def reader(self, number: int, ends: float) -> None:
        paths = [
            "/",
            "/benchmarks",
            f"/benchmarks/{BENCHMARK}",
            f"/benchmarks/{BENCHMARK}/history",
            "/submissions",
            "/account",
        ]
        cookies = {"sacrecap": self.cookies[number % len(self.cookies)]}
        async with httpx.AsyncClient(base_url=self.url, cookies=cookies, timeout=30) as client:
            await asyncio.sleep(random.random() * 3)
            while time.monotonic() < ends:
                await self.call(client, "GET", random.choice(paths), page=True)
                await asyncio.sleep(0.5 + random.random())

    async def killer(self, ends: float) -> None:
        for left in range(self.options.kills, 0, -1):
            await asyncio.sleep(max(0.0, (ends - time.monotonic()) / left * random.uniform(0.4, 1.0)))
            self.server.kill()
            self.killed_at = time.monotonic()
            await asyncio.to_thread(self.server.start)
            self.killed_at = time.monotonic()

    async def run(self) -> None:
        ends = time.monotonic() + self.options.seconds
        people = [self.team(number, ends) for number in range(self.options.teams)]
        people += [self.reader(number, ends) for number in range(self.options.readers)]
        people += [
            self.annotators.person(self.call, self.url, ends, self.options.thinking)
            for _ in range(self.options.annotators)
        ]
        await asyncio.gather(self.killer(ends), *people)

    def inside(self) -> list[float]:
        """Milliseconds of page requests as the server itself measured them, without this process's own delays."""
        lines = [json.loads(line) for line in self.server.log().splitlines() if line.startswith("{")]
        return sorted(line["ms"] for line in lines if line["event"] == "request" and line["method"] == "GET")

    def lost(self) -> list[str]:
        """What was acknowledged and is not there once, and jobs that did not end."""
        database = Database(self.database)
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            with database.read() as session:
                states = list(session.execute(select(Job.state)).scalars())
            if set(states) <= {"done", "failed"}:
                break
            time.sleep(1)
        with database.read() as session:
            rows = session.execute(select(Submission.id, Team.name, Submission.file_sha).join(Team)).all()
        problems = self.annotators.lost(database)
        database.close()
        stored = {tuple(row) for row in rows}
        problems += [f"lost: {entry}" for entry in self.acknowledged if entry not in stored]
        twice = len(rows) - len({row[1:] for row in rows})
        problems += [f"{twice} stored twice"] * bool(twice)
        problems += [f"jobs {state}: {states.count(state)}" for state in set(states) - {"done"}]
        return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--teams", type=int, default=20)
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--thinking", type=float, default=5, help="seconds an annotator takes for an answer")
    parser.add_argument("--pause", type=float, default=10, help="seconds between a team's submissions")
    parser.add_argument("--kills", type=int, default=0)
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = postgres.create(stack.enter_context(postgres.cluster()), "load") if options.postgresql else None
        load = Load(options, folder, database)
        load.prepare()
        load.server.start()
        asyncio.run(load.run())
        lost = load.lost()
        load.server.stop()
        inside = load.inside()
    times = sorted(load.milliseconds)
    print(
        json.dumps(
            {
                "database": load.database.split(":")[0],
                "seconds": options.seconds,
                "kills": options.kills,
                "pages": len(times),
                "median_ms": round(statistics.median(times), 1),
                "p99_ms": round(times[int(len(times) * 0.99)], 1),
                "slowest_ms": {k: round(v) for k, v in load.slowest.items()},
                "server_median_ms": statistics.median(inside),
                "server_p99_ms": inside[int(len(inside) * 0.99)],
                "acknowledged": len(load.acknowledged),
                "answers": len(load.annotators.acknowledged),
                "lost": lost,
                "wrong": load.wrong[:10],
            },
            indent=2,
        )
    )
    return 1 if lost or load.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
