"""The door of a contest under load: page times, and whether anything acknowledged is lost, also when it is killed.

Teams send files, readers look at pages and the board meanwhile; `benchmarks/server.py` does the same for studies, and
both may run at once.

    python benchmarks/contest.py --seconds 120 --kills 3

Everything runs on this machine, load included. Prints one JSON document; exit status 1 where something was lost.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path

import httpx2 as httpx

from serving import Load, options

sys.path.append(str(Path(__file__).parents[1] / "packages" / "server" / "tests"))
from door_world import LiveDoor, another, make_contest

PAGES = ("/", "/team", "/board/index.html", "/board/board.json")


class Teams:
    """Teams, readers, and which files of which team the door said that it took."""

    def __init__(self, door: LiveDoor, load: Load) -> None:
        self.door, self.load = door, load
        self.told: set[tuple[str, str]] = set()

    async def team(self, number: int, token: str, ends: float) -> None:
        sent, headers, pause = 0, {"Authorization": f"Bearer {token}"}, self.load.options.pause
        async with httpx.AsyncClient(base_url=self.door.url, headers=headers, timeout=60) as client:
            await asyncio.sleep(random.random() * pause)
            while time.monotonic() < ends:
                data, path = another(1000 * number + sent), "/submit?system=x&file=a.json"
                answer = await self.load.call(client, "POST", path, page=False, content=data)
                if answer is not None and answer.status_code in (200, 201):
                    self.told.add((f"Team-{number}", hashlib.sha256(data).hexdigest()))
                    sent += 1
                await asyncio.sleep(pause * (0.5 + random.random()))

    async def reader(self, token: str, ends: float) -> None:
        async with httpx.AsyncClient(base_url=self.door.url, timeout=60) as client:
            while await self.load.call(client, "POST", "/enter", page=False, data={"token": token}) is None:
                pass
            while time.monotonic() < ends:
                await self.load.call(client, "GET", random.choice(PAGES), page=True)
                await asyncio.sleep(self.load.options.reading * (0.5 + random.random()))

    async def run(self) -> None:
        given = self.load.options
        tokens = [self.door.link(f"Team {number}").partition("#")[2] for number in range(given.teams)]
        while not self._board.exists():
            await asyncio.sleep(0.1)
        ends = time.monotonic() + given.seconds
        people = [self.team(number, token, ends) for number, token in enumerate(tokens)]
        people += [self.reader(tokens[number % len(tokens)], ends) for number in range(given.readers)]
        await self.load.run(people, ends)

    @property
    def _board(self) -> Path:
        return self.door.contest.with_name("ours.door") / "site" / "board.json"

    def lost(self) -> list[str]:
        """What was acknowledged and is not there once, whole and on the board."""
        files = list((self.door.contest / "submissions").glob("*/*"))
        stored = [(path.parent.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
        found = [f"lost: {each}" for each in self.told - set(stored)]
        found += [f"{len(stored) - len(set(stored))} stored twice"] * (len(stored) != len(set(stored)))
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            systems = next(iter(json.loads(self._board.read_text())["sets"].values()))["systems"]
            if {system.partition("/")[0] for system in systems} == {team for team, _ in self.told}:
                return found
            time.sleep(1)
        return [*found, f"teams on the board: {len(systems)}"]


def main() -> int:
    given = options(
        __doc__,
        teams=(20, "how many send files"),
        readers=(20, "how many look at pages"),
        pause=(10.0, "seconds between a team's submissions"),
        reading=(1.0, "seconds a reader looks at a page"),
    )
    with tempfile.TemporaryDirectory() as folder:
        door = LiveDoor(make_contest(Path(folder), "ends = 2100-01-01T00:00:00Z"))
        load = Load(door, given)
        teams = Teams(door, load)
        door.start()
        try:
            asyncio.run(teams.run())
            lost = teams.lost()
        finally:
            door.stop()
    return load.tell(len(teams.told), lost)


if __name__ == "__main__":
    sys.exit(main())
