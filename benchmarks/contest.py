"""The door of a contest under load: page times, and whether anything acknowledged is lost, also when it is killed.

Teams send files, readers look at pages and the board meanwhile; `benchmarks/server.py` does the same for studies, and
both may run at once.

    python benchmarks/contest.py --seconds 120 --kills 3

Everything runs on this machine, load included. Prints one JSON document; exit status 1 where something was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx2 as httpx

sys.path.append(str(Path(__file__).parents[1] / "packages" / "server" / "tests"))
from door_world import LiveDoor, another, make_contest


class Load:
    """Teams, readers, and what they were told."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.door = LiveDoor(make_contest(folder, "ends = 2100-01-01T00:00:00Z"))
        self.milliseconds: list[float] = []
        self.wrong: list[str] = []
        self.told: set[tuple[str, str]] = set()
        self.killed = 0
        self.is_away = False

    async def call(self, client: httpx.AsyncClient, method: str, path: str, **how: object) -> httpx.Response | None:
        began, killed = time.monotonic(), self.killed
        try:
            answer = await client.request(method, path, **how)
        except httpx.HTTPError as error:
            if self.killed == killed and not self.is_away:
                self.wrong.append(f"{method} {path}: {type(error).__name__}")
            await asyncio.sleep(0.2)
            return None
        if method == "GET":
            self.milliseconds.append(1000 * (time.monotonic() - began))
        if answer.status_code >= 400 and answer.status_code != 429:
            self.wrong.append(f"{method} {path}: {answer.status_code}")
        return answer

    async def team(self, number: int, token: str, ends: float) -> None:
        sent, headers = 0, {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=self.door.url, headers=headers, timeout=60) as client:
            await asyncio.sleep(random.random() * self.options.pause)
            while time.monotonic() < ends:
                data = another(1000 * number + sent)
                answer = await self.call(client, "POST", "/submit?system=x&file=a.json", content=data)
                if answer is not None and answer.status_code in (200, 201):
                    self.told.add((f"Team-{number}", hashlib.sha256(data).hexdigest()))
                    sent += 1
                await asyncio.sleep(self.options.pause * (0.5 + random.random()))

    async def reader(self, token: str, ends: float) -> None:
        async with httpx.AsyncClient(base_url=self.door.url, timeout=60) as client:
            await client.post("/enter", data={"token": token})
            while time.monotonic() < ends:
                await self.call(client, "GET", random.choice(["/", "/team", "/board/index.html", "/board/board.json"]))
                await asyncio.sleep(self.options.reading * (0.5 + random.random()))

    async def killer(self, ends: float) -> None:
        for left in range(self.options.kills, 0, -1):
            await asyncio.sleep(max(0.0, (ends - time.monotonic()) / left * random.uniform(0.4, 1.0)))
            self.is_away = True
            self.door.kill()
            await asyncio.to_thread(self.door.start)
            self.killed += 1
            self.is_away = False

    async def run(self) -> None:
        tokens = [self.door.link(f"Team {number}").partition("#")[2] for number in range(self.options.teams)]
        while not (self.door.contest.with_name("ours.door") / "site" / "board.json").exists():
            await asyncio.sleep(0.1)
        ends = time.monotonic() + self.options.seconds
        people = [self.team(number, token, ends) for number, token in enumerate(tokens)]
        people += [self.reader(tokens[number % len(tokens)], ends) for number in range(self.options.readers)]
        await asyncio.gather(self.killer(ends), *people)

    def lost(self) -> list[str]:
        """What was acknowledged and is not there once, whole and on the board."""
        files = list((self.door.contest / "submissions").glob("*/*"))
        stored = [(path.parent.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
        found = [f"lost: {each}" for each in self.told - set(stored)]
        found += [f"{len(stored) - len(set(stored))} stored twice"] * (len(stored) != len(set(stored)))
        board = self.door.contest.with_name("ours.door") / "site" / "board.json"
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            systems = next(iter(json.loads(board.read_text())["sets"].values()))["systems"]
            if {system.partition("/")[0] for system in systems} == {team for team, _ in self.told}:
                return found
            time.sleep(1)
        return [*found, f"teams on the board: {len(systems)}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--teams", type=int, default=20)
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--pause", type=float, default=10, help="seconds between a team's submissions")
    parser.add_argument("--reading", type=float, default=1, help="seconds a reader looks at a page")
    parser.add_argument("--kills", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load = Load(options, Path(folder))
        load.door.start()
        try:
            asyncio.run(load.run())
            lost = load.lost()
        finally:
            load.door.stop()
    times = sorted(load.milliseconds)
    told = {
        "seconds": options.seconds,
        "kills": options.kills,
        "pages": len(times),
        "median_ms": round(statistics.median(times), 1),
        "p99_ms": round(times[int(len(times) * 0.99)], 1),
        "acknowledged": len(load.told),
        "lost": lost,
        "wrong": load.wrong[:10],
    }
    print(json.dumps(told, indent=2))
    return 1 if lost or load.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
